"""The terms of RDFS, OWL and SWRL that an ontology is written with."""

from __future__ import annotations

from tidelog.model.terms import Term, iri
from tidelog.model.vocabulary import OWL, RDF, RDFS

SWRL = "http://www.w3.org/2003/11/swrl#"
SWRL_BUILTINS = "http://www.w3.org/2003/11/swrlb#"


def rdf(name: str) -> Term:
    return iri(RDF + name)


def rdfs(name: str) -> Term:
    return iri(RDFS + name)


def owl(name: str) -> Term:
    return iri(OWL + name)


def swrl(name: str) -> Term:
    return iri(SWRL + name)


TYPE = rdf("type")
SAME_AS = owl("sameAs")
DIFFERENT_FROM = owl("differentFrom")
SUB_CLASS = rdfs("subClassOf")
SUB_PROPERTY = rdfs("subPropertyOf")
INVERSE_OF = owl("inverseOf")


def local(term: Term) -> str:
    """A short name for messages: what follows the last `#`, `/` or `:` of an IRI, any other term as it is."""
    if term[0] != "<":
        return term
    text = term[1:-1].rstrip("#/")
    return text[max(text.rfind(c) for c in "#/:") + 1 :] or text
