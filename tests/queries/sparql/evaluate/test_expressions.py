"""Operators and functions of SPARQL 1.1 on terms, one line of `functions.txt` each."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.errors import UsageError
from tidelog.model.terms import literal
from tidelog.queries.sparql import Solutions

LINES = (Path(__file__).parent / "functions.txt").read_text(encoding="utf-8").splitlines()
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


STRINGS = [*(f"text {i}" for i in range(600)), "tab\t5", 'quote " 5', "back\\slash 5", "line\n5"]
TESTS = [
    "CONTAINS({}, '5')",
    "STRSTARTS({}, 'text 5')",
    "STRENDS({}, '5')",
    "REGEX({}, '^T.* 5+$', 'i')",
    "REGEX({}, '(')",
]


@pytest.mark.parametrize("subject", ["?s", "STR(?s)"])
@pytest.mark.parametrize("others", [[], ["escaped"], ["tagged"], ["IRI"], ["unbound"]])
@pytest.mark.parametrize("test", TESTS)
def test_many_strings_are_tested_as_one_is(test: str, others: list[str], subject: str) -> None:
    texts = [literal(s) for s in (STRINGS if others == ["escaped"] else STRINGS[:600])]
    extra = {"tagged": '"text 5"@en', "IRI": "<text5>", "unbound": "UNDEF"}
    cells = " ".join([*texts, *(extra[o] for o in others if o in extra)])
    with tidelog.open() as kb:
        condition = test.format(subject)
        filtered = kb.sparql(f"SELECT ?s {{ VALUES ?s {{ {cells} }} FILTER ({condition}) }}")
        one_by_one = kb.sparql(f"SELECT ?s {{ VALUES ?s {{ {cells} }} BIND ({condition} AS ?t) FILTER (?t) }}")
        assert isinstance(filtered, Solutions)
        assert isinstance(one_by_one, Solutions)
        assert list(filtered) == list(one_by_one)
        assert bool(len(filtered)) == ("'('" not in test)
