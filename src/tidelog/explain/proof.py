"""Proofs: trees of rule instances whose leaves are facts that need no proof.

A subtree that occurs twice may be one object. A fact of an aggregate rule is proved by the group of matches from which
it was computed. Users write facts and patterns as `parent(ann, bob)`, `[ann, rdf:type, ub:Person]`, or as a triple of
Turtle; `read_fact` and `read_pattern` parse them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal as OneOf

from tidelog.errors import UsageError
from tidelog.explain.explained_version import VALUE, Binding, ExplainedVersion, F, HeadRule, NumberedRule, premises
from tidelog.model.terms import Fact, Term, is_helper, to_term
from tidelog.rules.analysis.normalise import replace_in_literal
from tidelog.rules.expressions import aggregate
from tidelog.rules.parsing.parser import parse_program, parse_query
from tidelog.rules.parsing.tokens import BLANK, IRI, LANGUAGE, NUMBER, PREFIXED, STRING
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Call,
    Condition,
    Literal,
)

SHOWN = 100  # matches of a group that a proof continues from; a larger group is cut after sorting by text


@dataclass(frozen=True)
class AggregateGroup:
    """All matches of an aggregate rule for one fact: their number, and those that a proof shows."""

    head_rule: HeadRule
    fact: Fact
    size: int
    matches: tuple[Binding, ...]

    @cached_property
    def premises(self) -> tuple[Fact, ...]:
        """The distinct facts of the shown matches, sorted."""
        return tuple(sorted({fact for m in self.matches for fact in premises(self.head_rule.rule, m)}))


def groups_of(explained: ExplainedVersion[F], fact: Fact) -> Iterator[AggregateGroup]:
    """Yield the group of each aggregate rule that derives the fact."""
    for head_rule in explained.index.head_rules(fact):
        if head_rule.rule.aggregate is not None:
            yield from _group(explained, head_rule, fact)


def _group(explained: ExplainedVersion[F], head_rule: HeadRule, fact: Fact) -> Iterator[AggregateGroup]:
    matches = [{v: t for v, t in m.items() if v != VALUE} for m in explained.steps(head_rule, fact, explained.I)]
    if matches and group_value(head_rule, matches) == fact.args[head_rule.head.args.index(VALUE)]:
        matches.sort(key=lambda m: list(m.values()))
        yield AggregateGroup(head_rule, fact, len(matches), tuple(matches[:SHOWN]))


def group_value(head_rule: HeadRule, matches: Sequence[Binding]) -> Term | None:
    """The value that the aggregate of the rule has for these matches."""
    over = head_rule.rule.aggregate
    assert over is not None
    return aggregate(over.function, sorted({tuple(m[v] for v in over.args) for m in matches}))


ProofKind = OneOf["explicit", "axiom", "rule", "aggregate", "names"]

NO_BINDING: Binding = {}


@dataclass(frozen=True, eq=False)
class ProofNode:
    """A fact and why it holds.

    explicit   an explicit fact                      axiom       the head of a rule without a body
    rule       an instance of a rule                 aggregate   all matches of a group
    names      the same fact under equal names (`equal`: pairs of such names)
    """

    fact: Fact
    kind: ProofKind
    numbered: NumberedRule | None = None
    binding: Binding = field(default_factory=lambda: NO_BINDING)
    premises: tuple[ProofNode, ...] = ()
    group: AggregateGroup | None = None
    equal: tuple[tuple[str, str], ...] = ()
    height: int = field(init=False, repr=False)  # 0 if no proof is needed, else 1 + the height of the highest premise

    def __post_init__(self) -> None:
        """Compute the height here, because a proof may be deeper than Python can recurse. Kind `names` adds no step."""
        step = int(self.kind in ("rule", "aggregate"))
        object.__setattr__(self, "height", step + max((p.height for p in self.premises), default=0))

    @property
    def checks(self) -> tuple[Literal, ...]:
        """The other literals of the rule with their values: negated atoms, comparisons and assignments."""
        if self.kind != "rule" or self.numbered is None:
            return ()
        others = (b for b in self.numbered.rule.body if not isinstance(b, Atom))
        return tuple(grounded(b, self.binding) for b in others)


@dataclass(frozen=True)
class Proof:
    """A proof of a fact. `marks` are remarks on some of its nodes."""

    root: ProofNode
    marks: Mapping[ProofNode, str] = field(default_factory=dict)

    @property
    def fact(self) -> Fact:
        return self.root.fact

    @property
    def height(self) -> int:
        return self.root.height

    @cached_property
    def size(self) -> int:
        """The number of rule instances in the tree. An instance that occurs twice counts twice."""
        sizes: dict[ProofNode, int] = {}
        for node in self.bottom_up:
            sizes[node] = (node.kind in ("rule", "aggregate")) + sum(sizes[p] for p in node.premises)
        return sizes[self.root]

    @cached_property
    def nodes(self) -> list[ProofNode]:
        """Every node once, from the root down, in tree order."""
        found: dict[ProofNode, None] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = None
                waiting += reversed(node.premises)
        return list(found)

    @property
    def bottom_up(self) -> list[ProofNode]:
        """Every node once, each after its premises."""
        found: dict[ProofNode, None] = {}
        waiting = [(self.root, False)]
        while waiting:
            node, is_ready = waiting.pop()
            if is_ready:
                found[node] = None
            elif node not in found:
                waiting += [(node, True), *((p, False) for p in node.premises)]
        return list(found)

    def leaves(self) -> list[Fact]:
        """The explicit facts in the proof, each once."""
        return list(dict.fromkeys(n.fact for n in self.nodes if n.kind == "explicit"))

    def rules(self) -> list[NumberedRule]:
        """The rules used in the proof, by number."""
        return sorted({n.numbered.number: n.numbered for n in self.nodes if n.numbered}.values())


def without_helpers(proof: Proof) -> Proof:
    """The proof without facts of helper relations: the premises of such a fact stand in its place."""
    shown: dict[ProofNode, tuple[ProofNode, ...]] = {}  # what stands in the place of each node
    marks = {}
    for node in proof.bottom_up:
        premises = tuple(each for p in node.premises for each in shown[p])
        if any(is_helper(p.fact.predicate) for p in node.premises):
            premises = tuple(dict.fromkeys(premises))
        if node is not proof.root and is_helper(node.fact.predicate):
            shown[node] = premises
            continue
        kept = node if premises == node.premises else replace(node, premises=premises)
        shown[node] = (kept,)
        if node in proof.marks:
            marks[kept] = proof.marks[node]
    (root,) = shown[proof.root]
    return Proof(root, marks)


def grounded(literal: Literal, binding: Binding) -> Literal:
    """The literal with the values of `binding` for its variables; an assignment becomes a condition."""
    if isinstance(literal, Assignment):
        literal = Condition(Call("=", (literal.variable, literal.expression)))
    return replace_in_literal(literal, binding)


_NAMED = rf"(?:{IRI}|{PREFIXED})"
_SUBJECT = rf"(?:{_NAMED}|{BLANK})"
_OBJECT = rf"(?:{STRING}(?:{LANGUAGE}|\^\^{_NAMED})?|{_SUBJECT}|[+-]?{NUMBER}|true|false)"
_TURTLE = re.compile(rf"\s*({_SUBJECT})\s+(a|{_NAMED})\s+({_OBJECT})\s*\.?\s*", re.DOTALL)


def read_fact(source: object, prefixes: Mapping[str, str]) -> Fact:
    """Read one fact from text, a `Fact`, or a row of `change.added` such as `("parent", "ann", "bob")`."""
    if isinstance(source, Fact):
        return source
    if isinstance(source, tuple) and source and isinstance(source[0], str):
        return Fact(source[0], tuple(map(to_term, source[1:])))
    if not isinstance(source, str):
        raise UsageError(f"cannot read a fact from {type(source).__name__}; give text such as 'parent(ann, bob)'")
    facts = parse_program(_statement(source), "<fact>", only="facts", prefixes=prefixes).facts
    if len(facts) != 1:
        raise UsageError(f"one fact is expected, not {len(facts)}")
    return facts[0]


def _statement(text: str) -> str:
    triple = _TURTLE.fullmatch(text)
    if triple:
        one, predicate, other = triple.groups()
        return f"[{one}, {'rdf:type' if predicate == 'a' else predicate}, {other}] ."
    return text if text.rstrip().endswith(".") else f"{text} ."


def read_pattern(text: str, prefixes: Mapping[str, str]) -> Atom:
    """Read one atom. It may contain variables."""
    body, _ = parse_query(text, prefixes)
    if len(body) != 1 or not isinstance(body[0], Atom):
        raise UsageError(f"one atom is expected, such as alert(?x), not {text!r}")
    return body[0]
