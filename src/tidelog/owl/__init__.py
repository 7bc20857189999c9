"""OWL 2 RL ontologies and SWRL rules in RDF, compiled to rules with constants: Description Logic Programs."""

from tidelog.owl.compiler import compile_ontology
from tidelog.owl.ontology import Ontology, Outside

__all__ = ["Ontology", "Outside", "compile_ontology"]
