"""An independent check of a proof, simple enough to be believed: nothing of the search is used.

Each step must be an instance of one of the rules: its premises are the facts that the body's atoms become, in order,
its conditions hold, and what it negates matches no fact. Leaves must be explicit, or say what a rule without a body
says. The facts below a fact do not include it. Matching is that of the reference engine, by nested loops.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from tests.reference.engine import ReferenceFacts, conclusions, matches
from tidelog.algebra.sourced_rule import all_from
from tidelog.explain.explained_version import Binding, ground_atom, premises
from tidelog.explain.proof import Proof, ProofNode
from tidelog.model.terms import Fact
from tidelog.rules.expressions import evaluate, holds
from tidelog.rules.syntax import Assignment, Condition, Negation, Rule, Variable


def check(proof: Proof, rules: Iterable[Rule], E: Container[Fact], I: Iterable[Fact]) -> list[str]:
    """What is wrong with a proof; nothing if it is right. I is read only for negated atoms and aggregates."""
    known, model = {rule.key for rule in rules}, ReferenceFacts(I)
    problems: list[str] = []
    below: dict[ProofNode, set[Fact]] = {}
    for node in proof.bottom_up:
        below[node] = set[Fact]().union(*({p.fact, *below[p]} for p in node.premises))
        problems += (f"{node.fact}: {what}" for what in _problems(node, known, E, model))
        if node.fact in below[node]:
            problems.append(f"{node.fact} is used to prove itself")
    return problems


def _problems(node: ProofNode, rules: set[str], E: Container[Fact], model: ReferenceFacts) -> Iterator[str]:
    if node.kind == "explicit":
        yield from [] if node.fact in E and not node.premises else ["not explicit"]
    elif node.numbered is None or node.numbered.rule.key not in rules:
        yield "no such rule"
    elif node.kind == "axiom":
        rule = node.numbered.rule
        is_said = not rule.body and node.fact in {ground_atom(head, {}) for head in rule.heads}
        yield from [] if is_said else ["not an axiom"]
    elif node.kind == "aggregate":
        yield from _group_problems(node, node.numbered.rule, model)
    else:
        yield from _instance_problems(node, node.numbered.rule, model)


def _instance_problems(node: ProofNode, rule: Rule, model: ReferenceFacts) -> Iterator[str]:
    binding = node.binding
    if node.fact not in {ground_atom(head, binding) for head in rule.heads}:
        yield "not the head of the instance"
    if tuple(p.fact for p in node.premises) != premises(rule, binding):
        yield "the premises are not those of the instance"
    for literal in rule.body:
        if isinstance(literal, Condition) and not holds(literal.expression, binding):
            yield f"{literal} does not hold"
        if isinstance(literal, Assignment) and evaluate(literal.expression, binding) != binding[literal.variable]:
            yield f"{literal} gives something else"
    for negation in (c for c in node.checks if isinstance(c, Negation)):
        if matches(all_from(Rule((), (negation.atom,)), model)):
            yield f"{negation.atom} is there"


def _group_problems(node: ProofNode, rule: Rule, model: ReferenceFacts) -> Iterator[str]:
    """The rule gives the fact, and the premises are those of the matches shown, which are matches of its group."""
    assert node.group is not None
    found = matches(all_from(rule, model))
    if node.fact not in set(conclusions(rule, found)):
        yield "the aggregate gives something else"
    group = [m for m in found if _is_of_group(node.fact, rule, m)]
    shown = node.group.matches
    if not all(m in group for m in shown) or len(group) != node.group.size:
        yield "not the matches of the group"
    if {p.fact for p in node.premises} != {fact for m in shown for fact in premises(rule, m)}:
        yield "the premises are not those of the matches"


def _is_of_group(fact: Fact, rule: Rule, match: Binding) -> bool:
    """Whether a match belongs to the group of a fact: they agree but for the value."""
    (head,) = rule.heads
    others = [(a, value) for a, value in zip(head.args, fact.args, strict=True) if a != rule.aggregate]
    return all(value == (match[a] if isinstance(a, Variable) else a) for a, value in others)
