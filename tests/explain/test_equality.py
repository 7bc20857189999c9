"""Explanations where equal terms are stored under one name."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.knowledge_base import KnowledgeBase

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
