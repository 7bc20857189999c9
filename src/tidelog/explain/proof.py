"""Proofs: trees of rule instances down to facts that need no proof. Equal parts of a tree may be one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as OneOf

from tidelog.explain.groups import Group
from tidelog.explain.subject import Binding, Numbered
from tidelog.model.facts import Fact
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Variable,
)

Kind = OneOf["explicit", "axiom", "rule", "aggregate", "names"]

NO_BINDING: Binding = {}


@dataclass(frozen=True, eq=False)
class Node:
    """A fact and why it holds.

    explicit   it was asserted                       axiom   a rule without a body says so
    rule       an instance of a rule                 aggregate   all matches of a group
    names      another fact, about other names of the same things (`equal`: pairs of such names)
    """

    fact: Fact
    kind: Kind
    numbered: Numbered | None = None
    binding: Binding = field(default_factory=lambda: NO_BINDING)
    premises: tuple[Node, ...] = ()
    group: Group | None = None
    equal: tuple[tuple[str, str], ...] = ()
    height: int = field(init=False, repr=False)  # 0 for what needs no proof, else one more than the highest premise

    def __post_init__(self) -> None:
        """Known from the start, for proofs may be deeper than Python recurses; other names are no step."""
        step = int(self.kind in ("rule", "aggregate"))
        object.__setattr__(self, "height", step + max((p.height for p in self.premises), default=0))

    @property
    def checks(self) -> tuple[Literal, ...]:
        """The literals of the rule that are no facts, with their values: what is absent, compared or computed."""
        if self.kind != "rule" or self.numbered is None:
            return ()
        others = (b for b in self.numbered.rule.body if not isinstance(b, Atom))
        return tuple(grounded(b, self.binding) for b in others)


@dataclass(frozen=True)
class Proof:
    """A proof of a fact; `marks` are remarks on some of its nodes."""

    root: Node
    marks: Mapping[Node, str] = field(default_factory=dict)

    @property
    def fact(self) -> Fact:
        return self.root.fact

    @property
    def height(self) -> int:
        return self.root.height

    @cached_property
    def size(self) -> int:
        """How many rule instances the tree has, each time they occur."""
        sizes: dict[Node, int] = {}
        for node in self.bottom_up:
            sizes[node] = (node.kind in ("rule", "aggregate")) + sum(sizes[p] for p in node.premises)
        return sizes[self.root]

    @cached_property
    def nodes(self) -> list[Node]:
        """Every node once, from the top, in the order of a tree."""
        found: dict[Node, None] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = None
                waiting += reversed(node.premises)
        return list(found)

    @property
    def bottom_up(self) -> list[Node]:
        """Every node once, each after its premises."""
        found: dict[Node, None] = {}
        waiting = [(self.root, False)]
        while waiting:
            node, is_ready = waiting.pop()
            if is_ready:
                found[node] = None
            elif node not in found:
                waiting += [(node, True), *((p, False) for p in node.premises)]
        return list(found)

    def leaves(self) -> list[Fact]:
        """The explicit facts it rests on, each once."""
        return list(dict.fromkeys(n.fact for n in self.nodes if n.kind == "explicit"))

    def rules(self) -> list[Numbered]:
        """The rules it uses, in their order."""
        return sorted({n.numbered.number: n.numbered for n in self.nodes if n.numbered}.values())


def grounded(literal: Literal, binding: Binding) -> Literal:
    """A literal with its values; what has none stays a variable."""
    if isinstance(literal, Atom):
        return _atom(literal, binding)
    if isinstance(literal, Negation):
        return Negation(_atom(literal.atom, binding))
    if isinstance(literal, Assignment):
        value = binding.get(literal.variable, literal.variable)
        return Condition(Call("=", (value, _expression(literal.expression, binding))))
    return Condition(_expression(literal.expression, binding))


def _atom(atom: Atom, binding: Binding) -> Atom:
    return Atom(atom.predicate, tuple(binding.get(a, a) if isinstance(a, Variable) else a for a in atom.args))


def _expression(expression: Expression, binding: Binding) -> Expression:
    if isinstance(expression, Variable):
        return binding.get(expression, expression)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(_expression(a, binding) for a in expression.args))
    return expression
