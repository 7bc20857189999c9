"""Facts, and the column names of relations."""

from __future__ import annotations

from typing import NamedTuple

from tidelog.model.terms import TRIPLE, Term


class Fact(NamedTuple):
    """`parent(ann, bob)` is `Fact("parent", ("<ann>", "<bob>"))`. RDF triples are facts of `triple/3`."""

    predicate: str
    args: tuple[Term, ...]


def column_names(predicate: str, arity: int) -> list[str]:
    """The column names of a relation that is shown as a table."""
    return ["subject", "predicate", "object"] if predicate == TRIPLE else [f"arg{i + 1}" for i in range(arity)]
