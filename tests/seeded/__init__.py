"""Deliberate faults, each planted in a copy of the package: the suite must fail on every one of them."""
