"""Explanations where equal terms are stored under one name."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import tidelog
from tests.algorithms.equality.histories import random_history
from tidelog.algorithms.equality.policy import MODES
from tidelog.algorithms.equality.representatives import SAME, SAME_AS
from tidelog.explain.explained_version import ground_atom, premises
from tidelog.explain.proof import Proof, ProofNode
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact, to_term

FACTS = """[ann, owl:sameAs, anna] . [anna, <knows>, bob] . [bob, owl:sameAs, rob] . [ann, <age>, 7] ."""
RULES = """
    [?y, <knownBy>, ?x] :- [?x, <knows>, ?y] .
    [?x, rdf:type, <Child>] :- [?x, <age>, ?n], ?n < 18 .
"""


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    kb = tidelog.open(tmp_path / "x.kb", equality="rewriting")
    kb.apply(add=FACTS, add_rules=RULES)
    return kb


TREES = [
    ("[anna, knows, bob]", "[anna, knows, bob]  explicit"),
    (
        "[ann, knows, rob]",
        "[ann, knows, rob]  other names: rob = bob\n"
        "└─ [ann, knows, bob]  other names: ann = anna\n"
        "   └─ [anna, knows, bob]  explicit",
    ),
    (
        "[rob, knownBy, anna]",
        "[rob, knownBy, anna]  other names: rob = bob, anna = ann\n"
        "└─ [bob, knownBy, ann]  rule 1\n"
        "   └─ [ann, knows, bob]  other names: ann = anna\n"
        "      └─ [anna, knows, bob]  explicit\n\n"
        "rule 1: [?y, knownBy, ?x] :- [?x, knows, ?y] .",
    ),
    (
        "[anna, rdf:type, Child]",
        "[anna, rdf:type, Child]  other names: anna = ann\n"
        "└─ [ann, rdf:type, Child]  rule 2\n"
        "   ├─ [ann, age, 7]  explicit\n"
        "   └─ 7 < 18  checked\n\n"
        "rule 2: [?x, rdf:type, Child] :- [?x, age, ?n], ?n < 18 .",
    ),
]


@pytest.mark.parametrize(("fact", "tree"), TREES)
def test_facts_under_any_name(kb: KnowledgeBase, tmp_path: Path, fact: str, tree: str) -> None:
    assert kb.explain(fact).tree() == tree
    with tidelog.open(tmp_path / "x.kb", read_only=True) as again:
        assert again.explain(fact).tree() == tree


def test_all_that_holds_has_a_proof(kb: KnowledgeBase) -> None:
    facts, explicit = list(kb.all_facts()), set(kb._state.E)
    assert len(facts) > 10
    for fact in facts:
        assert set(kb.explain(fact).proof.leaves()) <= explicit


def test_an_equality_that_went(kb: KnowledgeBase) -> None:
    kb.apply(remove="[ann, owl:sameAs, anna] .")
    why = kb.why_removed("[ann, knows, bob]")
    assert "no longer the same" in set(why.explanation.proof.marks.values())
    assert kb.why_kept("[anna, knows, bob]").lost == ()
    assert "missing" in str(kb.why_not("[bob, knownBy, ann]"))


def test_the_table(kb: KnowledgeBase) -> None:
    rows = kb.explain_all("[?x, knownBy, anna]").to_rows()
    assert rows == [("[bob, knownBy, ann]", "rule", 1, None, ["[ann, knows, bob]"])]


def check_shown(kb: KnowledgeBase, root: ProofNode, explicit: frozenset[Fact], shown: set[Fact]) -> None:
    """Leaves were asserted, steps are instances of rules over representatives, names are equal; all of it is shown."""
    rules = {rule.key for rule in MODES["rewriting"].rules(kb._engine, kb.rules, kb._state.I)}
    for node in Proof(root).nodes:
        if node.kind == "names":
            pairs = (
                [node.fact.args] if not node.premises else zip(node.fact.args, node.premises[0].fact.args, strict=True)
            )
            assert all(a == b or Fact("triple", (a, SAME_AS, b)) in shown for a, b in pairs)
        elif node.kind == "explicit":
            assert node.fact in explicit
        else:
            assert node.numbered is not None
            rule = node.numbered.rule
            assert not rule.body or rule.key in rules
            assert node.fact in {ground_atom(head, node.binding) for head in rule.heads}
            assert tuple(p.fact for p in node.premises) == premises(rule, node.binding)
        assert node.fact in shown or node.fact.predicate == SAME


@pytest.mark.parametrize("seed", range(5))
def test_random_facts(seed: int) -> None:
    random = Random(seed)
    for state in random_history(seed).states[1::4]:
        kb = tidelog.open(equality="rewriting")
        kb.apply(add=list(state.facts), add_rules=state.rules)
        shown = {Fact(str(name), tuple(map(to_term, args))) for name, *args in kb.all_facts()}
        for fact in random.sample(sorted(shown), min(8, len(shown))):
            found = kb.explain(fact)
            assert found.proof.fact == fact
            check_shown(kb, found.proof.root, state.facts, shown)
            for each in kb.explain(fact, all_proofs=3).proofs:
                check_shown(kb, each.root, state.facts, shown)
