"""Which atom next: the one with the fewest matches, counted on a sample of the bindings, not guessed.

Sorted columns give the exact number of matches of an atom for given bindings by two searches. So the order of a join is
chosen while it runs and does not depend on how the rule was written:

    a condition, assignment or negation      as soon as its variables are bound
    the first atom                           the smallest, or the one from which the second step is cheapest
    any other atom                           the one that extends a sample of the bindings by least
    two atoms for one step                   each binding takes the atom that has fewer matches for it

The last is what keeps a cyclic body, `link(?C, ?P, ?D), joined(?P, ?Q, ?T), link(?D, ?Q, ?E)`, from expanding every
binding by the atom that is better on average.

One atom of a body as the engine sees it: constants as ids, and the tables it reads.

A triple whose predicate is a variable is matched predicate by predicate: those the bindings name when the variable is
bound (by a schema atom, usually), else all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tidelog.engines.local.facts import WHOLE, LocalFacts
from tidelog.kernel.join import UNIT, Bindings, Probe, count, probe
from tidelog.kernel.rows import Ints, Mask
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE
from tidelog.rules.syntax import Assignment, Condition, Variable, expression_variables

Argument = Variable | int


@dataclass(frozen=True)
class Pattern:
    """A positive or negated atom with its constants as ids, and the facts it reads."""

    predicate: str
    args: tuple[Argument, ...]
    source: LocalFacts
    negated: bool = False
    weights: Ints | None = None  # how many matches each row stands for, in the order of the table's only run

    def table(self) -> Table | None:
        """The table it reads, unless that depends on the bindings."""
        if self.predicate != TRIPLE:
            return self.source.table((self.predicate, WHOLE))
        name = self.args[1]
        return self.source.table((TRIPLE, name)) if isinstance(name, int) else None

    def variables(self) -> frozenset[Variable]:
        return self._variables

    @cached_property
    def _variables(self) -> frozenset[Variable]:
        return frozenset(a for a in self.args if isinstance(a, Variable))

    def parts(self, bindings: Bindings) -> Iterator[tuple[Table, tuple[Argument, ...], Bindings]]:
        """The tables to look in, with the columns of each and the bindings that belong there."""
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
        """How many rows matching it for these bindings will look at."""
        if bindings is UNIT and self.is_spread(()) and self.args[0] != self.args[2] and not self._has_constant():
            return self.source.triples
        if bindings is UNIT and not self.is_spread(()):
            return sum(count(table, args) for table, args, _ in self.parts(UNIT))
        return sum(found.total for found in self.probes(bindings))

    def is_spread(self, bound: Collection[object]) -> bool:
        """Whether it is a triple that may have any predicate, given these variables."""
        return self.predicate == TRIPLE and isinstance(self.args[1], Variable) and self.args[1] not in bound

    def _has_constant(self) -> bool:
        return any(isinstance(a, int) for a in self.args)


Step = Pattern | Condition | Assignment


def needs(step: Step) -> frozenset[Variable]:
    """The variables a step mentions."""
    if isinstance(step, Pattern):
        return step.variables()
    mentioned = frozenset(expression_variables(step.expression))
    return mentioned | {step.variable} if isinstance(step, Assignment) else mentioned


SAMPLE = 256  # bindings looked at to choose the next atom
_TINY = 32  # a beginning with fewer rows is not worth improving
_LARGE = 50_000  # rows of a second step from which on a better first step is looked for
_WORTH_SPLITTING = 0.7  # the part of the rows that must be saved for two atoms to share a step


def positive(steps: Sequence[Step]) -> list[Pattern]:
    return [s for s in steps if isinstance(s, Pattern) and not s.negated]


def next_step(bindings: Bindings, steps: Sequence[Step]) -> Step:
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


def _cheapest(patterns: Sequence[Pattern], sample: Bindings) -> Pattern:
    """The atom with fewest matches; those that look into every table of triples are asked only if no other will do."""
    counts = {id(p): p.count(sample) for p in patterns if not p.is_spread(sample.columns.keys())}
    if not counts or min(counts.values()) > _TINY * sample.length:
        counts |= {id(p): p.count(sample) for p in patterns if id(p) not in counts}
    return min((p for p in patterns if id(p) in counts), key=lambda p: counts[id(p)])


def _is_ready(step: Step, steps: Sequence[Step], bound: Collection[object]) -> bool:
    """Whether a condition, assignment or negation can be evaluated now."""
    if not isinstance(step, Pattern):
        return all(v in bound for v in expression_variables(step.expression))
    if not step.negated:
        return False
    elsewhere = set[Variable]().union(*(needs(s) for s in steps if s is not step))
    return all(v in bound for v in step.variables() & elsewhere)


def _connected(patterns: Sequence[Pattern], bound: Collection[object]) -> list[Pattern]:
    return [p for p in patterns if not p.variables() or any(v in bound for v in p.variables())]


def sample_of(bindings: Bindings) -> Bindings:
    if bindings.length <= SAMPLE:
        return bindings
    return bindings.take(np.linspace(0, bindings.length - 1, SAMPLE).astype(np.int64))


def _first(patterns: Sequence[Pattern]) -> Pattern:
    """The smallest atom, unless what follows it is so large that another beginning is worth a look."""
    sizes = {id(p): p.count(UNIT) for p in patterns}
    smallest = min(patterns, key=lambda p: sizes[id(p)])
    if len(patterns) < 3 or sizes[id(smallest)] < _TINY or _second(smallest, sizes[id(smallest)], patterns) < _LARGE:
        return smallest
    return min(patterns, key=lambda p: sizes[id(p)] + _second(p, sizes[id(p)], patterns))


def _second(first: Pattern, size: int, patterns: Sequence[Pattern]) -> float:
    """How many rows the cheapest second step would look at, each binding taking its cheapest atom."""
    sample = _rows_of(first)
    if sample is None or not size:
        return float(size)
    others = _connected([p for p in patterns if p is not first], sample.columns.keys())
    counts = [c for p in others if (c := _counts(p, sample)) is not None]
    if not counts:
        return float("inf")
    return float(np.minimum.reduce(counts).sum()) * size / sample.length


def _rows_of(pattern: Pattern) -> Bindings | None:
    """A sample of the rows of an atom."""
    found = [f for f in pattern.probes(UNIT) if f.total]
    return max(found, key=lambda f: f.total).sample(SAMPLE) if len(found) == 1 else None


def _counts(pattern: Pattern, bindings: Bindings) -> Ints | None:
    """How many rows each binding would look at; None for an atom that reads several tables."""
    found = list(pattern.probes(bindings))
    if not found:
        return np.zeros(bindings.length, dtype=np.int64)
    return found[0].counts() if len(found) == 1 and found[0].bindings is bindings else None


def rival(bindings: Bindings, step: Pattern, steps: Sequence[Step]) -> tuple[Pattern, Mask] | None:
    """Another atom for this step and the bindings for which it has fewer matches, where that saves enough."""
    if bindings.length <= SAMPLE:
        return None
    others = _connected(positive(steps), bindings.columns.keys())
    if not others:
        return None
    sample = sample_of(bindings)
    mine = _counts(step, sample)
    if mine is None or mine.sum() <= sample.length:
        return None
    best: tuple[float, Pattern] | None = None
    for other in others:
        theirs = _counts(other, sample)
        if theirs is not None:
            saved = float(np.minimum(mine, theirs).sum())
            if saved < _WORTH_SPLITTING * float(mine.sum()) and (best is None or saved < best[0]):
                best = saved, other
    if best is None:
        return None
    mine, theirs = _counts(step, bindings), _counts(best[1], bindings)
    return None if mine is None or theirs is None else (best[1], theirs < mine)
