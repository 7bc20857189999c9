"""Why a fact does not hold: for each rule with that head, how far its body can be matched, and what is missing then.

The literals of a body are tried in every order that makes sense, one more at a time: from the sets of literals that
match together, those with one more, connected to them, that still match. The largest such set is as far as the rule
gets; with the values that it leaves, none of the other literals that could be asked next has a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.explain.groups import group_value
from tidelog.explain.proof import grounded
from tidelog.explain.subject import VALUE, Binding, Numbered, Subject, Way, variables_of
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.syntax import Assignment, Atom, Literal, Rule, Variable, literal_variables

F = TypeVar("F", bound=FactSet)

NEAREST = 3  # bindings shown
_SETS = 32  # sets of literals that are carried on; more than a body of six literals has


@dataclass(frozen=True)
class Failure:
    """How far a rule gets towards a fact.

    `reached` are the literals that match together, `missing` one that does not match with them (None if all do, and an
    aggregate gives `value` instead); both have the values of the head. `nearest` are some bindings of what is reached.
    """

    numbered: Numbered
    reached: tuple[Literal, ...]
    missing: Literal | None
    nearest: tuple[Binding, ...]
    value: Term | None = None


def failures(subject: Subject[F], fact: Fact) -> Iterator[Failure]:
    """For each rule that may derive the fact, why it does not."""
    for way in subject.index.ways(fact):
        yield _Attempt(subject, fact, way).failure()


class _Attempt(Generic[F]):
    """One rule and the fact it should derive."""

    def __init__(self, subject: Subject[F], fact: Fact, way: Way) -> None:
        self.subject, self.way = subject, way
        self.guard = subject.one(fact)
        self.head: Binding = {a: t for a, t in zip(way.head.args, fact.args, strict=True) if isinstance(a, Variable)}
        self.body = way.rule.body
        self.binders = set(variables_of(way.guarded))

    def failure(self) -> Failure:
        chosen = self._furthest()
        numbered, rest = self.way.numbered, [i for i in range(len(self.body)) if i not in chosen]
        reached = tuple(self._shown(self.body[i]) for i in sorted(chosen))
        if not rest:
            matches = list(self._matches(chosen, None))
            value = group_value(self.way, matches) if self.way.rule.aggregate is not None and matches else None
            return Failure(numbered, reached, None, tuple(matches[:NEAREST]), value)
        missing = next(i for i in rest if self._is_ready(i, chosen))
        return Failure(numbered, reached, self._shown(self.body[missing]), tuple(self._matches(chosen, NEAREST)))

    def _furthest(self) -> frozenset[int]:
        """The largest set of literals that match together."""
        sets = [frozenset[int]()]
        while more := list(islice(self._extended(sets), _SETS)):
            sets = more
        return sets[0]

    def _extended(self, sets: Iterable[frozenset[int]]) -> Iterator[frozenset[int]]:
        seen: set[frozenset[int]] = set()
        for chosen in sets:
            for i in range(len(self.body)):
                larger = chosen | {i}
                if i not in chosen and larger not in seen and self._is_ready(i, chosen):
                    seen.add(larger)
                    if any(True for _ in self._matches(larger, 1)):
                        yield larger

    def _is_ready(self, i: int, chosen: frozenset[int]) -> bool:
        """Whether a literal can be asked next: an atom if it is connected, others once their variables have values."""
        literal, bound = self.body[i], set(variables_of(self._rule(chosen)))
        if isinstance(literal, Atom):
            return _is_connected(literal, bound) or not any(
                isinstance(b, Atom) and n not in chosen and _is_connected(b, bound) for n, b in enumerate(self.body)
            )
        needed = literal_variables(literal) & self.binders
        return needed - ({literal.variable} if isinstance(literal, Assignment) else set()) <= bound

    def _rule(self, chosen: Iterable[int]) -> Rule:
        return Rule((), (self.way.head, *(self.body[i] for i in sorted(chosen))), cartesian=True)

    def _matches(self, chosen: Iterable[int], limit: int | None) -> Iterator[Binding]:
        """Values of the variables that the head does not have."""
        rule = self._rule(chosen)
        variables = [v for v in variables_of(rule) if v not in self.head or limit is None]
        rows = self.subject.engine.instances(self.subject.reading(rule, self.guard, self.subject.I), variables, limit)
        return ({v: t for v, t in zip(variables, row, strict=True) if v != VALUE} for row in rows)

    def _shown(self, literal: Literal) -> Literal:
        return grounded(literal, self.head)


def _is_connected(atom: Atom, bound: set[Variable]) -> bool:
    variables = set(atom.variables())
    return not variables or not variables.isdisjoint(bound)


def has_match(subject: Subject[F], atom: Atom) -> bool:
    """Whether some fact matches an atom."""
    return any(True for _ in subject.engine.instances(over(Rule((), (atom,)), subject.I), (), 1))
