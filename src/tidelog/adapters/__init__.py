"""A knowledge base behind the interfaces of others: rdflib stores, Nemo programs."""
