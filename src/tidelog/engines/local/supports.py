"""The verb `supports`: some matches of each guard fact, a window of candidates at a time.

The guard is matched first, then the atoms whose variables are all bound, then one atom in the window. Candidate number
n of a binding is the n-th row of this atom's range, so a window is a range of positions, not a search. An atom with few
matches that leaves variables of other atoms free is passed first, with all its matches at once:

    [?y, rdf:type, ?c] :- [?p, rdfs:range, ?c], [?x, ?p, ?y] .

has few properties ?p for a class, and the window is on the many triples of each property. The choice of these atoms may
depend on the rule and on its sources, but not on the guard facts of one call: otherwise two windows would not fit
together. So it is made once per rule and stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.plan import AtomPattern, BodyStep, needs, positive, sample_of
from tidelog.engines.local.rule_grouping import CONSTANTS
from tidelog.kernel.join import UNIT, Bindings, Probe
from tidelog.kernel.rows import Ints
from tidelog.rules.syntax import Rule, Variable

if TYPE_CHECKING:
    from tidelog.engines.local.solve import Solver

Variables = frozenset[Variable]
# The candidates of a guard fact from number `start` up to `stop` (None: all the rest).
CandidateWindow = tuple[int, int | None]


class SupportSearch:
    """Collects the supports of some rules in one window."""

    def __init__(self, solver: Solver, gather: Callable[[], FactBuilder], start: int, stop: int | None) -> None:
        """`gather` makes the builders for body facts, guards with a match, and guards with more candidates."""
        self.solver = solver
        self.gathered, self.proved, self.unfinished = gather(), gather(), gather()
        self.start, self.stop = start, stop

    def add(self, sourced: SourcedRule[LocalFacts], work: Work) -> None:
        rule = sourced.rule
        guard, *rest = self.solver.steps(rule.body, sourced.sources)
        assert isinstance(guard, AtomPattern)
        wanted = frozenset(v for atom in rule.atoms for v in atom.variables())
        needed = wanted.union(*map(needs, rest))
        guards = _extended(iter((UNIT,)), guard, needed, self.solver)
        if rest and isinstance(rest[0], AtomPattern) and rest[0].predicate == CONSTANTS:
            guards, rest = _extended(guards, rest[0], needed, self.solver), rest[1:]
        bodies = [a for a in rule.atoms[1:] if a.predicate != CONSTANTS]
        for block in guards:
            for matched in self._candidates(rule, block, rest, needed, wanted):
                work.derivations += matched.matches()
                self.gathered.add_heads(bodies, matched)
                self.proved.add_heads(rule.atoms[:1], matched)

    def _candidates(
        self, rule: Rule, bindings: Bindings, steps: list[BodyStep], needed: Variables, wanted: Variables
    ) -> Iterator[Bindings]:
        """The matches whose candidate is in the window."""
        bindings, steps = self._checked(bindings, steps)
        windowed = self._windowed(rule, bindings, steps) if bindings.length else None
        if windowed is None:
            if self.start == 0 and bindings.length:
                yield from self.solver.solve_from(bindings, steps, wanted)
            return
        rest = [s for s in steps if s is not windowed]
        if self._is_passed(rule, windowed):
            for block in _extended(iter((bindings,)), windowed, needed, self.solver):
                yield from self._candidates(rule, block, rest, needed, wanted)
            return
        for cut in self._cuts(rule, windowed, bindings):
            for block in cut.carry_out(needed, self.solver.budget):
                yield from self.solver.solve_from(block, rest, wanted)

    def _checked(self, bindings: Bindings, steps: list[BodyStep]) -> tuple[Bindings, list[BodyStep]]:
        """Without the atoms whose variables are all bound, and without the bindings that these atoms do not match."""
        for step in [s for s in positive(steps) if s.variables() <= bindings.columns.keys()]:
            bindings = bindings.take(self.solver.has_match(step, bindings))
            steps = [s for s in steps if s is not step]
        return bindings, steps

    def _windowed(self, rule: Rule, bindings: Bindings, steps: Sequence[BodyStep]) -> AtomPattern | None:
        """The next atom: the one with the fewest matches among those that share a variable with the bindings."""
        bound = bindings.columns.keys()
        open_ = positive(steps)
        free = [p for p in open_ if p.variables() & bound] or open_
        if not free:
            return None
        known = self.solver.windowed.setdefault(rule.key, {})
        chosen = next((p for atom in known for p in free if (p.predicate, p.args) == atom), None)
        if chosen is None:
            sample = sample_of(bindings)
            counts = {id(p): p.count(sample) for p in free}
            chosen = min(free, key=lambda p: counts[id(p)])
            is_short = counts[id(chosen)] <= tuning.PASSED_MATCHES * sample.length
            known[chosen.predicate, chosen.args] = is_short and _leaves_open(chosen, open_, bound)
        return chosen

    def _is_passed(self, rule: Rule, step: AtomPattern) -> bool:
        return self.solver.windowed[rule.key][step.predicate, step.args]

    def _cuts(self, rule: Rule, windowed: AtomPattern, bindings: Bindings) -> Iterator[Probe]:
        """The part in the window of each table that the atom reads; tables of several predicates in their order."""
        spread = windowed.is_spread(bindings.columns.keys())
        before = np.zeros(bindings.length, dtype=np.int64)
        for found in windowed.probes(bindings):
            if not spread:
                before = np.zeros(found.bindings.length, dtype=np.int64)
            yield found.window(self.start - before, None if self.stop is None else self.stop - before)
            before = before + found.counts()
            if not spread:
                self._note_unfinished(rule, found.bindings, before)
        if spread:
            self._note_unfinished(rule, bindings, before)

    def _note_unfinished(self, rule: Rule, bindings: Bindings, candidates: Ints) -> None:
        if self.stop is None:
            return
        more = candidates > self.stop
        if more.any():
            self.unfinished.add_heads(rule.atoms[:1], bindings.take(more))


def _leaves_open(step: AtomPattern, steps: Sequence[AtomPattern], bound: Collection[object]) -> bool:
    """Whether another atom still has a free variable after this one."""
    inside = step.variables()
    return any(v not in bound and v not in inside for p in steps for v in p.variables())


def _extended(blocks: Iterator[Bindings], step: AtomPattern, needed: Variables, solver: Solver) -> Iterator[Bindings]:
    """The bindings extended by an atom."""
    for block in blocks:
        for found in step.probes(block):
            yield from (b for b in found.carry_out(needed, solver.budget) if b.length)
