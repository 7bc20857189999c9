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
(Nicolas and Yazdani 1983). There counting is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.tally import Tally
from tidelog.algorithms.aggregates import changed_groups
from tidelog.algorithms.layers import Program
from tidelog.algorithms.outcome import Outcome
from tidelog.algorithms.touched import Side
from tidelog.errors import RuleError, UsageError
from tidelog.rules.layers import Layer, divided
from tidelog.rules.levels import levels
from tidelog.rules.strata import Stratum, stratify

F = TypeVar("F", bound=FactSet)

_SHOWN = 3  # recursive rules that an error names


@dataclass(frozen=True)
class Counted(Generic[F]):
    """What is kept from one change to the next."""

    counts: Tally[F]


def counting(
    engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
) -> Outcome[F]:
    """The materialisation after a change; counts that were not kept are taken from I first."""
    order = _order(program)
    if order is None:
        removing, adding = program.in_two_steps()
        nothing = engine.collect(())
        first = counting(engine, removing, E - added, I, removed, nothing, work, kept)
        return first.then(counting(engine, adding, E, first.I, nothing, added, work, first.kept))
    counts = kept.counts if isinstance(kept, Counted) else _counts(engine, program, (E - added) | removed, I)
    state = _Counting(engine, counts, I, engine.collect(()), work)
    state.change(engine.once(added), engine.once(removed))
    for level in order:
        state.apply(level)
    return Outcome(state.after, state.plus, state.minus, Counted(state.counts))


def _order(program: Program) -> list[Layer] | None:
    """Old and new rules, level by level; None if they cannot be ordered together. Refuses recursion."""
    _refuse_recursion(program.strata)
    strata = program.strata
    if program.is_changed:
        _refuse_recursion(stratify(program.before))
        try:
            strata = stratify({r.key: r for r in (*program.before, *program.after)}.values())
        except RuleError:
            return None
    if any(s.recursive for s in strata):
        return None
    old, new = ({r.key for r in rules} for rules in (program.before, program.after))
    return [divided(level, old, new) for level in levels(tuple(rule for s in strata for rule in s.rules))]


def _refuse_recursion(strata: Sequence[Stratum]) -> None:
    rules = [rule for stratum in strata if stratum.recursive for rule in stratum.rules]
    if rules:
        shown = "".join(f"\n    {rule}" for rule in rules[:_SHOWN])
        more = f"\n    and {len(rules) - _SHOWN} more" if len(rules) > _SHOWN else ""
        raise UsageError(
            "counting cannot maintain recursive rules: facts that derive each other would never go. "
            f'Use algorithm="recursive-counting", "bf" or "dred". These rules are recursive:{shown}{more}'
        )


def _counts(engine: Engine[F], program: Program, E: F, I: F) -> Tally[F]:
    """The counts of the state before the change, by one look at all rule instances."""
    rules = [over(r, I) for r in program.before if r.heads]
    return engine.once(E) + engine.tally(rules, Work())


class _Counting(Generic[F]):
    """The counts on their way through a change, and the net change so far."""

    def __init__(self, engine: Engine[F], counts: Tally[F], I: F, nothing: F, work: Work) -> None:
        self.engine = engine
        self.counts = counts
        self.I = I
        self.nothing = self.minus = self.plus = nothing
        self.work = work
        self._turn()

    def _turn(self) -> None:
        """Look at the state before the change and at the one after it, as far as it is known."""
        self.after = (self.I - self.minus) | self.plus
        Z = self.minus | self.plus
        self.was = Side(self.engine, self.nothing, self.I, self.I, self.I, self.plus, Z)
        self.now = Side(self.engine, self.nothing, self.after, self.after, self.after, self.minus, Z)

    def apply(self, level: Layer) -> None:
        """Count what the rules of a level gain and lose."""
        kept = [r for r in level.kept if r.aggregate is None]
        gained = [over(r, self.after) for r in level.added] + [v for r in kept for v in self.now.touched(r)]
        lost = [over(r, self.I) for r in level.removed] + [v for r in kept for v in self.was.touched(r)]
        aggregates = [r for r in level.kept if r.aggregate is not None]
        more, less = changed_groups(self.engine, aggregates, self.I, self.after, self.minus, self.plus)
        self.change(self.engine.tally(gained, self.work) + more, self.engine.tally(lost, self.work) + less)

    def change(self, gained: Tally[F], lost: Tally[F]) -> None:
        if not gained and not lost:
            return
        self.counts = self.counts - lost + gained
        touched = gained.facts() | lost.facts()
        self.work.rounds += 1
        self.work.count("counts", len(touched))
        present = self.counts.of(touched).facts()
        self.plus = self.plus | (present - self.I)
        self.minus = (self.minus - present) | ((touched - present) & self.I)
        self._turn()
