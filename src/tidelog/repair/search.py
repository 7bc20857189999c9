"""Smallest sets of explicit facts that break every proof of a fact: a hitting set tree, lightest sets first.

    S = nothing;  as long as a proof is left without S: whatever breaks it must hold one of its leaves, so try S with
    each of them

Sets are taken in the order of their weight, then of their size. A set that holds one found before is passed over, so
each that is found is minimal: no part of it would do. With negation or aggregates a proof is also broken by what newly
follows; there the facts are derived again for every S, and what may unsettle the proof is tried besides its leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar

from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.errors import LimitError
from tidelog.explain.subject import Subject
from tidelog.model.facts import Fact
from tidelog.repair.support import Broken, support
from tidelog.repair.unsettling import Unsettling, is_delicate

if TYPE_CHECKING:
    from tidelog.algorithms.layers import Program

F = TypeVar("F", bound=FactSet)

Set = frozenset[Fact]


@dataclass
class Search(Generic[F]):
    """The search for one fact; `stuck` is the first proof that nothing breaks, `ended` says that all was tried."""

    subject: Subject[F]
    program: Program
    goal: Fact
    is_kept: Callable[[Fact], bool]
    weight: Callable[[Fact], float]
    most: int
    stuck: Broken | None = None
    ended: bool = False
    tried: int = 0
    found: list[Set] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.unsettling = Unsettling(self.subject)
        self.delicate = is_delicate(self.subject.index, self.goal)
        self._whole = support(self.subject, self.goal)

    def sets(self) -> Iterator[Set]:
        """Every minimal set, lightest first; ends early when too many were tried."""
        queue: list[tuple[float, int, list[Fact]]] = [(0, 0, [])]
        met: set[Set] = {frozenset()}
        while queue:
            weight, size, facts = heappop(queue)
            S = frozenset(facts)
            if any(each <= S for each in self.found):
                continue
            self.tried += 1
            if self.tried > self.most:
                return
            broken = self.proof(S)
            if broken is None:
                self.found.append(S)
                yield S
                continue
            for fact in self._breaking(broken) - S:
                larger = S | {fact}
                if larger not in met:
                    met.add(larger)
                    heappush(queue, (weight + self.weight(fact), size + 1, sorted(larger)))
        self.ended = not self.unsettling.overlooked

    def _breaking(self, broken: Broken) -> Set:
        """Facts of which any set that breaks the proof holds one."""
        more = self.unsettling.facts(broken.delicate) if broken.delicate else frozenset()
        breaking = broken.leaves | {f for f in more if not self.is_kept(f)}
        if not breaking and self.stuck is None:
            self.stuck = broken
        return breaking

    def proof(self, S: Set) -> Broken | None:
        """A proof that is left without S."""
        if not self.delicate or not S:
            return self._whole.proof(S, self.is_kept)
        after = self._without(S)
        return support(after, self.goal).proof(frozenset(), self.is_kept) if after.holds(self.goal) else None

    def _without(self, S: Set) -> Subject[F]:
        """Everything derived again, incrementally."""
        before = self.subject
        gone = before.engine.collect(S) & before.E
        E, nothing = before.E - gone, before.engine.collect(())
        I = ALGORITHMS["bf"](before.engine, self.program, E, before.I, gone, nothing, Work(), None).I
        return Subject(before.engine, E, I, before.rules, before.prefixes)

    def check(self) -> None:
        """Refuse to have found nothing for want of trying."""
        if not self.found and not self.ended and self.tried > self.most:
            raise LimitError(
                f"no repair among the first {self.most:,} sets of facts that were tried; raise max_tries, "
                "or say with keep which facts shall stay"
            )
