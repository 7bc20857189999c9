"""A proof of least height, made from the facts of each height.

Of the instances that lead to a fact from lower facts (at most 8 of each rule) one is taken whose premises are lowest
in sum, then one with fewest premises, then the first rule. So the height of the whole, and of every part, is the least
there is; the number of steps need not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.explain.groups import Group
from tidelog.explain.heights import MOST, Heights, least_heights
from tidelog.explain.proof import Node
from tidelog.explain.subject import Binding, Subject, Way, ground_atom, premises
from tidelog.model.facts import Fact

F = TypeVar("F", bound=FactSet)

_CANDIDATES = 8  # instances of one rule to choose from


@dataclass(frozen=True)
class Step:
    """How a fact is derived: by an instance of a rule, or by all matches of a group."""

    way: Way
    binding: Binding
    premises: tuple[Fact, ...]
    group: Group | None = None

    def node(self, fact: Fact, nodes: dict[Fact, Node]) -> Node:
        below = tuple(nodes[p] for p in self.premises)
        kind = "rule" if self.group is None else "aggregate"
        return Node(fact, kind, self.way.numbered, self.binding, below, self.group)  # type: ignore[arg-type]


def shortest(subject: Subject[F], fact: Fact, most: int = MOST) -> Node:
    """The proof of a fact that holds."""
    heights = least_heights(subject, fact, most)
    used: list[dict[Fact, Step | None]] = [{} for _ in heights.rounds]  # facts of each height
    used[-1][fact] = None
    for height in range(len(used) - 1, 0, -1):
        for each in used[height]:
            used[height][each], below = _step(subject, each, heights, heights.up_to[height - 1])
            for premise, lower in below.items():
                used[lower].setdefault(premise)
    nodes: dict[Fact, Node] = {}
    for each, step in (item for some in used for item in some.items()):
        nodes[each] = leaf(subject, each) if step is None else step.node(each, nodes)
    return nodes[fact]


def _step(subject: Subject[F], fact: Fact, heights: Heights[F], lower: F) -> tuple[Step, dict[Fact, int]]:
    """The best step to a fact, and how high its premises are."""
    steps = list(_steps(subject, fact, heights, lower))
    facts = {p for s in steps for p in s.premises}
    known = dict.fromkeys(facts, 0) if lower is heights.rounds[0] else heights.of(subject.engine.collect(facts))
    best = min(steps, key=lambda s: (sum(known[p] for p in s.premises), len(s.premises), s.way.numbered.number))
    return best, {p: known[p] for p in best.premises}


def _steps(subject: Subject[F], fact: Fact, heights: Heights[F], lower: F) -> Iterator[Step]:
    """Some of the steps that lead to a fact from lower ones."""
    for way in subject.index.ways(fact):
        if way.rule.aggregate is None and all(lower.may_match(a) for a in way.rule.atoms):
            for binding in subject.steps(way, fact, lower, _CANDIDATES):
                yield Step(way, binding, premises(way.rule, binding))
    highest = {p for g in heights.groups.get(fact, ()) for p in g.premises}
    there = set(subject.engine.collect(highest) & lower) if highest else set()
    for group in heights.groups.get(fact, ()):
        if there.issuperset(group.premises):
            yield Step(group.way, {}, group.premises, group)


def leaf(subject: Subject[F], fact: Fact) -> Node:
    """A fact that needs no proof."""
    if not subject.index.axioms or subject.one(fact) & subject.E:
        return Node(fact, "explicit")
    ways = (w for w in subject.index.ways(fact) if not w.rule.body and ground_atom(w.head, {}) == fact)
    return Node(fact, "axiom", next(ways).numbered)
