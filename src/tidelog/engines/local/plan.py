"""The choice of the next atom: the one with the fewest matches, counted on a sample of the bindings.

On sorted columns two searches give the exact number of matches of an atom for given bindings. So the order of a join is
chosen while it runs, and does not depend on the order in which the rule was written:

    a condition, assignment or negation      as soon as its variables are bound
    the first atom                           the smallest, or the one from which the second step is cheapest
    any other atom                           the one with the fewest matches for a sample of the bindings
    two atoms for one step                   each binding takes the atom that has fewer matches for it

Without the last case, a cyclic body such as `link(?C, ?P, ?D), joined(?P, ?Q, ?T), link(?D, ?Q, ?E)` would extend each
binding by the atom that is better on average.

A triple whose predicate is a variable is matched predicate by predicate: if the variable is bound, only those in the
bindings, otherwise all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tidelog import tuning
from tidelog.engines.local.facts import WHOLE, LocalFacts
from tidelog.kernel.join import UNIT, Bindings, Probe, count, probe
from tidelog.kernel.rows import Ints, Mask
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE
from tidelog.rules.syntax import Assignment, Condition, Variable, expression_variables

PatternArgument = Variable | int


@dataclass(frozen=True)
class AtomPattern:
    """A positive or negated atom with its constants as ids, and the facts it reads."""

    predicate: str
    args: tuple[PatternArgument, ...]
    source: LocalFacts
    negated: bool = False
    weights: Ints | None = None  # matches that each row of the table's only run stands for

    def table(self) -> Table | None:
        """The table that the atom reads; None if it depends on the bindings or has no rows."""
        if self.predicate != TRIPLE:
            return self.source.table((self.predicate, WHOLE))
        name = self.args[1]
        return self.source.table((TRIPLE, name)) if isinstance(name, int) else None

    def variables(self) -> frozenset[Variable]:
        return self._variables

    @cached_property
    def _variables(self) -> frozenset[Variable]:
        return frozenset(a for a in self.args if isinstance(a, Variable))

    def parts(self, bindings: Bindings) -> Iterator[tuple[Table, tuple[PatternArgument, ...], Bindings]]:
        """The tables that the atom reads, with the arguments of their columns and the bindings for each table."""
        if self.predicate != TRIPLE:
            table = self.table()
            yield from [(table, self.args, bindings)] if table else []
            return
        subject, predicate, object_ = self.args
        ends = (subject, object_)
        if isinstance(predicate, int):
            table = self.table()
            yield from [(table, ends, bindings)] if table else []
        elif predicate in bindings.columns:
            for name, part in bindings.split_by(predicate):
                if table := self.source.table((TRIPLE, name)):
                    yield table, ends, part
        else:
            for name, table in self.source.triple_tables.items():
                yield table, ends, bindings.with_column(predicate, name)

    def probes(self, bindings: Bindings) -> Iterator[Probe]:
        return (probe(part, table, args) for table, args, part in self.parts(bindings))

    def count(self, bindings: Bindings) -> int:
        """The number of rows to look at for these bindings."""
        if bindings is UNIT and self.is_spread(()) and self.args[0] != self.args[2] and not self._has_constant():
            return self.source.triples
        if bindings is UNIT and not self.is_spread(()):
            return sum(count(table, args) for table, args, _ in self.parts(UNIT))
        return sum(found.total for found in self.probes(bindings))

    def is_spread(self, bound: Collection[object]) -> bool:
        """Whether this is a triple whose predicate is a variable that is not among the `bound` ones."""
        return self.predicate == TRIPLE and isinstance(self.args[1], Variable) and self.args[1] not in bound

    def _has_constant(self) -> bool:
        return any(isinstance(a, int) for a in self.args)


BodyStep = AtomPattern | Condition | Assignment


def needs(step: BodyStep) -> frozenset[Variable]:
    """The variables of a step."""
    if isinstance(step, AtomPattern):
        return step.variables()
    mentioned = frozenset(expression_variables(step.expression))
    return mentioned | {step.variable} if isinstance(step, Assignment) else mentioned


def positive(steps: Sequence[BodyStep]) -> list[AtomPattern]:
    return [s for s in steps if isinstance(s, AtomPattern) and not s.negated]


def next_step(bindings: Bindings, steps: Sequence[BodyStep]) -> BodyStep:
    bound = bindings.columns.keys()
    for step in steps:
        if _is_ready(step, steps, bound):
            return step
    patterns = positive(steps)
    if len(patterns) == 1:
        return patterns[0]
    if bindings is UNIT:
        return _first(patterns)
    return _cheapest(_connected(patterns, bound) or patterns, sample_of(bindings))


def _cheapest(patterns: Sequence[AtomPattern], sample: Bindings) -> AtomPattern:
    """The atom with the fewest matches; atoms that read all tables of triples are counted only if needed."""
    counts = {id(p): p.count(sample) for p in patterns if not p.is_spread(sample.columns.keys())}
    if not counts or min(counts.values()) > tuning.SMALL_START * sample.length:
        counts |= {id(p): p.count(sample) for p in patterns if id(p) not in counts}
    return min((p for p in patterns if id(p) in counts), key=lambda p: counts[id(p)])


def _is_ready(step: BodyStep, steps: Sequence[BodyStep], bound: Collection[object]) -> bool:
    """Whether a condition, assignment or negation can be evaluated now."""
    if not isinstance(step, AtomPattern):
        return all(v in bound for v in expression_variables(step.expression))
    if not step.negated:
        return False
    elsewhere = set[Variable]().union(*(needs(s) for s in steps if s is not step))
    return all(v in bound for v in step.variables() & elsewhere)


def _connected(patterns: Sequence[AtomPattern], bound: Collection[object]) -> list[AtomPattern]:
    return [p for p in patterns if not p.variables() or any(v in bound for v in p.variables())]


def sample_of(bindings: Bindings) -> Bindings:
    if bindings.length <= tuning.PLAN_SAMPLE:
        return bindings
    return bindings.take(np.linspace(0, bindings.length - 1, tuning.PLAN_SAMPLE).astype(np.int64))


def _first(patterns: Sequence[AtomPattern]) -> AtomPattern:
    """The smallest atom, or a better first atom if the second step would be large."""
    sizes = {id(p): p.count(UNIT) for p in patterns}
    smallest = min(patterns, key=lambda p: sizes[id(p)])
    if (
        len(patterns) < 3
        or sizes[id(smallest)] < tuning.SMALL_START
        or _second(smallest, sizes[id(smallest)], patterns) < tuning.LARGE_SECOND_STEP
    ):
        return smallest
    return min(patterns, key=lambda p: sizes[id(p)] + _second(p, sizes[id(p)], patterns))


def _second(first: AtomPattern, size: int, patterns: Sequence[AtomPattern]) -> float:
    """The estimated rows of the second step, if each binding takes its cheapest atom."""
    sample = _rows_of(first)
    if sample is None or not size:
        return float(size)
    others = _connected([p for p in patterns if p is not first], sample.columns.keys())
    counts = [c for p in others if (c := _counts(p, sample)) is not None]
    if not counts:
        return float("inf")
    return float(np.minimum.reduce(counts).sum()) * size / sample.length


def _rows_of(pattern: AtomPattern) -> Bindings | None:
    """A sample of the rows of an atom; None if it reads several tables."""
    found = [f for f in pattern.probes(UNIT) if f.total]
    return max(found, key=lambda f: f.total).sample(tuning.PLAN_SAMPLE) if len(found) == 1 else None


def _counts(pattern: AtomPattern, bindings: Bindings) -> Ints | None:
    """The number of rows to look at for each binding; None for an atom that reads several tables."""
    found = list(pattern.probes(bindings))
    if not found:
        return np.zeros(bindings.length, dtype=np.int64)
    return found[0].counts() if len(found) == 1 and found[0].bindings is bindings else None


def rival(bindings: Bindings, step: AtomPattern, steps: Sequence[BodyStep]) -> tuple[AtomPattern, Mask] | None:
    """Another atom for this step and the bindings for which it has fewer matches; None if it saves too little."""
    if bindings.length <= tuning.PLAN_SAMPLE:
        return None
    others = _connected(positive(steps), bindings.columns.keys())
    if not others:
        return None
    sample = sample_of(bindings)
    mine = _counts(step, sample)
    if mine is None or mine.sum() <= sample.length:
        return None
    best: tuple[float, AtomPattern] | None = None
    for other in others:
        theirs = _counts(other, sample)
        if theirs is not None:
            saved = float(np.minimum(mine, theirs).sum())
            if saved < tuning.SHARED_STEP * float(mine.sum()) and (best is None or saved < best[0]):
                best = saved, other
    if best is None:
        return None
    mine, theirs = _counts(step, bindings), _counts(best[1], bindings)
    return None if mine is None or theirs is None else (best[1], theirs < mine)
