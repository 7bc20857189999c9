"""The checker itself: a right proof passes, and each way to be wrong is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import tidelog
from tests.reference.checking import check
from tidelog.explain.proof import Proof, ProofNode
from tidelog.model.terms import Fact, Term, iri
from tidelog.rules.parsing.parser import parse_facts
from tidelog.rules.syntax import Rule, Variable

FACTS = "p(a, 1) . p(a, 2) . p(b, 2) . no(c) . e(a, b) . e(b, a) ."
RULES = """
    q(?x) :- p(?x, ?n), ?n < 3, ~no(?x) .
    s(?x, #sum(?n)) :- p(?x, ?n) .
    r(?x, ?m) :- q(?x), s(?x, ?n), ?m = ?n + 1 .
    z(zero) :- .
    t(?x, ?y) :- e(?x, ?y) .
    t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .
"""


def proof_of(text: str) -> tuple[Proof, tuple[Rule, ...], set[Fact], set[Fact]]:
    kb = tidelog.open()
    kb.apply(add=FACTS, add_rules=RULES)
    explicit = set(parse_facts(FACTS))
    return kb.explain(text).proof, kb.rules, explicit, set(kb._state.I)


@pytest.mark.parametrize("text", ["q(a)", "s(a, 3)", "r(a, 4)", "z(zero)", "t(a, a)", "p(a, 1)"])
def test_right_proofs_pass(text: str) -> None:
    assert check(*proof_of(text)) == []


def rebound(root: ProofNode) -> ProofNode:
    return replace(root, binding={**root.binding, Variable("n"): Term('"9"')})


def without_premise(root: ProofNode) -> ProofNode:
    return replace(root, premises=root.premises[1:])


def other_fact(root: ProofNode) -> ProofNode:
    return replace(root, fact=Fact(root.fact.predicate, (iri("nobody"), *root.fact.args[1:])))


def as_leaf(root: ProofNode) -> ProofNode:
    return ProofNode(root.fact, "explicit")


def as_axiom(root: ProofNode) -> ProofNode:
    return replace(root, kind="axiom")


def without_rule(root: ProofNode) -> ProofNode:
    return replace(root, numbered=None)


def smaller_group(root: ProofNode) -> ProofNode:
    assert root.group is not None
    return replace(root, group=replace(root.group, size=1, matches=root.group.matches[:1]))


def about_itself(root: ProofNode) -> ProofNode:
    """A proof of the fact from a proof of the fact."""
    return replace(root, premises=(root.premises[0], replace(root.premises[1], premises=(root,))))


WRONG: list[tuple[str, Callable[[ProofNode], ProofNode], str]] = [
    ("q(a)", rebound, "the premises are not those of the instance"),
    ("q(a)", rebound, "does not hold"),
    ("q(a)", without_premise, "the premises are not those of the instance"),
    ("q(a)", other_fact, "not the head of the instance"),
    ("q(a)", as_leaf, "not explicit"),
    ("q(a)", as_axiom, "not an axiom"),
    ("q(a)", without_rule, "no such rule"),
    ("z(zero)", other_fact, "not an axiom"),
    ("s(a, 3)", smaller_group, "not the matches of the group"),
    ("s(a, 3)", without_premise, "the premises are not those of the matches"),
    ("s(a, 3)", other_fact, "the aggregate gives something else"),
    ("r(a, 4)", rebound, "gives something else"),
    ("t(a, a)", about_itself, "is used to prove itself"),
]


@pytest.mark.parametrize(("text", "spoil", "message"), WRONG)
def test_wrong_proofs_are_noticed(text: str, spoil: Callable[[ProofNode], ProofNode], message: str) -> None:
    proof, rules, explicit, model = proof_of(text)
    assert any(message in problem for problem in check(Proof(spoil(proof.root)), rules, explicit, model))


def test_what_else_must_be_right() -> None:
    proof, rules, explicit, model = proof_of("q(a)")
    assert check(proof, rules[1:], explicit, model)
    assert check(proof, rules, explicit - {proof.leaves()[0]}, model)
    assert check(proof, rules, explicit, model | {Fact("no", (iri("a"),))})
