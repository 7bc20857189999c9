"""Operators and functions of SPARQL 1.1 on terms, one line of `evaluator_functions.txt` each."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.errors import UsageError
from tidelog.sparql import Solutions

LINES = (Path(__file__).parent / "evaluator_functions.txt").read_text(encoding="utf-8").splitlines()
CASES = [tuple(part.strip() for part in line.split("=>")) for line in LINES if not line.startswith("#")]


@pytest.fixture(scope="module")
def kb() -> tidelog.KnowledgeBase:
    return tidelog.open()


def value(kb: tidelog.KnowledgeBase, expression: str) -> object:
    found = kb.sparql(f"SELECT ({expression} AS ?x) {{}}")
    assert isinstance(found, Solutions)
    ((cell,),) = found
    return cell


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_function(kb: tidelog.KnowledgeBase, expression: str, expected: str) -> None:
    assert repr(value(kb, expression)) == repr(value(kb, expected) if expected else None)


def test_what_differs_from_call_to_call(kb: tidelog.KnowledgeBase) -> None:
    rows = kb.sparql("SELECT (UUID() AS ?a) (STRUUID() AS ?b) (BNODE() AS ?c) (RAND() AS ?d) { VALUES ?x { 1 1 2 } }")
    assert isinstance(rows, Solutions)
    assert all(len(set(column)) == 3 for column in zip(*rows, strict=True))
    assert all(0 <= row[3] < 1 for row in rows if isinstance(row[3], float))


def test_a_blank_node_of_a_text_is_one_in_each_solution(kb: tidelog.KnowledgeBase) -> None:
    query = 'SELECT (BNODE(?x) AS ?a) (BNODE("t") AS ?b) (BNODE("u") AS ?c) { VALUES ?x { "t" "t" } }'
    rows = list(kb.sparql(query))  # type: ignore[arg-type]
    assert [a == b != c for a, b, c in rows] == [True, True]
    assert rows[0][0] != rows[1][0]


def test_an_unknown_function_is_an_error(kb: tidelog.KnowledgeBase) -> None:
    with pytest.raises(UsageError, match=r"no function <http://e\.org/f>"):
        value(kb, "<http://e.org/f>(1)")
