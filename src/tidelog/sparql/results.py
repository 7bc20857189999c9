"""Answers as text: SELECT and ASK in the W3C formats of results, CONSTRUCT and DESCRIBE in those of graphs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, TextIO

from tidelog.errors import UsageError
from tidelog.formats.results import WRITERS, write_boolean, write_rows
from tidelog.sparql.solutions import Solutions

if TYPE_CHECKING:
    import rdflib

    Found = Solutions | bool | rdflib.Graph

# What rdflib calls the formats of graphs.
GRAPH_FORMATS = {"ttl": "turtle", "nt": "nt", "rdf": "xml", "jsonld": "json-ld"}


def text_of(found: Found, format: str) -> str:
    """An answer in a format: "csv", "tsv", "json" or "xml", and for graphs "ttl", "nt", "rdf" or "jsonld".

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add='[ann, name, "Ann"] .')
    >>> print(text_of(kb.sparql("SELECT ?x ?n { ?x <name> ?n }"), "tsv"), end="")
    ?x	?n
    <ann>	"Ann"
    """
    out = io.StringIO()
    write_text(found, format, out)
    return out.getvalue()


def write_text(found: Found, format: str, out: TextIO) -> None:
    """Write an answer in a format."""
    of_graph = not isinstance(found, bool | Solutions)
    known = list(GRAPH_FORMATS if of_graph else WRITERS)
    if format not in known:
        kind = "a graph" if of_graph else "rows or a truth value"
        raise UsageError(f"{format!r} is no format of this answer, which is {kind}; choose one of: {', '.join(known)}")
    if isinstance(found, bool):
        write_boolean(found, format, out)
    elif isinstance(found, Solutions):
        write_rows(found.names, found, format, out)
    else:
        out.write(found.serialize(format=GRAPH_FORMATS[format]))
