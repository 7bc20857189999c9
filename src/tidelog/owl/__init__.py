"""Compiles OWL 2 RL ontologies and SWRL rules in RDF to rules with constants (Description Logic Programs)."""

from tidelog.owl.compiler import Ontology, Outside, compile_ontology

__all__ = ["Ontology", "Outside", "compile_ontology"]
