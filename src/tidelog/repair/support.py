"""The support of a fact: every rule instance that one of its proofs may use, and the proof that is easiest to break.

Backwards from the fact, set at a time, as long as there are facts that were not met. Within that, Knuth's
generalisation of Dijkstra's algorithm finds a proof with fewest removable leaves (counted each time they occur):

    cost of an explicit fact    1, or 0 if it is to be kept
    cost of an instance         the sum of its premises
    cost of a fact              the least of these
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.errors import LimitError
from tidelog.explain.groups import group_value
from tidelog.explain.subject import VALUE, Subject, Way, ground_atom, premises
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.syntax import Atom, Variable

F = TypeVar("F", bound=FactSet)

MOST = 200_000  # instances in the support of one fact


@dataclass(frozen=True)
class Instance:
    """A rule with values. Of an aggregate rule all matches of a group are one instance."""

    head: Fact
    way: Way
    premises: frozenset[Fact]
    absent: tuple[Atom, ...] = ()  # what it takes not to hold; a variable left in it stands for anything


@dataclass(frozen=True)
class Broken:
    """What breaks a proof: leaves that may be removed, and steps that also other removals may undo."""

    leaves: frozenset[Fact]
    kept: frozenset[Fact]
    delicate: tuple[Instance, ...]


@dataclass
class Support:
    """The instances, and the explicit facts among what they are made of."""

    goal: Fact
    explicit: Set[Fact]
    instances: list[Instance] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._uses: dict[Fact, list[int]] = {}
        for number, instance in enumerate(self.instances):
            for premise in instance.premises:
                self._uses.setdefault(premise, []).append(number)

    def proof(self, removed: Set[Fact], is_kept: Callable[[Fact], bool]) -> Broken | None:
        """A proof that is left when some explicit facts are removed, or None."""
        best = self._best(removed, is_kept)
        if self.goal not in best:
            return None
        leaves, steps, waiting = set(), [], [self.goal]
        seen = {self.goal}
        while waiting:
            fact = waiting.pop()
            step = best[fact]
            if step is None:
                leaves.add(fact)
                continue
            steps.append(step)
            waiting += step.premises - seen
            seen |= step.premises
        kept = frozenset(filter(is_kept, leaves))
        delicate = tuple(s for s in steps if s.absent or s.way.rule.aggregate is not None)
        return Broken(frozenset(leaves - kept), kept, delicate)

    def _best(self, removed: Set[Fact], is_kept: Callable[[Fact], bool]) -> dict[Fact, Instance | None]:
        """For each fact that still follows, the last step of its cheapest proof; None for one that is explicit."""
        best: dict[Fact, Instance | None] = {}
        cost: dict[Fact, int] = {}
        missing = [len(i.premises) for i in self.instances]
        queue = [(0 if is_kept(f) else 1, -1, f) for f in self.explicit if f not in removed]
        queue += [(0, n, i.head) for n, i in enumerate(self.instances) if not i.premises]
        queue.sort()
        while queue:
            price, number, fact = heappop(queue)
            if fact in best:
                continue
            best[fact], cost[fact] = (self.instances[number] if number >= 0 else None), price
            for use in self._uses.get(fact, ()):
                missing[use] -= 1
                if not missing[use]:
                    instance = self.instances[use]
                    heappush(queue, (sum(cost[p] for p in instance.premises), use, instance.head))
        return best


def support(subject: Subject[F], goal: Fact, most: int = MOST) -> Support:
    """All that a fact rests on, directly or not."""
    engine = subject.engine
    instances: list[Instance] = []
    explicit: set[Fact] = set()
    met = frontier = engine.collect((goal,))
    while frontier:
        explicit.update(frontier & subject.E)
        found = list(_instances(subject, frontier, most - len(instances)))
        instances += found
        met = met | frontier
        frontier = engine.collect({p for i in found for p in i.premises}) - met
    return Support(goal, explicit, instances)


def _instances(subject: Subject[F], facts: F, most: int) -> Iterator[Instance]:
    """The instances that derive one of the facts; too many are refused."""
    count = 0
    for way in (w for name in facts.predicates() for w in subject.index.named(name)):
        if not facts.may_match(way.head) or not all(subject.I.may_match(a) for a in way.rule.atoms):
            continue
        for instance in _of_way(subject, way, facts, most - count + 1):
            yield instance
            count += 1
            if count > most:
                raise LimitError(
                    f"the fact can rest on more than {most:,} rule instances; that is too much for a repair to be found"
                )


def _of_way(subject: Subject[F], way: Way, facts: F, limit: int) -> Iterator[Instance]:
    if way.rule.aggregate is not None:
        yield from _groups(subject, way, facts)
        return
    for binding in subject.instances(way, facts, subject.I, limit):
        absent = tuple(_partly_ground(n.atom, binding) for n in way.rule.negations)
        yield Instance(ground_atom(way.head, binding), way, frozenset(premises(way.rule, binding)), absent)


def _groups(subject: Subject[F], way: Way, facts: F) -> Iterator[Instance]:
    """An instance for each fact that is the value of its group."""
    matches: dict[Fact, list[dict[Variable, Term]]] = {}
    for binding in subject.instances(way, facts, subject.I):
        matches.setdefault(ground_atom(way.head, binding), []).append(binding)
    at = way.head.args.index(VALUE)
    for head, group in matches.items():
        if group_value(way, list(group)) == head.args[at]:
            below = frozenset(p for m in group for p in premises(way.rule, m))
            absent = {_partly_ground(n.atom, m): None for m in group for n in way.rule.negations}
            yield Instance(head, way, below, tuple(absent))


def _partly_ground(atom: Atom, binding: dict[Variable, Term]) -> Atom:
    return Atom(atom.predicate, tuple(binding.get(a, a) if isinstance(a, Variable) else a for a in atom.args))
