"""How high the lowest proof of a fact is: backwards to what may support it, forwards from what needs no proof.

    height    0 for explicit facts and axioms, else one more than the highest premise

    backward  S0 = the fact,  S(d+1) = bodies of H <- H[S(d)], B1[I] .. Bn[I], without what needs no proof
    forward   L0 = what needs no proof among the bodies,  L(j+1) = H[C] <- B1[L0 | .. | L(j)] ..      C = S0 | .. | S(d)

A proof of height d + 1 has only facts of C above its leaves, so if the forward rounds reach the fact in at most d + 1
rounds, the number of rounds is its height exactly. Of the last S(d) only bodies that need no proof are of use, so there
the backward step reads those and not I. Both steps work on whole sets: a fact with thousands of supports costs a few
joins, and the facts of each round say where proofs of that height are to be found (`shortest`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Generic, TypeVar

from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.errors import LimitError
from tidelog.explain.groups import Group, groups_of
from tidelog.explain.subject import Subject
from tidelog.model.facts import Fact

F = TypeVar("F", bound=FactSet)

MOST = 5_000_000  # facts looked at for one proof
_MANY_ROUNDS = 16  # from which on it pays to have the height of each fact at hand
_EACH = 6  # depths up to which every one is tried; deeper ones are tried when they are a quarter more


@dataclass
class Heights(Generic[F]):
    """The facts of each height, among those that were looked at; and the groups of those that aggregates gave."""

    rounds: list[F]
    groups: dict[Fact, list[Group]]

    @cached_property
    def up_to(self) -> list[F]:
        """The facts of each height and all lower ones."""
        return list(accumulate(self.rounds, or_))

    def of(self, collected: F) -> dict[Fact, int]:
        """How high some facts are; those that were not looked at are absent."""
        if len(self.rounds) > _MANY_ROUNDS:
            return {fact: self._known[fact] for fact in collected if fact in self._known}
        return {fact: height for height, some in enumerate(self.rounds) for fact in collected & some}

    @cached_property
    def _known(self) -> dict[Fact, int]:
        return {fact: height for height, some in enumerate(self.rounds) for fact in some}


@dataclass
class _Search(Generic[F]):
    """The backward part: what was seen."""

    subject: Subject[F]
    most: int
    C: F  # facts to be derived
    leaves: F  # bodies that need no proof
    groups: dict[Fact, list[Group]] = field(default_factory=dict)
    work: Work = field(default_factory=Work)

    def bodies(self, facts: F, read: F) -> F:
        found, _ = self.subject.engine.supports(
            self.subject.index.guarded, facts, read, self.subject.I, 0, None, self.work
        )
        if len(found) + len(self.C) > self.most:
            raise LimitError(
                f"more than {self.most:,} facts may support this one; "
                "raise `most`, or explain a fact that is closer to the explicit ones"
            )
        return found

    def group_facts(self, facts: F) -> F:
        """The facts of the groups that some facts were computed from."""
        names = {h.predicate for n in self.subject.index.aggregates for h in n.rule.heads}
        for name in names & facts.predicates().keys() if names else ():
            self.groups |= {f: list(groups_of(self.subject, f)) for f in facts.only(name) if f not in self.groups}
        asked = (f for f in facts) if self.groups else iter(())
        return self.subject.engine.collect(p for f in asked for g in self.groups.get(f, ()) for p in g.premises)

    def rounds(self, goal: F, leaves: F, most: int | None) -> list[F]:
        """The forward part: what can be derived in so many rounds, up to the one that has the goal."""
        subject, nothing = self.subject, self.subject.engine.collect(())
        found, known, before, new = [leaves], leaves, nothing, leaves
        while not goal & new and (most is None or len(found) <= most):
            heads = subject.engine.derive_pivoted(subject.index.plain, before, new, known, subject.I, self.work)
            heads = heads | self._complete(known)
            if len(found) == 1:
                heads = heads | subject.unconditional
            before, new = known, (heads & self.C) - known
            if not new:
                break
            known = known | new
            found.append(new)
        return found

    def _complete(self, known: F) -> F:
        """The facts of aggregates all of whose group is known."""
        collect = self.subject.engine.collect
        return collect(f for f, gs in self.groups.items() for g in gs if not collect(g.premises) - known)


def least_heights(subject: Subject[F], fact: Fact, most: int = MOST) -> Heights[F]:
    """What the lowest proofs of a fact that holds are made of, by height; it is itself in the last round."""
    goal, nothing = subject.one(fact), subject.engine.collect(())
    if goal & subject.ground:
        return Heights([goal], {})
    search = _Search(subject, most, goal, nothing)
    S, depth = goal, 0
    while S:
        more = search.group_facts(S)
        if _is_tried(depth):
            leaves = search.leaves | search.bodies(S, subject.ground) | (more & subject.ground)
            rounds = search.rounds(goal, leaves, depth + 1)
            if goal & rounds[-1]:
                return Heights(rounds, search.groups)
        bodies = search.bodies(S, subject.I) | more
        search.leaves = search.leaves | (bodies & subject.ground)
        S = bodies - subject.ground - search.C
        search.C = search.C | S
        depth += 1
    return Heights(search.rounds(goal, search.leaves, None), search.groups)


def _is_tried(depth: int) -> bool:
    """Trying costs a round for each level so far, so of large depths only some are tried."""
    tried = _EACH
    while tried < depth:
        tried += max(1, tried // 4)
    return depth <= _EACH or tried == depth
