"""Text to algebra."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.model.vocabulary import OWL, RDF, RDFS, XSD
from tidelog.sparql.algebra import Query
from tidelog.sparql.query_grammar import QueryGrammar

# Prefixes that need no declaration; one that is declared goes before.
USUAL = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL}


def parse(text: str, prefixes: Mapping[str, str] | None = None) -> Query:
    """The algebra of a query. Prefixes of the knowledge base need not be declared in it.

    >>> parse("ASK { ?x ?p 1 }", {})
    Ask(pattern=BasicPattern(triples=(Triple(subject=Variable(name='x'), predicate=Variable(name='p'), \
object='"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),)))
    """
    return QueryGrammar(text, {**USUAL, **(prefixes or {})}).query()
