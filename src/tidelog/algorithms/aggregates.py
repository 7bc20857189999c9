"""Aggregates under maintenance: only the groups that a change touches are computed again.

A group is touched when a match of the rule's body in it comes or goes. Its head fact before and after the change are
found by the rule itself with the touched keys put in front of its body; to the rules of its layer, a fact that an
aggregate gives is as good as an explicit one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet, Tally
from tidelog.algebra.sourced_rule import SourcedRule, all_from, with_body, with_sources
from tidelog.rules.analysis.normalise import pivot_on_negation
from tidelog.rules.syntax import Aggregate, Atom, Rule, Variable

F = TypeVar("F", bound=FactSet)

_KEY = "(key)"  # not a name that a program can have


class Groups(Generic[F]):
    """The aggregate rules of a layer between two states of the layers below: `before` - `minus` + `plus` = `after`."""

    def __init__(self, engine: Engine[F], rules: Sequence[Rule], before: F, after: F, minus: F, plus: F) -> None:
        self.engine = engine
        self.rules = rules
        self.before, self.after = before, after
        self.minus, self.plus = minus, plus
        self.work = Work()

    @property
    def lost(self) -> F:
        """Facts that an aggregate gave before and does not give now."""
        return self._facts[0] - self._facts[1]

    @property
    def gained(self) -> F:
        return self._facts[1] - self._facts[0]

    @cached_property
    def _facts(self) -> tuple[F, F]:
        """The facts of all touched groups, before and after."""
        was = now = self.engine.fact_set(())
        for rule in self.rules:
            keys = self.engine.derive(list(self._touched(rule)), self.work)
            if keys:
                grouped = with_body(rule, _key(rule))
                was = was | self.engine.derive([_guarded(grouped, keys, self.before)], self.work)
                now = now | self.engine.derive([_guarded(grouped, keys, self.after)], self.work)
        return was, now

    def _touched(self, rule: Rule) -> Iterator[SourcedRule[F]]:
        """The keys of the groups in which a match comes or goes."""
        keys = replace(rule, heads=(_key(rule),))
        positions = rule.literals
        for changed, facts in ((self.minus, self.before), (self.plus, self.after)):
            for i, literal in enumerate(positions):
                if isinstance(literal, Atom) and changed.may_match(literal):
                    yield with_sources(keys, [changed if j == i else facts for j in range(len(positions))])
        for i, negation in enumerate(rule.negations):
            for changed, facts in ((self.plus, self.before), (self.minus, self.after)):
                if changed.may_match(negation.atom):
                    yield with_sources(pivot_on_negation(keys, i), (changed, *all_from(keys, facts).sources))


def changed_groups(
    engine: Engine[F], rules: Sequence[Rule], before: F, after: F, minus: F, plus: F
) -> tuple[Tally[F], Tally[F]]:
    """How many of the rules give a fact now and did not before, and the other way round."""
    gained = lost = engine.ones(engine.fact_set(()))
    for rule in rules:
        groups = Groups(engine, (rule,), before, after, minus, plus)
        gained, lost = gained + engine.ones(groups.gained), lost + engine.ones(groups.lost)
    return gained, lost


def given_by(engine: Engine[F], rules: Sequence[Rule], D: F, facts: F, work: Work) -> F:
    """Those of the facts D that rules derive from `facts`."""
    guarded = [
        _guarded(with_body(rule, guard), D, facts)
        for rule in rules
        for guard in map(_guard, rule.heads)
        if D.may_match(guard)
    ]
    return engine.derive(guarded, work) & D if guarded else engine.fact_set(())


def _guard(head: Atom) -> Atom:
    """The head with its aggregate, if any, replaced by a variable that nothing else names."""
    return Atom(head.predicate, tuple(Variable("_value") if isinstance(a, Aggregate) else a for a in head.args))


def _key(rule: Rule) -> Atom:
    """The values that make a group."""
    (head,) = rule.heads
    return Atom(_KEY, tuple(dict.fromkeys(head.variables())))


def _guarded(rule: Rule, first: F, facts: F) -> SourcedRule[F]:
    return with_sources(rule, (first, *all_from(rule, facts).sources[1:]))
