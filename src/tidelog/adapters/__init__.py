"""A knowledge base behind other interfaces: rdflib stores and Nemo programs."""
