"""Counting: a fact goes when the last of its derivations goes (Gupta, Katiyar, Mumick 1992; DynamiTE, section 5.2).

    counts      for each fact, how many rule instances derive it, plus one if it is explicit
    a change    counts - removed + added;  then level by level, each after those whose facts it reads:
                counts + instances gained - instances lost
    I           the facts whose count is positive

Only direct derivations count: a fact with two derivations takes part in those of another as one fact. Each instance
that a rule gains or loses is found once (see `touched`), also through negated atoms; an aggregate's fact counts once
for its group, and only the groups that a change touches are looked at. A rule that is removed takes all its instances
with it, one that is added brings them.

A count is no proof of support where rules are recursive: facts on a cycle count each other and would stay for ever
(Nicolas and Yazdani 1983). So `counting` refuses recursive rules. `counting_with_bf` changes the recursive strata by
Backward/Forward and counts the instances of the other rules. A fact with the count zero then stays if a recursive rule
below derives it, and a fact that a recursive stratum takes away stays if it has a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet, Tally
from tidelog.algebra.sourced_rule import all_from
from tidelog.algorithms import backward_forward
from tidelog.algorithms.affected_instances import Side
from tidelog.algorithms.aggregates import changed_groups, given_by
from tidelog.algorithms.layers import Decrease, LayerChange
from tidelog.algorithms.update import Outcome, RuleChange, Stage, Update
from tidelog.errors import RuleError, UsageError
from tidelog.rules.analysis.strata import Layer
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)

_SHOWN = 3  # recursive rules that an error names


@dataclass(frozen=True)
class DerivationCounts(Generic[F]):
    """What is kept from one change to the next: the counts, and the rules whose instances they count."""

    counts: Tally[F]
    rules: tuple[Rule, ...]


def counting(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change. Refuses recursive rules."""
    _refuse(update.rules.recursive)
    return _count(update, None)


