"""What a change took from a fact: the support it had before, and what of that is gone.

A proof of the version before is broken where an explicit fact is no longer explicit, a rule is gone, a negated atom has
a match now, or an aggregate gives something else. A proof that is broken nowhere is still a proof, so one of a fact
that is gone is broken somewhere; everything above that place may have gone with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.explain.absence import has_match
from tidelog.explain.every import steps_to
from tidelog.explain.groups import groups_of
from tidelog.explain.names import Named
from tidelog.explain.proof import Node, Proof
from tidelog.explain.text import atom_text
from tidelog.model.facts import Fact
from tidelog.rules.syntax import Atom, Negation, Rule

F = TypeVar("F", bound=FactSet)

MOST_SUPPORTS = 1_000  # rule instances of one fact that are compared


@dataclass(frozen=True)
class Version(Generic[F]):
    """One version: its facts, and its rules as users gave them."""

    named: Named[F]
    rules: tuple[Rule, ...]

    @cached_property
    def keys(self) -> set[str]:
        return {rule.key for rule in self.rules}

    def has(self, fact: Fact) -> bool:
        return self.named.subject.holds(self.named.stored(fact))


@dataclass(frozen=True)
class Causes(Generic[F]):
    """What is no longer as a proof of an older version says."""

    old: Version[F]
    new: Version[F]

    def of(self, node: Node) -> str:
        """Why one step is no longer right, if so; what its premises are is not asked."""
        if node.kind == "explicit":
            return "" if self.new.named.subject.one(node.fact) & self.new.named.asserted else "no longer explicit"
        if node.kind == "names":
            stored = {self.new.named.stored(n.fact) for n in (node, *node.premises)}
            return "" if len(stored) < 2 and self._is_same(node) else "no longer the same"
        if node.numbered is not None and self.old.rules[node.numbered.number - 1].key not in self.new.keys:
            return "the rule was removed"
        if node.kind == "aggregate":
            return "" if self._is_given(node) else "the aggregate gives something else now"
        return "; ".join(f"there is {atom_text(a, self.new.named.subject.prefixes)} now" for a in self._blocking(node))

    def _is_same(self, node: Node) -> bool:
        """A leaf that says which names are equal holds as long as they are."""
        if node.premises:
            return True
        return len({self.new.named.stored(Fact("", (t,))) for t in node.fact.args}) == 1

    def _is_given(self, node: Node) -> bool:
        assert node.numbered is not None
        given = groups_of(self.new.named.subject, self.new.named.stored(node.fact))
        return any(g.way.rule.key == node.numbered.rule.key for g in given)

    def _blocking(self, node: Node) -> Iterator[Atom]:
        """The negated atoms that have a match now."""
        for check in node.checks:
            if isinstance(check, Negation) and has_match(self.new.named.subject, check.atom):
                yield check.atom

    def marked(self, proof: Proof) -> Proof:
        """An old proof with remarks on what is gone."""
        marks = {}
        for node in proof.nodes:
            cause = self.of(node)
            if cause or not self.new.has(node.fact):
                marks[node] = cause or "gone with it"
        return replace(proof, marks=marks)

    def causes(self, proof: Proof) -> dict[Node, str]:
        """The steps of an old proof at which it is broken."""
        return {node: cause for node in proof.nodes if (cause := self.of(node))}

    def lost_supports(self, fact: Fact) -> list[Node]:
        """The rule instances (and the assertion) that the fact had before and has no longer, one step each."""
        stored, subject = self.old.named.stored(fact), self.old.named.subject
        nodes = [Node(fact, "explicit")] if subject.one(fact) & self.old.named.asserted else []
        for step in islice(steps_to(subject, stored), MOST_SUPPORTS):
            below = {p: Node(p, "explicit") for p in step.premises}  # only their facts matter here
            nodes.append(step.node(stored, below))
        return [n for n in nodes if self.of(n) or self.missing(n)]

    def missing(self, node: Node) -> list[Fact]:
        """The premises of a step that are gone. An aggregate may give the same without some of its group."""
        return [] if node.kind == "aggregate" else [p.fact for p in node.premises if not self.new.has(p.fact)]
