"""All matches of a rule body. The next atom is the one with the fewest matches, counted, not guessed.

Sorted columns tell the exact number of matches of an atom for given bindings by two searches, so the order of the join
is chosen while it runs: conditions, assignments and negations as soon as their variables are bound, then the atom that
extends a sample of the bindings by least. It therefore starts from the smallest set (a delta, a schema relation) and
never depends on the order in which the rule was written.

A triple whose predicate is a variable is matched predicate by predicate: those the bindings name when the variable is
bound (by a schema atom, usually), else all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidelog.engines.local.compute import Computer
from tidelog.engines.local.fact_set import WHOLE, LocalFacts
from tidelog.kernel.bindings import UNIT, Bindings
from tidelog.kernel.budget import Budget
from tidelog.kernel.join import Probe, probe
from tidelog.kernel.table import Table
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Assignment, Atom, Condition, Literal, Negation, Variable, expression_variables

_SAMPLE = 256  # bindings looked at to choose the next atom
_FOLD = 4096  # from this many rows on, folding equal ones pays

Argument = Variable | int


@dataclass(frozen=True)
class Pattern:
    """A positive or negated atom with its constants as ids, and the facts it reads."""

    predicate: str
    args: tuple[Argument, ...]
    source: LocalFacts
    negated: bool = False

    def variables(self) -> set[Variable]:
        return {a for a in self.args if isinstance(a, Variable)}

    def parts(self, bindings: Bindings) -> Iterator[tuple[Table, tuple[Argument, ...], Bindings]]:
        """The tables to look in, with the columns of each and the bindings that belong there."""
        if self.predicate != TRIPLE:
            table = self.source.tables.get((self.predicate, WHOLE))
            yield from [(table, self.args, bindings)] if table else []
            return
        subject, predicate, object_ = self.args
        ends = (subject, object_)
        if isinstance(predicate, int):
            table = self.source.tables.get((TRIPLE, predicate))
            yield from [(table, ends, bindings)] if table else []
        elif predicate in bindings.columns:
            for name, part in bindings.split_by(predicate):
                if table := self.source.tables.get((TRIPLE, name)):
                    yield table, ends, part
        else:
            for name, table in self.source.triple_tables.items():
                yield table, ends, bindings.with_column(predicate, name)

    def probes(self, bindings: Bindings) -> Iterator[Probe]:
        return (probe(part, table, args) for table, args, part in self.parts(bindings))


Step = Pattern | Condition | Assignment


def needs(step: Step) -> set[Variable]:
    """The variables a step mentions."""
    if isinstance(step, Pattern):
        return step.variables()
    mentioned = set(expression_variables(step.expression))
    return mentioned | {step.variable} if isinstance(step, Assignment) else mentioned


class Solver:
    """Evaluates bodies with one dictionary and one budget."""

    def __init__(self, computer: Computer, budget: Budget) -> None:
        self.computer = computer
        self.budget = budget

    def steps(self, body: Sequence[Literal], sources: Sequence[LocalFacts]) -> list[Step]:
        """The body with constants as ids, each atom with its source."""
        steps: list[Step] = []
        remaining = iter(sources)
        for literal in body:
            if isinstance(literal, Atom | Negation):
                atom = literal if isinstance(literal, Atom) else literal.atom
                args = tuple(a if isinstance(a, Variable) else self.computer.encode(a) for a in atom.args)
                steps.append(Pattern(atom.predicate, args, next(remaining), isinstance(literal, Negation)))
            else:
                steps.append(literal)
        return steps

    def solve(self, steps: Sequence[Step], wanted: Collection[Variable]) -> Iterator[Bindings]:
        """Every match, as blocks of bindings of the wanted variables (rows may repeat, see `Bindings.weight`)."""
        yield from self._solve(UNIT, list(steps), frozenset(wanted))

    def _solve(self, bindings: Bindings, steps: list[Step], wanted: frozenset[Variable]) -> Iterator[Bindings]:
        while steps and bindings.length:
            step = self._next(bindings, steps)
            steps = [s for s in steps if s is not step]
            needed = wanted.union(*map(needs, steps))
            if not isinstance(step, Pattern):
                bindings = self.computer.apply(step, bindings).only(needed)
            elif step.negated:
                bindings = self._reject(step, bindings).only(needed)
            else:
                blocks = self._extend(step, bindings, needed)
                if not steps:
                    yield from blocks
                    return
                if not needed.issuperset(step.variables() | bindings.columns.keys()):
                    blocks = map(_fold, blocks)
                head = next(blocks, None)
                if head is None:
                    return
                for later in blocks:
                    yield from self._solve(head, steps, wanted)
                    head = later
                bindings = head
        if bindings.length:
            yield bindings

    def _extend(self, step: Pattern, bindings: Bindings, needed: frozenset[Variable]) -> Iterator[Bindings]:
        for found in step.probes(bindings):
            total = found.total
            width = len(step.args) + len(bindings.columns) + 2
            self.budget.claim(8 * min(total, self.budget.block_rows(width)) * width, "a join")
            if total:
                yield from (block for block in found.carry_out(needed, self.budget) if block.length)

    def _reject(self, step: Pattern, bindings: Bindings) -> Bindings:
        """The bindings without a match for a negated atom; its own variables are "there is none"."""
        rowid = object()
        numbered = bindings.with_column(rowid, np.arange(bindings.length, dtype=np.int64))
        matched = np.zeros(bindings.length, dtype=np.bool_)
        for found in step.probes(numbered):
            mask = found.bindings_with_match(self.budget)
            matched[found.bindings.columns[rowid][mask]] = True
        return bindings.take(~matched)

    def _next(self, bindings: Bindings, steps: Sequence[Step]) -> Step:
        bound = bindings.columns.keys()
        for step in steps:
            if self._is_ready(step, steps, bound):
                return step
        patterns = [s for s in steps if isinstance(s, Pattern) and not s.negated]
        if len(patterns) == 1:
            return patterns[0]
        connected = [p for p in patterns if not p.variables().isdisjoint(bound) or not p.variables()]
        return min(connected or patterns, key=lambda p: self._cost(p, self._sample(bindings)))

    @staticmethod
    def _is_ready(step: Step, steps: Sequence[Step], bound: Collection[object]) -> bool:
        """Whether a condition, assignment or negation can be evaluated now."""
        if isinstance(step, Condition):
            return all(v in bound for v in expression_variables(step.expression))
        if isinstance(step, Assignment):
            return all(v in bound for v in expression_variables(step.expression))
        if not step.negated:
            return False
        elsewhere = set[Variable]().union(*(needs(s) for s in steps if s is not step))
        return all(v in bound for v in step.variables() & elsewhere)

    @staticmethod
    def _sample(bindings: Bindings) -> Bindings:
        if bindings.length <= _SAMPLE:
            return bindings
        return bindings.take(np.linspace(0, bindings.length - 1, _SAMPLE).astype(np.int64))

    @staticmethod
    def _cost(pattern: Pattern, sample: Bindings) -> int:
        return sum(found.total for found in pattern.probes(sample))


def _fold(bindings: Bindings) -> Bindings:
    """Fold rows that became equal when a variable was dropped; worth it only for many rows of few columns."""
    return bindings.folded() if bindings.length >= _FOLD and len(bindings.columns) <= 2 else bindings
