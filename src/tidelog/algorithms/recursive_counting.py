"""Recursive counting: one counter for each iteration in which a fact is derived (Motik, slides of 2015).

    known[0]    the facts of the layers below, and the explicit facts
    T[k]        for each fact, how many rule instances over known[k-1] derive it that have an atom in N[k-1]
    N[k]        the facts with a count in T[k] that are not in known[k-1]
    known[k]    known[k-1] | N[k]                                                    until N[k] is empty

So an instance counts in the iteration after its last fact appeared, and a fact of a cycle never counts for its own
first appearance: when what was there before it goes, it goes. A change is carried from iteration to iteration:

    T'[k] = T[k] - lost + gained      lost, gained: instances with an atom in Z, see `touched`
    Z                                 facts that are not old, new or unknown alike before and after the change

E explicit facts, I materialised facts, N what an iteration adds; `minus` and `plus` are what an iteration knows less
and more than before the change. Layers are maintained one after the other. Exact on every program, and dear: a fact
that appears one iteration earlier moves the counters of all that follows from it, although no fact changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet, Tally
from tidelog.algebra.fixpoint import check_bound
from tidelog.algebra.sourced_rule import SourcedRule, all_from, pivoted
from tidelog.algorithms.affected_instances import Side
from tidelog.algorithms.aggregates import changed_groups
from tidelog.algorithms.update import Outcome, RuleChange, Update
from tidelog.errors import RuleError
from tidelog.rules.analysis.strata import Layer, layer_of, layers
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True)
class Iteration(Generic[F]):
    """The counters of one iteration, what it adds, and what is known with it."""

    T: Tally[F]
    N: F
    known: F


@dataclass(frozen=True)
class Counters(Generic[F]):
    """The iterations of one layer; the first one holds what is known when the layer starts."""

    rules: tuple[Rule, ...]
    iterations: tuple[Iteration[F], ...]

    @property
    def known(self) -> F:
        """All that is known at the end."""
        return self.iterations[-1].known


@dataclass(frozen=True)
class IterationCounts(Generic[F]):
    """What is kept from one change to the next."""

    layers: tuple[Counters[F], ...]


def recursive_counting(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change.

    It counts all from E if the update has no counters, or if the new rules put the old ones in another order.
    """
    engine, I = update.engine, update.I
    plan = _plan(engine, update.rules, update.algorithm_state)
    if plan is not None:
        return _maintain(engine, plan, update.removed, update.added, update.work)
    plan = _aligned(engine, layers((), update.rules.after), _nothing(engine)) or []
    outcome = _maintain(engine, plan, engine.fact_set(()), update.E, update.work)
    return Outcome(outcome.I, outcome.I - I, I - outcome.I, outcome.algorithm_state)


def _nothing(engine: Engine[F]) -> IterationCounts[F]:
    """The counters of no facts and no rules."""
    return IterationCounts((_starting(engine, (), engine.fact_set(())),))


def _starting(engine: Engine[F], rules: tuple[Rule, ...], known: F) -> Counters[F]:
    """A layer that has not derived anything."""
    return Counters(rules, (Iteration(engine.ones(engine.fact_set(())), known, known),))


_Plan = list[tuple[Counters[F], Layer]]


def _plan(engine: Engine[F], rules: RuleChange, algorithm_state: object) -> _Plan[F] | None:
    """The layers as they were counted, and the rules of each before and after; None if they do not fit together."""
    if not isinstance(algorithm_state, IterationCounts):
        return None
    old, new = ({r.key for r in some if r.heads} for some in (rules.before, rules.after))
    if new <= old:
        return [(counters, layer_of(counters.rules, old, new)) for counters in algorithm_state.layers]
    try:
        return _aligned(engine, rules.layers, algorithm_state)
    except RuleError:
        return None


def _aligned(engine: Engine[F], order: Sequence[Layer], counted: IterationCounts[F]) -> _Plan[F] | None:
    explicit, *waiting = counted.layers
    plan: _Plan[F] = [(explicit, Layer(()))]
    for layer in order:
        keys = {r.key for r in (*layer.kept, *layer.removed)}
        if not keys:
            plan.append((_starting(engine, (), plan[-1][0].known), layer))
        elif waiting and {r.key for r in waiting[0].rules} == keys:
            plan.append((waiting.pop(0), layer))
        else:
            return None
    return plan


def _maintain(engine: Engine[F], plan: _Plan[F], minus: F, plus: F, work: Work) -> Outcome[F]:
    after: list[Counters[F]] = []
    for before, layer in plan:
        change = _LayerChange(engine, before, layer, minus, plus, work)
        change.run()
        counters, minus, plus = change.counters(), change.minus, change.plus
        if counters.rules or not after:
            after.append(counters)
    return Outcome(counters.known, plus, minus, IterationCounts(tuple(after)))


