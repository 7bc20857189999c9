"""Text to algebra."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.errors import ParseError
from tidelog.model.vocabulary import OWL, RDF, RDFS, XSD
from tidelog.sparql.algebra import Query
from tidelog.sparql.query_grammar import QueryGrammar
from tidelog.sparql.tokens import location

# Prefixes that need no declaration; one that is declared goes before.
USUAL = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL}


def parse(text: str, prefixes: Mapping[str, str] | None = None) -> Query:
    """The algebra of a query. Prefixes of the knowledge base need not be declared in it.

    >>> parse("ASK { ?x ?p 1 }", {})
    Ask(pattern=BasicPattern(triples=(Triple(subject=Variable(name='x'), predicate=Variable(name='p'), \
object='"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),)))
    """
    grammar = QueryGrammar(text, {**USUAL, **(prefixes or {})})
    try:
        return grammar.query()
    except RecursionError:
        raise ParseError("the query is nested too deeply here", location(grammar.text, grammar.token.start)) from None
