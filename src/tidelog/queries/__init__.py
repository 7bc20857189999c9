"""Reading a knowledge base: facts, Datalog and SPARQL queries, exports, status."""