class _LayerChange(Generic[F]):
    """One layer on its way through a change, iteration by iteration."""

    def __init__(self, engine: Engine[F], before: Counters[F], rules: Layer, minus: F, plus: F, work: Work) -> None:
        self.engine = engine
        self.before, self.rules = before, rules
        self.nothing = engine.fact_set(())
        self.none = engine.ones(self.nothing)
        self.lower = before.iterations[0].known
        self.lower_after = (self.lower - minus) | plus
        self.lower_minus, self.lower_plus = minus, plus
        self.after = [Iteration(self.none, self.lower_after, self.lower_after)]
        self.earlier = self.nothing, self.nothing
        self.minus, self.plus = minus, plus
        self.work = work
        self.bound = min((r.bound for r in (*rules.kept, *rules.added) if r.bound is not None), default=None)

    def counters(self) -> Counters[F]:
        while len(self.after) > 1 and not self.after[-1].T:
            self.after.pop()
        return Counters((*self.rules.kept, *self.rules.added), tuple(self.after))

    def run(self) -> None:
        """Up to the iteration from which on nothing differs: what is negated, no rule of the layer gives back."""
        if not (self.rules.kept or self.rules.removed or self.rules.added):
            return
        always = self.rules.removed or self.rules.added
        while len(self.after) == 1 or len(self.after) < len(self.before.iterations) or self.after[-1].N:
            if not always and not any((*self.earlier, self.minus, self.plus)):
                self.after += self.before.iterations[len(self.after) :]
                return
            self._step()
            check_bound(self.bound, len(self.plus) - len(self.lower_plus) if self.bound else 0, len(self.after))

    def _step(self) -> None:
        """One iteration: its counters, and what is known with it."""
        self.work.rounds += 1
        lost, gained = self._changed_counts()
        touched = gained.facts() | lost.facts()
        self.work.count("counts", len(touched))
        before, known = self._was(len(self.after)), self.after[-1].known
        T = before.T - lost + gained
        present = T.counts_of(touched | self.minus).facts()
        new = present - known
        N = (before.N - touched - self.plus) | new
        minus = (self.minus | (touched & before.N)) - present - known
        plus = (self.plus | new) - before.known
        self.earlier = self.minus, self.plus
        self.minus, self.plus = minus, plus
        self.after.append(Iteration(T, N, (before.known - minus) | plus))

    def _was(self, number: int) -> Iteration[F]:
        """An iteration of the state before: nothing before the first, nothing new after the last."""
        if number < 0:
            return Iteration(self.none, self.nothing, self.nothing)
        if number < len(self.before.iterations):
            return self.before.iterations[number]
        return Iteration(self.none, self.nothing, self.before.known)

    def _changed_counts(self) -> tuple[Tally[F], Tally[F]]:
        """What this iteration no longer derives, and what it derives now; what stays may be in both."""
        number = len(self.after)
        was = self._was(number - 2).known, self._was(number - 1)
        now = self.after[-2].known if number > 1 else self.nothing, self.after[-1]
        lost = [*self._all(self.rules.removed, *was, self.lower)]
        gained = [*self._all(self.rules.added, *now, self.lower_after)]
        kept = [r for r in self.rules.kept if r.aggregate is None and (r.atoms or number == 1)]
        if kept:
            Z = self.earlier[0] | self.earlier[1] | self.minus | self.plus
            before, after = (
                self._side(*was, self.lower, self.lower_plus, Z),
                self._side(*now, self.lower_after, self.lower_minus, Z),
            )
            lost += [v for r in kept for v in before.touched(r)]
            gained += [v for r in kept for v in after.touched(r)]
        less, more = self.engine.tally(lost, self.work), self.engine.tally(gained, self.work)
        if number > 1:
            return less, more
        lower = self.lower, self.lower_after, self.lower_minus, self.lower_plus
        given, taken = changed_groups(self.engine, self.rules.kept_aggregates, *lower)
        return less + taken, more + given

    def _side(self, old: F, last: Iteration[F], negated: F, other: F, Z: F) -> Side[F]:
        return Side(self.engine, old, last.N, last.known, negated, other, Z)

    def _all(self, rules: Sequence[Rule], old: F, last: Iteration[F], lower: F) -> Iterator[SourcedRule[F]]:
        """All instances of the rules that count in the iteration after `last`."""
        for rule in rules:
            if rule.atoms and rule.aggregate is None:
                yield from pivoted(rule, old, last.N, last.known, lower)
            elif len(self.after) == 1:
                yield all_from(rule, lower)
