"""What a knowledge base answers: facts, Datalog, SPARQL, exports, status."""
