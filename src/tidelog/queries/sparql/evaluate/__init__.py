"""SPARQL algebra to solutions, on columns of ids."""
