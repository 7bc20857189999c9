"""The verb `supports`: some matches of each guard fact, a window of candidates at a time.

The guard is matched first, then atoms that its variables bind completely, then one atom in the window: candidate number
n of a binding is the n-th row of that atom's range, so a window is a cut in positions, not a search. Which atom that
is may depend on the rule and on its sources, but not on the guard facts at hand, or windows would not fit together;
it is decided once and remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import Extended
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.families import CONSTANTS
from tidelog.engines.local.heads import Gathered
from tidelog.engines.local.pattern import Pattern, Step, needs
from tidelog.engines.local.plan import positive, sample_of
from tidelog.kernel.bindings import UNIT, Bindings
from tidelog.kernel.join import Probe
from tidelog.rules.syntax import Rule, Variable

if TYPE_CHECKING:
    from tidelog.engines.local.solve import Solver


Variables = frozenset[Variable]


class Supports:
    """The supports of one batch of rules in one window."""

    def __init__(self, solver: Solver, gathered: Gathered, unfinished: Gathered, start: int, stop: int | None) -> None:
        self.solver = solver
        self.gathered, self.unfinished = gathered, unfinished
        self.start, self.stop = start, stop

    def add(self, extended: Extended[LocalFacts], work: Work) -> None:
        rule = extended.rule
        guard, *rest = self.solver.steps(rule.body, extended.sources)
        assert isinstance(guard, Pattern)
        wanted = frozenset(v for atom in rule.atoms for v in atom.variables())
        needed = wanted.union(*map(needs, rest))
        guards = _extended(iter((UNIT,)), guard, needed, self.solver)
        if rest and isinstance(rest[0], Pattern) and rest[0].predicate == CONSTANTS:
            guards, rest = _extended(guards, rest[0], needed, self.solver), rest[1:]
        bodies = [a for a in rule.atoms[1:] if a.predicate != CONSTANTS]
        for block in guards:
            for matched in self._candidates(rule, block, rest, needed, wanted):
                work.derivations += matched.matches()
                self.gathered.add_heads(bodies, matched)

    def _candidates(
        self,
        rule: Rule,
        bindings: Bindings,
        steps: list[Step],
        needed: frozenset[Variable],
        wanted: frozenset[Variable],
    ) -> Iterator[Bindings]:
        """Matches whose candidate is in the window."""
        windowed = self._windowed(rule, bindings, steps)
        if windowed is None:
            if self.start == 0:
                yield from self.solver.solve_from(bindings, steps, wanted)
            return
        for step in [s for s in positive(steps) if s.variables() <= bindings.columns.keys()]:
            bindings = bindings.take(self.solver.has_match(step, bindings))
            steps = [s for s in steps if s is not step]
        found = list(windowed.probes(bindings)) if bindings.length else []
        if len(found) > 1 or any(f.bindings is not bindings for f in found):
            raise AssertionError("an atom that reads several tables has no window")
        for cut in found:
            self._note_unfinished(rule, cut)
            for block in cut.window(self.start, self.stop).carry_out(needed, self.solver.budget):
                yield from self.solver.solve_from(block, [s for s in steps if s is not windowed], wanted)

    def _windowed(self, rule: Rule, bindings: Bindings, steps: Sequence[Step]) -> Pattern | None:
        """The atom to cut: of those the guard does not bind completely, the one with fewest matches for it."""
        bound = bindings.columns.keys()
        open_ = [p for p in positive(steps) if not p.variables() <= bound and p.table() is not None]
        free = [p for p in open_ if p.variables() & bound] or open_
        if len(free) <= 1:
            return free[0] if free else None
        chosen = self.solver.windowed.get(rule.key)
        if chosen is None:
            sample = sample_of(bindings)
            best = min(free, key=lambda p: p.count(sample))
            chosen = self.solver.windowed[rule.key] = best.predicate, best.args
        return next((p for p in free if (p.predicate, p.args) == chosen), None)

    def _note_unfinished(self, rule: Rule, cut: Probe) -> None:
        if self.stop is None:
            return
        more = cut.counts() > self.stop
        if more.any():
            self.unfinished.add_heads(rule.atoms[:1], cut.bindings.take(more))


def _extended(blocks: Iterator[Bindings], step: Pattern, needed: Variables, solver: Solver) -> Iterator[Bindings]:
    """The bindings extended by an atom."""
    for block in blocks:
        for found in step.probes(block):
            yield from (b for b in found.carry_out(needed, solver.budget) if b.length)
