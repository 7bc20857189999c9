"""Terms, facts, and the names of the RDF vocabularies."""
