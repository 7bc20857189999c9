"""Facts of aggregate rules: the group of matches that each was computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.explain.subject import VALUE, Binding, Subject, Way, premises
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.expressions import aggregate

F = TypeVar("F", bound=FactSet)

SHOWN = 100  # matches of a group that a proof goes on from; of a larger group, the first in order of their texts


@dataclass(frozen=True)
class Group:
    """All matches of an aggregate rule for one fact, and those that a proof shows."""

    way: Way
    fact: Fact
    size: int
    matches: tuple[Binding, ...]

    @cached_property
    def premises(self) -> tuple[Fact, ...]:
        """The distinct facts of the matches that are shown, in order."""
        return tuple(sorted({fact for m in self.matches for fact in premises(self.way.rule, m)}))


def groups_of(subject: Subject[F], fact: Fact) -> Iterator[Group]:
    """For each aggregate rule that derives the fact, its group."""
    for way in subject.index.ways(fact):
        if way.rule.aggregate is not None:
            yield from _group(subject, way, fact)


def _group(subject: Subject[F], way: Way, fact: Fact) -> Iterator[Group]:
    matches = [{v: t for v, t in m.items() if v != VALUE} for m in subject.steps(way, fact, subject.I)]
    if matches and group_value(way, matches) == fact.args[way.head.args.index(VALUE)]:
        matches.sort(key=lambda m: list(m.values()))
        yield Group(way, fact, len(matches), tuple(matches[:SHOWN]))


def group_value(way: Way, matches: Sequence[Binding]) -> Term | None:
    """What the aggregate of a rule gives for these matches."""
    over = way.rule.aggregate
    assert over is not None
    return aggregate(over.function, sorted({tuple(m[v] for v in over.args) for m in matches}))
