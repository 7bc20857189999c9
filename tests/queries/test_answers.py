"""Answers as sequences of rows: numbers, slices, names of columns, and reading twice."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import tidelog
from tidelog import IRI, BlankNode
from tidelog.queries.answers import Answers

ROWS = [(i, f"n{i % 3}") for i in range(10)]
SLICES = [slice(*ends) for ends in ((None,), (2, 5), (-3, None), (None, None, 3), (None, None, -1), (8, 99), (5, 2))]


@pytest.fixture(scope="module")
def kb() -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    kb.apply(add={"p": ROWS[:6]} | {"more": ROWS[6:]}, add_rules="p(?x, ?y) :- more(?x, ?y) .")
    kb.apply(add="[ann, age, 42] . [bob, age, 7] . [bob, knows, ann] .")
    return kb


ASKED = {
    "query": lambda kb: kb.query("p(?number, ?name)"),
    "marked": lambda kb: kb.query("p(?number, ?name)").marked(),
    "facts": lambda kb: kb.facts("p"),
    "sparql": lambda kb: kb.sparql("SELECT ?s ?p ?o ?none { ?s ?p ?o } ORDER BY ?o"),
    "few": lambda kb: kb.sparql("SELECT ?s { ?s <age> 42 }"),
    "none": lambda kb: kb.query("p(?x, ?y), ?x > 99"),
    "boolean": lambda kb: kb.query("p(0, ?_x), p(0, n0)"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_answers_are_like_a_list_of_their_rows(asked: str, kb: tidelog.KnowledgeBase) -> None:
    answers: Answers = ASKED[asked](kb)
    rows = list(answers)
    assert rows == list(answers) == answers.to_rows()
    assert len(rows) == len(answers)
    for number in range(-len(rows), len(rows)):
        assert answers[number] == rows[number]
    for part in SLICES:
        some = answers[part]
        assert (list(some), len(some), some.names) == (rows[part], len(rows[part]), answers.names)
        assert some[1:].to_rows() == rows[part][1:]
        assert some.asserted == list(answers.asserted)[part] if asked != "marked" else True
        assert list(some.to_pandas().columns) == list(answers.names)
        assert some.to_arrow().num_rows == (len(some) if answers.names else 0)


def test_a_changed_knowledge_base_does_not_change_answers() -> None:
    kb = tidelog.open()
    kb.apply(add="p(1) . p(2) .")
    answers = kb.query("p(?x)")
    rows = iter(answers)
    first = next(rows)
    kb.apply(remove="p(1) . p(2) .", add="p(3) .")
    assert [first, *rows] == list(answers) == [(1,), (2,)]


@pytest.mark.parametrize("rows", [lambda kb: kb.query("p(?x, ?y)"), lambda kb: kb.all_facts()], ids=["rows", "facts"])
def test_wrong_numbers(rows: object, kb: tidelog.KnowledgeBase) -> None:
    answers: Sequence[object] = rows(kb)  # type: ignore[operator]
    last = len(answers) - 1
    for number in (last + 1, -last - 2):
        with pytest.raises(IndexError, match=f"there is no row {number}; rows are numbered 0 to {last}"):
            answers[number]
    with pytest.raises(TypeError, match=r"rows have numbers, not names; for the column 'x' use .to_pandas\(\)\['x'\]"):
        answers["x"]  # type: ignore[call-overload]
    with pytest.raises(IndexError, match="there is no row 0; there are no rows"):
        answers[len(answers) :][0] if isinstance(answers, Answers) else tidelog.open().all_facts()[0]


def test_facts_are_like_a_list_of_their_rows(kb: tidelog.KnowledgeBase) -> None:
    facts = kb.all_facts()
    rows = list(facts)
    assert [facts[n] for n in range(-len(rows), len(rows))] == rows * 2
    assert [facts[part] for part in SLICES] == [rows[part] for part in SLICES]


def test_printed_terms_are_told_apart() -> None:
    kb = tidelog.open()
    kb.apply(add='v(ann) . v("ann") . v(<http://e/x>) . v("http://e/x") . v(_:b) . v("b") . v("7") . v(7) .')
    printed = ["x", "ann", '"ann"', "<http://e/x>", '"http://e/x"', "_:b", '"b"', '"7"', "7"]
    assert repr(kb.query("v(?x)")).split() == printed
    assert kb.query("v(?x)")[2:5].to_rows() == [(IRI("http://e/x"),), ("http://e/x",), (BlankNode("b"),)]
