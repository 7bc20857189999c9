"""Lightest sets of explicit facts that break every proof of a fact: a hitting set tree, searched by A*.

    S = {};  while a proof remains without S: every set that breaks it contains one of its leaves, so try S + each leaf

Proofs that share no leaf need one fact each, so the sum of their lightest leaves is a lower bound for the weight that S
lacks. Sets are expanded in the order of weight plus bound (A*), so they are found in the order of their weight. A set
that contains a set found before is skipped, so every set found is minimal.

With negation or aggregates, a new fact may break a proof too. Then the facts are derived again for every S, the facts
of `NonmonotoneCauses` are tried besides the leaves, and there is no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic

from tidelog.algebra.engine import Work
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import RuleChange, Update
from tidelog.errors import LimitError
from tidelog.explain.explained_version import ExplainedVersion, F
from tidelog.explain.repair.support import NonmonotoneCauses, RemainingProof, is_nonmonotone, support
from tidelog.model.terms import Fact

Set = frozenset[Fact]

_MOST_PROOFS = 100  # disjoint proofs that are used for a lower bound


@dataclass
class RepairSearch(Generic[F]):
    """The search for one fact. `unbreakable`: the first proof that no set breaks. `ended`: all sets were tried."""

    explained: ExplainedVersion[F]
    program: RuleChange
    goal: Fact
    is_kept: Callable[[Fact], bool]
    weight: Callable[[Fact], float]
    most: int
    unbreakable: RemainingProof | None = None
    ended: bool = False
    tried: int = 0
    found: list[Set] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nonmonotone_causes = NonmonotoneCauses(self.explained)
        self.nonmonotone = is_nonmonotone(self.explained.index, self.goal)
        self._whole = support(self.explained, self.goal, self.is_kept)

    def sets(self) -> Iterator[Set]:
        """Yield every minimal set, lightest first. Ends early when `most` sets were tried."""
        queue: list[tuple[float, float, list[Fact]]] = [(0, 0, [])]  # lower bound, negative weight, set
        met: set[Set] = {frozenset()}
        known: dict[Set, list[RemainingProof]] = {}
        inherited: dict[Set, list[RemainingProof]] = {}
        while queue:
            bound, weight, facts = heappop(queue)
            S = frozenset(facts)
            if any(each <= S for each in self.found):
                continue
            if S not in known:
                self.tried += 1
                if self.tried > self.most:
                    return
                known[S] = self._disjoint(S, inherited.pop(S, []))
                better = self._lacking(known[S]) - weight
                if better > bound:
                    heappush(queue, (better, weight, facts))
                    continue
            proofs = known.pop(S)
            if not proofs:
                self.found.append(S)
                yield S
                continue
            for fact in self._breaking(proofs[0]) - S:
                larger = S | {fact}
                if larger not in met:
                    met.add(larger)
                    inherited[larger] = proofs[1:]  # these proofs do not contain the fact
                    heavier = weight - self.weight(fact)
                    heappush(queue, (max(bound, -heavier), heavier, sorted(larger)))
        self.ended = not self.nonmonotone_causes.overlooked

    def _disjoint(self, S: Set, some: list[RemainingProof]) -> list[RemainingProof]:
        """Proofs that remain without S and share no leaf, including `some`; only one if more would not give a bound."""
        proofs = list(some)
        used = S.union(*(p.leaves for p in some))
        while (remaining := self.proof(used)) is not None:
            proofs.append(remaining)
            if self.nonmonotone or not remaining.leaves or len(proofs) == _MOST_PROOFS:
                break
            used = used | remaining.leaves
        return proofs

    def _lacking(self, proofs: list[RemainingProof]) -> float:
        """A lower bound for the weight of a set that breaks all these proofs."""
        return 0 if self.nonmonotone else sum(min(map(self.weight, p.leaves), default=0) for p in proofs)

    def _breaking(self, remaining: RemainingProof) -> Set:
        """Every set that breaks this proof contains at least one of these facts."""
        more = self.nonmonotone_causes.facts(remaining.nonmonotone) if remaining.nonmonotone else frozenset()
        breaking = remaining.leaves | {f for f in more if not self.is_kept(f)}
        if not breaking and self.unbreakable is None:
            self.unbreakable = remaining
        return breaking

    def proof(self, S: Set) -> RemainingProof | None:
        """A proof that remains without S, or None."""
        if not self.nonmonotone or not S:
            return self._whole.proof(S)
        after = self._without(S)
        return support(after, self.goal, self.is_kept).proof(frozenset()) if after.holds(self.goal) else None

    def _without(self, S: Set) -> ExplainedVersion[F]:
        """The version without the explicit facts S, computed incrementally."""
        before = self.explained
        gone = before.engine.fact_set(S) & before.E
        E, nothing = before.E - gone, before.engine.fact_set(())
        I = ALGORITHMS["bf"](Update(before.engine, self.program, E, before.I, gone, nothing, Work())).I
        return ExplainedVersion(before.engine, E, I, before.rules, before.prefixes)

    def check(self) -> None:
        """Raise LimitError if the search ended early and found nothing."""
        if not self.found and not self.ended and self.tried > self.most:
            raise LimitError(
                f"no repair among the first {self.most:,} sets of facts that were tried; raise max_tries, "
                "or say with keep which facts shall stay"
            )
