"""What facts are made of: terms, facts, and the names of the RDF vocabularies."""
