"""Text to algebra; queries that were read lately are remembered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tidelog.model.vocabulary import OWL, RDF, RDFS, XSD
from tidelog.sparql.algebra import Query
from tidelog.sparql.query_grammar import QueryGrammar

_REMEMBERED = 256
# Prefixes that need no declaration; one that is declared goes before.
USUAL = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL}


def parse(text: str, prefixes: Mapping[str, str] | None = None) -> Query:
    """The algebra of a query. Prefixes of the knowledge base need not be declared in it.

    >>> parse("ASK { ?x ?p 1 }", {})
    Ask(pattern=BasicPattern(triples=(Triple(subject=Variable(name='x'), predicate=Variable(name='p'), \
object='"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),)))
    """
    return _parse(text, tuple(sorted((prefixes or {}).items())))


@lru_cache(_REMEMBERED)
def _parse(text: str, prefixes: tuple[tuple[str, str], ...]) -> Query:
    return QueryGrammar(text, {**USUAL, **dict(prefixes)}).query()
