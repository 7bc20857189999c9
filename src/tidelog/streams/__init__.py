"""Continuous queries: what a query's answers gain and lose with each version; see `docs/streams.md`."""
