"""Backward/Forward: before a fact is taken away, look for another proof (Motik, Nenov, Piro, Horrocks, AAAI 2015).

    delete   N  = D - (O | P)                    check all of N; then, for what was not proved,
             D  = H <- B1[I - (O | N)] .. Bi[N], B(i+1)[I - O] ..      each instance once            (line 8)
    check    backward:  bodies of H <- H[Q], B1[I - S] .. Bn[I - S]     are to be checked too        (line 16)
             forward:   P |= C & E,   H[C] <- B1[P] .. Bn[P]            each instance once           (line 27)
             at sight:  P |= H[C] <- B1[E] .. Bn[E]                     one instance for each fact

C checked facts, P proved, V the part of P that was used, Y proved but not checked (yet), S disproved; D consequences
of the deletion that are to be examined, O those that were propagated, which is what is gone; Q what is open in one
search.

The search works on sets. A fact may have thousands of supports where the first one is enough. So a search first proves
the facts that follow from explicit facts in one step; it does not check the bodies of these. For each other fact it
looks at few candidates, and at more of them only if the fact is still not proved. The search ends as soon as all facts
to check are proved; proved facts that it has not chained forward from wait for the next search. Otherwise it ends when
no fact is open, and then all facts that it has seen and not proved are disproved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Generic, TypeVar

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import with_body
from tidelog.algorithms.layers import Support, maintain
from tidelog.algorithms.update import Outcome, Update
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


def backward_forward(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change."""
    return maintain(update, decrease)


def decrease(support: Support[F], lost: F, work: Work) -> F:
    """The facts that are gone."""
    search, N = Search(support, work), lost
    O, rest = search.nothing, support.I  # rest: I - O
    while N:
        work.check()
        work.rounds += 1
        N = search.check(N)
        remaining, before = rest - N, work.derivations
        heads = support.engine.derive_pivoted(support.rules, remaining, N, rest, support.negated, work)
        work.count("Del", work.derivations - before)
        O, rest = O | N, remaining
        N = heads - O - search.P
    work.count("C", len(search.C) + len(search.seen - search.C))
    return O


class Search(Generic[F]):
    """Which facts still have a proof; remembers what it found out."""

    def __init__(self, support: Support[F], work: Work) -> None:
        self.support = support
        self.work = work
        self.guarded = _guarded(support.rules)
        nothing = support.engine.fact_set(())
        self.nothing = nothing
        self.C = self.P = self.V = self.Y = self.S = nothing
        self.unused = nothing  # P - V
        limits = tuning.CANDIDATE_LIMITS
        self.windows = list(zip((0, *limits), (*limits, None), strict=True))
        self.seen = nothing  # explicit facts that proved others in one step; they were not checked themselves

    def check(self, N: F) -> F:
        """Decide whether facts not in P are provable, so that each is in P or in S: those that are not."""
        known = N & self.S
        sought = self._look_at(N - known)
        if sought:
            sought = sought - self._saturate()
        active = Q = sought
        level, waiting = 0, [self.nothing for _ in self.windows]
        sources = self.support.I - self.S
        while sought:
            if not active:
                level, active = self._next(waiting)
            if not active:
                self.S = self.S | Q
                break
            self.work.check()
            bodies, unfinished = self._backward(active, level, sources)
            if unfinished:
                waiting[level + 1] = waiting[level + 1] | unfinished
            level, active = 0, bodies - Q - self.P
            if active:
                active = self._look_at(active)
                proved = self._saturate()
                sought, active, Q = sought - proved, active - proved, (Q | active) - proved
        return known | sought

    def _next(self, waiting: list[F]) -> tuple[int, F]:
        """Those that wait for the narrowest window and are still not proved, if there are any."""
        for level, facts in enumerate(waiting):
            if facts:
                waiting[level] = self.nothing
                if active := facts - self.P:
                    return level, active
        return 0, self.nothing

    def _backward(self, active: F, level: int, sources: F) -> tuple[F, F]:
        """The facts from which rules could derive the active ones, and those that have more candidates."""
        before = self.work.derivations
        found = self.support.engine.supports(
            self.guarded, active, sources, self.support.negated, *self.windows[level], self.work
        )
        self.work.count("Bwd", self.work.derivations - before)
        return found

    def _look_at(self, new: F) -> F:
        """Check facts; those that are not seen to be proved at once."""
        self.C = self.C | new
        proved = self.support.axioms(new, self.work) | (new & self.Y)
        rest = new - proved
        if rest:
            at_sight, rest = self._at_sight(rest)
            proved = proved | at_sight
        self.P, self.unused = self.P | proved, self.unused | proved
        return rest

    def _at_sight(self, new: F) -> tuple[F, F]:
        """Those that follow from explicit facts in one step, and the others."""
        before, support = self.work.derivations, self.support
        proved, rest, bodies = support.engine.proofs(self.guarded, new, support.E, support.negated, self.work)
        self.work.count("Bwd", self.work.derivations - before)
        self.seen = self.seen | bodies
        return proved, rest

    def _saturate(self) -> F:
        """Forward from proved facts: all that follows among the checked ones is proved. What is proved by this."""
        before, support, proved = self.work.derivations, self.support, self.nothing
        while N := self.unused:
            self.work.check()
            heads = support.engine.derive_pivoted(support.rules, self.V, N, self.P, support.negated, self.work)
            checked = heads & self.C
            self.Y = self.Y | (heads - checked)
            self.unused = checked - self.P
            self.V, self.P, proved = self.P, self.P | self.unused, proved | self.unused
        self.work.count("Sat", self.work.derivations - before)
        return proved


@lru_cache(maxsize=64)
def _guarded(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Each rule with each of its heads put in front of its body."""
    return tuple(with_body(r, h) for r in rules for h in r.heads)
