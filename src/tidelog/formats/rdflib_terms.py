"""Converts between terms and rdflib nodes, and triples to an rdflib graph.

In rdflib `"x"` and `"x"^^xsd:string` are different. In RDF 1.1 and in tidelog both are the term `"x"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
from rdflib import BNode, Graph, Literal, URIRef
from rdflib.term import Identifier, Node

from tidelog.errors import InputError
from tidelog.model import terms
from tidelog.model.terms import Term


def term_of(node: Node) -> Term:
    """The term of an rdflib IRI, blank node or literal.

    >>> term_of(Literal("Dresden", lang="de"))
    '"Dresden"@de'
    """
    if isinstance(node, URIRef | BNode | Literal):
        return terms.to_term(node)
    raise InputError(f"{node!r} ({type(node).__name__}) cannot stand in a triple; use URIRef, BNode or Literal")


@lru_cache(maxsize=1 << 16)
def node_of(term: Term) -> Identifier:
    """The rdflib node of a term; the text of a literal is not normalised.

    >>> node_of(Term("<http://example.org/x>"))
    rdflib.term.URIRef('http://example.org/x')
    """
    if terms.is_iri(term):
        return URIRef(term[1:-1])
    if terms.is_blank(term):
        return BNode(term[2:])
    text, datatype, language = terms.split_literal(term)
    if language:
        return Literal(text, lang=language)
    return Literal(text, datatype=None if datatype == terms.STRING else URIRef(datatype), normalize=False)


def nodes(blocks: Iterable[Sequence[pa.Array]]) -> Iterator[tuple[Any, ...]]:
    """Rows of rdflib nodes from blocks of term texts; None for a null."""
    for block in blocks:
        columns = [[None if t is None else node_of(Term(t.decode())) for t in c.to_pylist()] for c in block]
        yield from zip(*columns, strict=True)


def to_graph(blocks: Iterable[Sequence[pa.Array]], prefixes: Mapping[str, str]) -> Graph:
    """An rdflib graph in memory from blocks of three columns of term texts."""
    graph = Graph()
    for prefix, namespace in prefixes.items():
        graph.bind(prefix, namespace, replace=True)
    graph.addN((s, p, o, graph) for s, p, o in nodes(blocks))
    return graph
