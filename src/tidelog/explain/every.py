"""All proofs of a fact, lowest first.

A proof is a tree in which no fact stands below itself; two proofs differ if somewhere a fact has another rule, or the
same rule with other values. An explicit fact that rules derive too has both kinds of proof. A fact that a rule instance
needs twice has one proof there. For each height in turn the trees of that height are built, premise by premise; what
cannot be proved within a height at all is known after the first look. Within a height smaller trees come first, as far
as they are found before the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.errors import LimitError
from tidelog.explain.groups import groups_of
from tidelog.explain.proof import Node, Proof
from tidelog.explain.shortest import Step, leaf
from tidelog.explain.subject import Subject, premises
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.syntax import Rule, Variable

F = TypeVar("F", bound=FactSet)

MOST_STEPS = 1_000_000  # instances and trees looked at
_HIGHEST = 150  # trees are built recursively


@dataclass
class _Trees(Generic[F]):
    subject: Subject[F]
    looked_at: int = 0
    cut: bool = False  # whether a tree was given up only because it would have been too high
    _leaves: dict[Fact, Node] = field(default_factory=dict)
    _steps: dict[Fact, list[Step]] = field(default_factory=dict)
    _within: dict[tuple[Fact, int], bool] = field(default_factory=dict)

    def of(self, fact: Fact, height: int, path: frozenset[Fact]) -> Iterator[Node]:
        """The trees for a fact that are at most so high, and have no fact of the path."""
        steps = self.steps(fact)
        if fact in self._leaves:
            yield self._leaves[fact]
        if height == 0:
            self.cut = self.cut or bool(steps)
            return
        path = path | {fact}
        for step in steps:
            facts = list(dict.fromkeys(step.premises))
            if path.isdisjoint(facts) and all(self._is_within(p, height - 1) for p in facts):
                for below in self._all(facts, height - 1, path):
                    self._look()
                    yield step.node(fact, below)

    def _all(self, facts: Sequence[Fact], height: int, path: frozenset[Fact]) -> Iterator[dict[Fact, Node]]:
        """A tree for each of the facts, in all combinations."""
        if not facts:
            yield {}
            return
        for node in self.of(facts[0], height, path):
            for others in self._all(facts[1:], height, path):
                yield {facts[0]: node, **others}

    def _is_within(self, fact: Fact, height: int) -> bool:
        """Whether a fact has a proof of that height, whatever stands above it."""
        known = self._within.get((fact, height))
        if known is None:
            steps = self.steps(fact)
            known = fact in self._leaves or (
                height > 0 and any(all(self._is_within(p, height - 1) for p in s.premises) for s in steps)
            )
            self._within[fact, height] = known
        self.cut = self.cut or not known
        return known

    def steps(self, fact: Fact) -> list[Step]:
        """All ways to derive a fact."""
        if fact not in self._steps:
            guard = self.subject.one(fact)
            if guard & self.subject.ground:
                self._leaves[fact] = leaf(self.subject, fact)
            self._steps[fact] = found = []
            for step in steps_to(self.subject, fact, MOST_STEPS - self.looked_at):
                self._look()
                found.append(step)
        return self._steps[fact]

    def _look(self) -> None:
        self.looked_at += 1
        if self.looked_at >= MOST_STEPS:
            raise LimitError(
                f"more than {MOST_STEPS:,} steps were looked at for proofs; ask for fewer proofs, or for one"
            )


def every(subject: Subject[F], fact: Fact, limit: int) -> list[Node]:
    """At most `limit` proofs of a fact that holds."""
    trees, found = _Trees(subject), list[Node]()
    for height in range(_HIGHEST):
        trees.cut = False
        new = (node for node in trees.of(fact, height, frozenset()) if node.height == height)
        found += sorted(islice(new, limit - len(found)), key=lambda node: Proof(node).size)
        if len(found) == limit or not trees.cut:
            return found
    raise LimitError(f"some proofs are higher than {_HIGHEST} steps; ask for {len(found)} or fewer")


def steps_to(subject: Subject[F], fact: Fact, limit: int | None = None) -> Iterator[Step]:
    """All ways to derive a fact in one step, at most `limit` of each rule."""
    seen = set[tuple[Rule, tuple[tuple[Variable, Term], ...]]]()
    for way in subject.index.ways(fact):
        if way.rule.aggregate is None and way.rule.body:
            for binding in subject.steps(way, fact, subject.I, limit):
                known = way.rule, tuple(sorted(binding.items(), key=lambda item: item[0].name))
                if known not in seen:  # a rule with two heads may give the fact twice
                    seen.add(known)
                    yield Step(way, binding, premises(way.rule, binding))
    for group in groups_of(subject, fact):
        yield Step(group.way, {}, group.premises, group)
