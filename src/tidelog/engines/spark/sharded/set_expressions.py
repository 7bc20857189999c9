"""Sets and tallies as tasks read them: small values that name files and operations.

The driver never sends a set to a task. It sends an expression over files. `worker_cache.SetReader` evaluates the
expression for one shard, and only for the relations that the task reads.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from tidelog.engines.local.facts import WHOLE, Relation
from tidelog.model.terms import TRIPLE, Term
from tidelog.rules.syntax import Atom, Rule

# The operations of `OperationSpec`, on two sets or on two tallies.
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "|": operator.or_, "-": operator.sub, "&": operator.and_, "+": operator.add,
}  # fmt: skip


class SetPart(NamedTuple):
    """The part of a set that a rule reads: one relation, all triples, or all facts. `value` selects a second column."""

    predicate: str | None = None
    split: int | None = None  # None: triples of any predicate
    value: int | None = None

    def has(self, relation: Relation) -> bool:
        return self.predicate is None or (relation[0] == self.predicate and self.split in (None, relation[1]))

    def among(self, relations: Collection[Relation]) -> Collection[Relation]:
        """The given relations that belong to this part."""
        if self.predicate is None or self.split is None:
            return [r for r in relations if self.has(r)]
        return [(self.predicate, self.split)] if (self.predicate, self.split) in relations else []

    @staticmethod
    def of(relation: Relation) -> SetPart:
        return SetPart(*relation)


EVERYTHING = SetPart()


def atoms_of(rule: Rule) -> list[Atom]:
    """The atoms of a body that read facts, negated ones included, in order."""
    return [b if isinstance(b, Atom) else b.atom for b in rule.literals]


def part_of(atom: Atom, encode: Callable[[Term], int]) -> SetPart:
    """The part of a set that an atom reads."""
    if atom.predicate != TRIPLE:
        second = atom.args[1] if len(atom.args) == 2 else None
        return SetPart(atom.predicate, WHOLE, encode(second) if isinstance(second, str) else None)
    _, name, object_ = atom.args
    value = encode(object_) if isinstance(object_, str) else None
    return SetPart(TRIPLE, encode(name) if isinstance(name, str) else None, value)


class Copy(NamedTuple):
    """The facts of some relations, partitioned by one argument: a file for each shard that has facts."""

    key: int
    relations: frozenset[Relation] | None  # None: all relations of the set
    paths: tuple[str | None, ...]

    def has(self, relation: Relation) -> bool:
        return self.relations is None or relation in self.relations


class StoredSetSpec(NamedTuple):
    """A set in files."""

    copies: tuple[Copy, ...]


class DriverFileSpec(NamedTuple):
    """A small set or tally in one file, which every task reads."""

    path: str


class OperationSpec(NamedTuple):
    """`| - &` of two sets, or `+ -` of two tallies."""

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


class StoredTallySpec(NamedTuple):
    """A tally in files: each fact with its count, in the shard of its first argument."""

    paths: tuple[str | None, ...]


class CountsOfSpec(NamedTuple):
    """The counts of the facts of a set."""

    tally: int
    facts: int


class OnesSpec(NamedTuple):
    """The facts of a set, each with the count 1."""

    facts: int


FactsSpec = StoredSetSpec | DriverFileSpec | OperationSpec | OfPredicateSpec | PositiveFactsSpec
TallySpec = StoredTallySpec | DriverFileSpec | OperationSpec | CountsOfSpec | OnesSpec
Spec = FactsSpec | TallySpec
