"""Names the code must know: XSD datatypes, RDF, RDFS and OWL, as IRIs without brackets."""

from __future__ import annotations

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"

RDF_TYPE = f"<{RDF}type>"

# Relations that a rule set keeps for itself begin with this.
RULESET = "urn:tidelog:ruleset:"

# The relation that holds RDF data.
TRIPLE = "triple"
