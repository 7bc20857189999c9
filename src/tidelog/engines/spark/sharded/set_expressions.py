"""Sets of facts and tallies as tasks are told of them: small values that name files and say how they are combined.

A set is never sent to a task. It is an expression over leaves, which are files, and a task evaluates it for its shard
and only for the relations it reads: see `reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from tidelog.engines.local.facts import WHOLE, Relation
from tidelog.model.terms import TRIPLE, Term
from tidelog.rules.syntax import Atom


class SetPart(NamedTuple):
    """The part of a set that somebody reads: one relation, all triples, or all; or only rows with one second column."""

    predicate: str | None = None
    split: int | None = None  # None: triples of any predicate
    value: int | None = None

    def has(self, relation: Relation) -> bool:
        return self.predicate is None or (relation[0] == self.predicate and self.split in (None, relation[1]))

    def among(self, relations: Collection[Relation]) -> Collection[Relation]:
        """Those of some relations that belong to it; one that is named is not searched for."""
        if self.predicate is None or self.split is None:
            return [r for r in relations if self.has(r)]
        return [(self.predicate, self.split)] if (self.predicate, self.split) in relations else []

    @staticmethod
    def of(relation: Relation) -> SetPart:
        return SetPart(*relation)


EVERYTHING = SetPart()


def part_of(atom: Atom, encode: Callable[[Term], int]) -> SetPart:
    """What an atom reads."""
    if atom.predicate != TRIPLE:
        second = atom.args[1] if len(atom.args) == 2 else None
        return SetPart(atom.predicate, WHOLE, encode(second) if isinstance(second, str) else None)
    _, name, object_ = atom.args
    value = encode(object_) if isinstance(object_, str) else None
    return SetPart(TRIPLE, encode(name) if isinstance(name, str) else None, value)


class Copy(NamedTuple):
    """The facts of some relations, each at the home of one argument: a file for each shard that has any."""

    key: int
    relations: frozenset[Relation] | None  # None: all that the set has
    paths: tuple[str | None, ...]

    def has(self, relation: Relation) -> bool:
        return self.relations is None or relation in self.relations


class StoredSetSpec(NamedTuple):
    """A set in files."""

    copies: tuple[Copy, ...]


class DriverSetSpec(NamedTuple):
    """A small set in one file, which every place reads."""

    path: str


class SetOperationSpec(NamedTuple):
    """`| - &` of two sets."""

    op: str
    left: int
    right: int


class OfPredicateSpec(NamedTuple):
    """The facts of one predicate."""

    source: int
    predicate: str


class PositiveFactsSpec(NamedTuple):
    """The facts that have a positive count in a tally."""

    tally: int


FactsSpec = StoredSetSpec | DriverSetSpec | SetOperationSpec | OfPredicateSpec | PositiveFactsSpec


class StoredTallySpec(NamedTuple):
    """A tally in files: each fact with its count at the home of its first argument."""

    paths: tuple[str | None, ...]


class DriverTallySpec(NamedTuple):
    """A small tally in one file."""

    path: str


class TallySumSpec(NamedTuple):
    """`+ -` of two tallies."""

    op: str
    left: int
    right: int


class CountsOfSpec(NamedTuple):
    """The counts of the facts of a set."""

    tally: int
    facts: int


class OnesSpec(NamedTuple):
    """Each fact of a set, once."""

    facts: int


TallySpec = StoredTallySpec | DriverTallySpec | TallySumSpec | CountsOfSpec | OnesSpec
Spec = FactsSpec | TallySpec
