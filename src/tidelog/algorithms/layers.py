"""Maintenance layer by layer: what every algorithm shares, so that each has only its own idea to tell.

A layer is a set of rules that reads what it negates and aggregates from lower layers only. From the net change of the
lower layers and of the explicit facts (`minus` gone, `plus` new) a layer makes two steps, each of them monotone:

    decrease   take away what lost its support:  lower facts in `minus`, negated atoms that `plus` makes false,
               rules that are removed, groups of an aggregate that changed. *Which facts are gone* is the question
               that DRed, Backward/Forward and FP-update answer, each in its own way.
    increase   semi-naive from `plus`, negated atoms that `minus` makes true, rules that are added, changed groups.

    I  -- decrease -->  I - D  -- increase -->  (I - D) | A        minus' = D - A,  plus' = A - I

E explicit facts after the change, I the materialisation before it, D facts that are gone, A facts that are added. A
fact may have derivations in several layers. One that a layer takes away may be given back by a rule of a later one: no
rule in between reads it, or it would be in that later layer itself. One that a rule of a lower layer still derives is
an axiom to the layer, like an explicit fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.fixpoint import consequences
from tidelog.algebra.sourced_rule import SourcedRule, all_from, with_positive_sources, with_sources
from tidelog.algorithms.aggregates import Groups, given_by
from tidelog.algorithms.update import Outcome, Update
from tidelog.errors import RuleError
from tidelog.rules.analysis.normalise import pivot_on_negation
from tidelog.rules.analysis.strata import Layer
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True)
class Support(Generic[F]):
    """What a decrease may use: rules that stay (none of them an aggregate), and what holds without them."""

    engine: Engine[F]
    rules: tuple[Rule, ...]
    I: F
    negated: F  # where negated atoms must have no match: facts before and after
    after: F  # the layers below as they are now
    E: F  # explicit facts that are in I; the outcome must not depend on facts that only some searches would find
    lower: tuple[Rule, ...]  # rules of the layers below; aggregates and axioms of this layer included

    def axioms(self, D: F, work: Work) -> F:
        """Those of the facts that hold without a rule of this layer: explicit, or given by the layers below."""
        given = given_by(self.engine, self.lower, D, self.after, work)
        return (D & self.E) | given

    def extend(self, rule: Rule, sources: Sequence[F]) -> SourcedRule[F]:
        """The rule with one source for each positive atom; negated atoms read what they must."""
        return with_positive_sources(rule, sources, self.negated)


class Decrease(Protocol):
    """Which facts are gone, starting from `lost`: facts of I that lost a derivation, or were explicit."""

    def __call__(self, support: Support[F], lost: F, work: Work) -> F: ...


def maintain(update: Update[F], decrease: Decrease) -> Outcome[F]:
    """The materialisation after a change, layer by layer; `decrease` decides which facts are gone."""
    try:
        layers = update.rules.layers
    except RuleError:
        return update.in_two_steps(partial(maintain, decrease=decrease))
    engine, E, I = update.engine, update.E, update.I
    minus, plus = update.removed, update.added - I
    nothing = engine.fact_set(())
    lower: tuple[Rule, ...] = ()
    for layer in layers:
        change = LayerChange(engine, layer, lower, E, I, nothing)
        minus, plus = change.maintain(decrease, minus, plus, update.work)
        lower = (*lower, *layer.kept, *layer.added)
    return Outcome((I - minus) | plus, plus, minus)


@dataclass(frozen=True)
class LayerChange(Generic[F]):
    """One layer, given the materialisation before the change and the explicit facts after it."""

    engine: Engine[F]
    rules: Layer
    lower: tuple[Rule, ...]
    E: F
    I: F
    nothing: F

    def maintain(self, decrease: Decrease, minus: F, plus: F, work: Work) -> tuple[F, F]:
        """From the net change below this layer to the net change with it."""
        after = (self.I - minus) | plus
        aggregates = self.rules.kept_aggregates
        groups = Groups(self.engine, aggregates, self.I, after, minus, plus)
        lost = minus | self._lost(plus, groups, work)
        D = self.nothing
        if lost:
            rules, lower = self.rules.kept_plain, (*self.lower, *aggregates, *self.rules.kept_axioms)
            known = self.E - plus
            D = decrease(Support(self.engine, rules, self.I, self.I | plus, after, known, lower), lost, work)
        A = self._increase(D, minus, plus, groups, work)
        return D - A, A - self.I

    def _lost(self, plus: F, groups: Groups[F], work: Work) -> F:
        """Heads that lost a derivation other than by a positive atom."""
        rules = [all_from(r, self.I) for r in self.rules.removed]
        if plus:
            rules += self._through_negation(self.rules.kept, plus, self.I)
        lost = self.engine.derive(rules, work) if rules else self.nothing
        return lost | groups.lost

    def _increase(self, D: F, minus: F, plus: F, groups: Groups[F], work: Work) -> F:
        """All that is added to I - D, starting with `plus`."""
        known = self.I - D
        after = known | plus
        rules = [all_from(r, after) for r in self.rules.added]
        if minus:
            rules += self._through_negation(self.rules.kept, minus, after)
        seeds = plus | groups.gained
        if rules:
            seeds = seeds | self.engine.derive(rules, work)
        new = seeds - known
        if not new:
            return self.nothing
        recursive = [r for r in (*self.rules.kept, *self.rules.added) if r.aggregate is None and r.atoms]
        return consequences(self.engine, recursive, known, new, work)

    @staticmethod
    def _through_negation(rules: Sequence[Rule], changed: F, facts: F) -> Iterator[SourcedRule[F]]:
        """Instances over `facts` whose negated atom has a match in `changed`."""
        for rule in rules:
            for i, negation in enumerate(rule.negations):
                if rule.aggregate is None and changed.may_match(negation.atom):
                    yield with_sources(pivot_on_negation(rule, i), (changed, *all_from(rule, facts).sources))
