"""Checks and preparation of rules before they run: normal form, safety, dependencies, strata."""
