"""All matches of a rule body, in blocks that fit the memory budget."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import local

import numpy as np

from tidelog import tuning
from tidelog.engines.local.expressions import ColumnEvaluator
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.plan import AtomPattern, BodyStep, PatternArgument, needs, next_step, rival
from tidelog.kernel.budget import Budget
from tidelog.kernel.join import UNIT, Bindings
from tidelog.kernel.rows import Mask, find
from tidelog.kernel.table import Table
from tidelog.rules.syntax import Atom, Literal, Negation, Variable


@dataclass
class Effort:
    """The number of rows that a rule has looked at."""

    rows: int = 0


class Solver:
    """Evaluates bodies with one dictionary and one budget."""

    def __init__(self, evaluator: ColumnEvaluator, budget: Budget) -> None:
        self.evaluator = evaluator
        self.budget = budget
        self._choices = _Choices()

    @property
    def windowed(self) -> dict[str, dict[tuple[str, tuple[PatternArgument, ...]], bool]]:
        """By rule: the atoms that `supports` chose in this thread for its windows, and whether it passes them."""
        return self._choices.windowed

    def steps(self, body: Sequence[Literal], sources: Sequence[LocalFacts]) -> list[BodyStep]:
        """The body with constants as ids, each atom with its source."""
        steps: list[BodyStep] = []
        remaining = iter(sources)
        for literal in body:
            if isinstance(literal, Atom | Negation):
                atom = literal if isinstance(literal, Atom) else literal.atom
                args = tuple(a if isinstance(a, Variable) else self.evaluator.encode(a) for a in atom.args)
                steps.append(AtomPattern(atom.predicate, args, next(remaining), isinstance(literal, Negation)))
            else:
                steps.append(literal)
        return steps

    def solve(
        self, steps: Sequence[BodyStep], wanted: Collection[Variable], effort: Effort | None = None
    ) -> Iterator[Bindings]:
        """All matches, as blocks of bindings of the wanted variables (rows may repeat, see `Bindings.weight`)."""
        return _BodySearch(self, frozenset(wanted), effort or Effort()).run(UNIT, list(steps))

    def solve_from(self, bindings: Bindings, steps: list[BodyStep], wanted: Collection[Variable]) -> Iterator[Bindings]:
        """All matches that extend `bindings`, which the other steps of the body have given."""
        return _BodySearch(self, frozenset(wanted), Effort()).run(bindings, steps)

    def has_match(self, step: AtomPattern, bindings: Bindings) -> Mask:
        """Which bindings have a match for an atom; its other variables may have any value."""
        rowid = object()
        numbered = bindings.with_column(rowid, np.arange(bindings.length, dtype=np.int64))
        matched = np.zeros(bindings.length, dtype=np.bool_)
        for found in step.probes(numbered):
            mask = found.bindings_with_match(self.budget)
            matched[found.bindings.columns[rowid][mask]] = True
        return matched


class _Choices(local):
    """All windows of a search use the same atoms; another thread must not change them between two windows."""

    def __init__(self) -> None:
        self.windowed: dict[str, dict[tuple[str, tuple[PatternArgument, ...]], bool]] = {}


@dataclass(frozen=True, slots=True)
class _BodySearch:
    """The search for all matches of one body."""

    solver: Solver
    wanted: frozenset[Variable]
    effort: Effort

    def run(self, bindings: Bindings, steps: list[BodyStep]) -> Iterator[Bindings]:
        while steps and bindings.length:
            step = next_step(bindings, steps)
            if isinstance(step, AtomPattern) and not step.negated:
                yield from self._join(step, bindings, steps)
                return
            steps = [s for s in steps if s is not step]
            bindings = self._filter(step, bindings).only(self._needed(steps))
        if bindings.length:
            yield bindings

    def _needed(self, steps: Sequence[BodyStep]) -> frozenset[Variable]:
        return self.wanted.union(*map(needs, steps))

    def _filter(self, step: BodyStep, bindings: Bindings) -> Bindings:
        if isinstance(step, AtomPattern):
            return bindings.take(~self.solver.has_match(step, bindings))
        return self.solver.evaluator.apply(step, bindings)

    def _join(self, step: AtomPattern, bindings: Bindings, steps: list[BodyStep]) -> Iterator[Bindings]:
        """Extend the bindings by an atom and continue; some bindings may take another atom first."""
        rest = [s for s in steps if s is not step]
        better = rival(bindings, step, rest)
        if better is not None:
            other, fewer = better
            yield from self._extend(other, bindings.take(fewer), [s for s in steps if s is not other])
            bindings = bindings.take(~fewer)
        yield from self._extend(step, bindings, rest)

    def _extend(self, step: AtomPattern, bindings: Bindings, rest: list[BodyStep]) -> Iterator[Bindings]:
        needed = self._needed(rest)
        blocks = self._blocks(step, bindings, needed) if bindings.length else iter(())
        if not rest:
            yield from blocks
            return
        drops = not needed.issuperset(step.variables() | bindings.columns.keys())
        for block in blocks:
            yield from self.run(_deduplicated(block) if drops else block, rest)

    def _blocks(self, step: AtomPattern, bindings: Bindings, needed: frozenset[Variable]) -> Iterator[Bindings]:
        budget = self.solver.budget
        for found in step.probes(bindings):
            total = found.total
            self.effort.rows += total
            width = len(step.args) + len(bindings.columns) + 2
            budget.claim(8 * min(total, budget.block_rows(width)) * width, "a join")
            if not total:
                continue
            if step.weights is None:
                for block in found.carry_out(needed, budget):
                    budget.tick()
                    if block.length:
                        yield block
            else:
                for block in found.carry_out(needed | step.variables(), budget):
                    yield _weighted(block, found.table, step).only(needed)


def _weighted(block: Bindings, table: Table, step: AtomPattern) -> Bindings:
    """The block with the weights of the table rows that it matched."""
    assert step.weights is not None
    (run,) = table.runs
    at, _ = find(run.rows, run.layout.pack([block.columns[a] for a in step.args], block.length))
    weight = step.weights[at]
    return replace(block, weight=weight if block.weight is None else block.weight * weight)


def _deduplicated(bindings: Bindings) -> Bindings:
    """Merge rows that became equal when a variable was dropped, if there are many rows and few columns."""
    if bindings.length < tuning.PROJECTED_ROWS or len(bindings.columns) > 2:
        return bindings
    return bindings.deduplicated()
