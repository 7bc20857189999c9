"""A fact: a predicate and its arguments, which are terms."""

from __future__ import annotations

from typing import NamedTuple

from tidelog.model.terms import Term


class Fact(NamedTuple):
    """`parent(ann, bob)` is `Fact("parent", ("<ann>", "<bob>"))`. RDF triples are facts of `triple/3`."""

    predicate: str
    args: tuple[Term, ...]
