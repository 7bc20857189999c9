"""Continuous queries and streams."""
