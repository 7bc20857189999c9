"""A closure by kinds of triples, so that reasoners with different rules can be compared.

A kind is a property of RDF, RDFS or OWL, a class of these that something is an instance of, or whatever is the data's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tidelog.model.terms import OWL, RDF, RDFS, XSD

TYPE = f"{RDF}type"
PREFIXES = {RDF: "rdf", RDFS: "rdfs", OWL: "owl", XSD: "xsd"}
OF_DATA = "properties of the data"
CLASSES = "rdf:type, classes of the data"
EXPRESSIONS = "rdf:type, class expressions without name"


def by_kind(pairs: Iterable[tuple[object, object]]) -> dict[str, int]:
    """How many triples there are of each kind; given are their predicates and objects."""
    counts = Counter((str(p), str(o) if str(p) == TYPE else "") for p, o in pairs)
    return by_kind_counted(counts.items())


def by_kind_counted(counts: Iterable[tuple[tuple[str, str], int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for (predicate, class_), count in counts:
        found[kind(predicate, class_)] += count
    return dict(sorted(found.items()))


def kind(predicate: str, class_: str) -> str:
    if predicate != TYPE:
        return _short(predicate) or OF_DATA
    if _short(class_):
        return f"rdf:type {_short(class_)}"
    return CLASSES if ":" in class_ else EXPRESSIONS  # labels of blank nodes have no colon


def _short(iri: str) -> str:
    return next((f"{name}:{iri.removeprefix(start)}" for start, name in PREFIXES.items() if iri.startswith(start)), "")
