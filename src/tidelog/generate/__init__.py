"""Generators of benchmark data: reproducible by seed, streaming, and with the rules that go with the data."""
