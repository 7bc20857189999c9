"""Basic graph patterns, matched by the engine's own joins from whatever bindings there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tidelog.engines.local.compute import Computer
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.pattern import Argument, Step
from tidelog.engines.local.pattern import Pattern as AtomPattern
from tidelog.engines.local.solve import Solver
from tidelog.kernel.bindings import UNIT, Bindings
from tidelog.model.vocabulary import TRIPLE
from tidelog.sparql.algebra import BasicPattern, PathPattern
from tidelog.sparql.limits import Guarded
from tidelog.sparql.lookups import FEW, Places, Slots, look_up
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.prepared import Plan, Prepared
from tidelog.sparql.tables import bound_alike

_MANY = 4096  # bindings from which on it may pay to match a pattern alone
_SMALLER = 16  # so many times fewer triples than bindings


class BasicPatterns:
    """Matches triples of one fact set for one query."""

    def __init__(self, I: LocalFacts, overlay: Overlay, budget: Guarded, prepared: Prepared) -> None:
        self.I = I
        self.overlay = overlay
        self.budget = budget
        self.prepared = prepared

    @cached_property
    def solver(self) -> Solver:
        return Solver(Computer(self.overlay.dictionary), self.budget)

    def extend(self, pattern: BasicPattern, bindings: Bindings) -> Iterator[Bindings]:
        """The bindings with the matches of all triples, each match a row."""
        for block in self.weighted(pattern, bindings):
            yield from self._each_match(block)

    def weighted(self, pattern: BasicPattern, bindings: Bindings) -> Iterator[Bindings]:
        """The same; a row may stand for several matches."""
        plan = self.prepared.plan(pattern)
        places = plan.places(self.overlay)
        if places is None:
            return
        shared = [v for v in plan.variables if v in bindings.columns]
        for part in [bindings] if bindings is UNIT else bound_alike(bindings, shared):
            yield from self._look_up(plan, places, part) if part.length <= FEW else self._solve(plan, places, part)

    def _look_up(self, plan: Plan, places: Sequence[Places], part: Bindings) -> Iterator[Bindings]:
        """Few bindings: as far as lookups go, then as usual."""
        slots: Slots = [part.columns.get(v) for v in plan.variables]
        others = [n for n in part.columns if n not in plan.variables]
        slots += [part.columns[n] for n in others]
        found = look_up(self.I, places, slots, part.length)
        if found is None:
            yield from self._solve(plan, places, part)
            return
        length, left = found
        names = zip((*plan.variables, *others), slots, strict=True)
        part = Bindings({n: c for n, c in names if c is not None}, length)
        if left:
            yield from self._solve(plan, [places[i] for i in left], part)
        else:
            yield part

    def _solve(self, plan: Plan, places: Sequence[Places], part: Bindings) -> Iterator[Bindings]:
        unwanted = plan.unwanted - part.columns.keys()
        wanted = (part.columns.keys() | set(plan.variables)) - unwanted
        yield from self.solver.solve_from(part, self._steps(plan, places), wanted)  # type: ignore[arg-type]

    def _steps(self, plan: Plan, places: Sequence[Places]) -> list[Step]:
        def argument(place: int) -> Argument:
            return place if place >= 0 else plan.variables[~place]

        return [AtomPattern(TRIPLE, (argument(s), argument(p), argument(o)), self.I) for s, p, o in places]

    def _each_match(self, block: Bindings) -> Iterator[Bindings]:
        """Rows that stand for several matches, repeated, some at a time."""
        if block.weight is None:
            yield block
            return
        plain, ends = replace(block, weight=None), np.cumsum(block.weight)
        size, total = self.budget.block_rows(len(block.columns)), int(ends[-1]) if block.length else 0
        for start in range(0, total, size):
            self.budget.tick()
            matches = np.arange(start, min(start + size, total))
            yield plain.take(np.searchsorted(ends, matches, "right"))

    def is_smaller(self, pattern: BasicPattern | PathPattern, bindings: int) -> bool:
        """Whether a pattern is better matched alone than from so many bindings."""
        if bindings < _MANY or not isinstance(pattern, BasicPattern) or len(pattern.triples) != 1:
            return False
        plan = self.prepared.plan(pattern)
        places = plan.places(self.overlay)
        if places is None:
            return True
        (step,) = self._steps(plan, places)
        return isinstance(step, AtomPattern) and step.count(UNIT) * _SMALLER < bindings