def counting_with_bf(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change; Backward/Forward maintains the recursive strata."""
    return _count(update, backward_forward.decrease)


def _count(update: Update[F], decrease: Decrease | None) -> Outcome[F]:
    """Counts that the update does not have are taken from I. `decrease` is for the facts of recursive strata."""
    stages = _stages(update.rules)
    if stages is None or (decrease is None and any(s.recursive for s in stages)):
        return update.in_two_steps(partial(_count, decrease=decrease))
    engine, E, I = update.engine, update.E, update.I
    counted = [s.layer for s in stages if not s.recursive]
    before = tuple(r for layer in counted for r in (*layer.kept, *layer.removed))
    after = tuple(r for layer in counted for r in (*layer.kept, *layer.added))
    explicit_before = (E - update.added) | update.removed
    counts = _counts(engine, before, explicit_before, I, update.algorithm_state)
    change = _Change(engine, counts, E, I, update.work)
    change.move(engine.ones(update.added), engine.ones(update.removed))
    for stage in stages:
        change.run(stage, decrease)
    return Outcome(change.after, change.plus, change.minus, DerivationCounts(change.counts, after))


def _stages(rules: RuleChange) -> list[Stage] | None:
    """None if old and new rules cannot be ordered together."""
    try:
        return rules.stages
    except RuleError:
        return None


def _refuse(recursive: Sequence[Rule]) -> None:
    if recursive:
        shown = "".join(f"\n    {rule}" for rule in recursive[:_SHOWN])
        more = f"\n    and {len(recursive) - _SHOWN} more" if len(recursive) > _SHOWN else ""
        raise UsageError(
            "counting cannot maintain recursive rules: facts that derive each other would never go. "
            'Use algorithm="counting+bf", which counts where it can, "recursive-counting", "bf" or "dred". '
            f"These rules are recursive:{shown}{more}"
        )


def _counts(engine: Engine[F], rules: tuple[Rule, ...], E: F, I: F, algorithm_state: object) -> Tally[F]:
    """The counts of these rules before the change. Of rules that were counted already nothing is looked at."""
    none: DerivationCounts[F] = DerivationCounts(engine.ones(E), ())
    counted = algorithm_state if isinstance(algorithm_state, DerivationCounts) else none
    if counted.rules == rules:
        return counted.counts
    wanted, old = ({r.key: r for r in some} for some in (rules, counted.rules))
    new = [all_from(r, I) for key, r in wanted.items() if key not in old]
    gone = [all_from(r, I) for key, r in old.items() if key not in wanted]
    return counted.counts + engine.tally(new, Work()) - engine.tally(gone, Work())


class _Change(Generic[F]):
    """The counts on their way through a change, and the net change so far."""

    def __init__(self, engine: Engine[F], counts: Tally[F], E: F, I: F, work: Work) -> None:
        self.engine = engine
        self.counts = counts
        self.E, self.I = E, I
        self.nothing = self.minus = self.plus = engine.fact_set(())
        self.lower: tuple[Rule, ...] = ()
        self.recursive: tuple[Rule, ...] = ()  # those of them that are not counted
        self.work = work
        self._turn()

    def _turn(self) -> None:
        """Look at the state before the change and at the one after it, as far as it is known."""
        self.after = (self.I - self.minus) | self.plus
        Z = self.minus | self.plus
        self.was = Side(self.engine, self.nothing, self.I, self.I, self.I, self.plus, Z)
        self.now = Side(self.engine, self.nothing, self.after, self.after, self.after, self.minus, Z)

    def run(self, stage: Stage, decrease: Decrease | None) -> None:
        """Count what a stage gains and loses; `decrease`, if given, maintains a recursive stage instead."""
        after = (*stage.layer.kept, *stage.layer.added)
        if stage.recursive and decrease is not None:
            self._decrease(stage.layer, decrease)
            self.recursive = (*self.recursive, *after)
        else:
            self._count(stage.layer)
        self.lower = (*self.lower, *after)

    def _count(self, level: Layer) -> None:
        kept = [r for r in level.kept if r.aggregate is None]
        gained = [all_from(r, self.after) for r in level.added] + [v for r in kept for v in self.now.touched(r)]
        lost = [all_from(r, self.I) for r in level.removed] + [v for r in kept for v in self.was.touched(r)]
        more, less = changed_groups(self.engine, level.kept_aggregates, self.I, self.after, self.minus, self.plus)
        self.move(self.engine.tally(gained, self.work) + more, self.engine.tally(lost, self.work) + less)

    def _decrease(self, stratum: Layer, decrease: Decrease) -> None:
        if not self._concerns(stratum):
            return
        change = LayerChange(self.engine, stratum, self.lower, self.E, self.I, self.nothing)
        minus, self.plus = change.maintain(decrease, self.minus, self.plus, self.work)
        self.minus = minus - self.counts.counts_of(minus).facts()
        self._turn()

    def _concerns(self, stratum: Layer) -> bool:
        """Whether the change so far can make a difference to what the stratum derives."""
        Z = self.minus | self.plus
        read = (a for r in stratum.kept for a in (*r.atoms, *(n.atom for n in r.negations)))
        heads = (h for r in stratum.kept for h in r.heads)
        if stratum.removed or stratum.added or any(map(Z.may_match, read)):
            return True
        return any(map(self.minus.may_match, heads))

    def move(self, gained: Tally[F], lost: Tally[F]) -> None:
        """Change the counts, and with them the facts."""
        if not gained and not lost:
            return
        self.counts = self.counts - lost + gained
        touched = gained.facts() | lost.facts()
        self.work.rounds += 1
        self.work.count("counts", len(touched))
        present = self.counts.counts_of(touched).facts()
        absent = (touched - present) & self.I
        self.plus = self.plus | (present - self.I)
        self.minus = (self.minus - present) | (absent - self._given(absent))
        self._turn()

    def _given(self, facts: F) -> F:
        """Those of the facts that recursive rules below derive."""
        return given_by(self.engine, self.recursive, facts, self.after, self.work) if self.recursive else self.nothing
