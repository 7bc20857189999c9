"""SPARQL: the W3C suites, random queries against pyoxigraph, updates and result formats."""
