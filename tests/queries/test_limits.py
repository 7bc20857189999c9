"""A query ends at its limits with an error that says which, and the next one works."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import tidelog
from tidelog.errors import LimitError
from tidelog.queries.sparql import Solutions

SIZE = 1200
PRODUCT = "{ ?a <p> ?b } { SELECT * { ?c <p> ?d } } { SELECT * { ?e <p> ?f } }"


@pytest.fixture(scope="module")
def kb() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as kb:
        kb.apply(add={"triple": [(f"n{i}", "p", f"n{(i + 1) % SIZE}") for i in range(SIZE)]})
        yield kb


ROWS, MEMORY, TIME = "there are more than", "MB, more than", "no end after"
CASES: list[tuple[str, dict[str, float], str]] = [
    ("SELECT * { ?a ?b ?c . ?d ?e ?f }", {"max_rows": 10_000}, ROWS),
    ("SELECT * { ?a <p> ?b }", {"max_rows": SIZE - 1}, ROWS),
    ("SELECT ?x { <n0> <p> ?x }", {"max_rows": 0}, ROWS),
    ("SELECT * { ?a ?b ?c . ?d ?e ?f }", {"max_memory": 1_000_000}, MEMORY),
    (f"SELECT * {{ {PRODUCT} }}", {"max_memory": 50_000_000}, MEMORY),
    (f"SELECT * {{ {PRODUCT} }} ORDER BY ?a", {"max_memory": 50_000_000}, MEMORY),
    (f"SELECT DISTINCT * {{ {PRODUCT} }}", {"max_memory": 50_000_000}, MEMORY),
    ("SELECT * { ?a <p>+ ?b }", {"max_memory": 1_000_000}, MEMORY),
    (f"SELECT (COUNT(*) AS ?n) {{ {PRODUCT} }}", {"timeout": 0.2}, TIME),
    ("SELECT (COUNT(*) AS ?n) { ?a <p> ?b . ?c <p> ?d . ?e <p> ?f FILTER (?a = ?d) }", {"timeout": 0.2}, TIME),
    (f"ASK {{ {PRODUCT} FILTER REGEX(CONCAT(STR(?a), STR(?c), STR(?e)), '(x+x+)+y') }}", {"timeout": 0.2}, TIME),
    ("SELECT * { ?a <p> ?b . ?c <p> ?d MINUS { ?a <p>+ ?c } }", {"timeout": 0.05}, TIME),
    ("SELECT * { ?a ?p ?b }", {"timeout": 0}, TIME),
]


@pytest.mark.parametrize(("query", "limits", "named"), CASES)
def test_limit(kb: tidelog.KnowledgeBase, query: str, limits: dict[str, float], named: str) -> None:
    (name,) = limits
    with pytest.raises(LimitError, match=rf"{named} {name}=\d") as raised:
        kb.sparql(query, **limits)  # type: ignore[arg-type]
    assert re.search(r"\d", str(raised.value))
    assert kb.sparql("ASK { <n0> <p> ?x }") is True


KINDS = ["SELECT * { ?a <p> ?b . ?c <p> ?d }", "p(?a, ?b), p(?c, ?d)"]
ALONE = ["SELECT * { ?a <p> ?b }", "p(?a, ?b)"]


@pytest.mark.parametrize("query", [*KINDS, *ALONE])
def test_memory_has_one_meaning(query: str) -> None:
    """The bytes of a table decide, not what the process holds: a limit stops a query always or never."""
    with tidelog.open() as kb:
        pairs = [(f"n{i}", f"n{(i + 1) % SIZE}") for i in range(SIZE)]
        kb.apply(add={"triple": [(a, "p", b) for a, b in pairs], "p": pairs})
        ask = kb.sparql if query.startswith("SELECT") else kb.query
        table = 8 * SIZE ** (2 if query in KINDS else 1) * (4 if query in KINDS else 2)
        for _ in range(2):
            with pytest.raises(
                LimitError, match=rf"needs [\d.]+ MB, more than max_memory={table // 2} bytes; the query"
            ):
                ask(query, max_memory=table // 2)
        assert len(ask(query, max_memory=3 * table)) == SIZE ** (2 if query in KINDS else 1)  # type: ignore[arg-type]


def test_what_stays_within_its_limits_is_answered(kb: tidelog.KnowledgeBase) -> None:
    found = kb.sparql("SELECT * { ?a <p> ?b }", timeout=60, max_rows=SIZE, max_memory=10_000_000)
    assert isinstance(found, Solutions)
    assert len(found) == SIZE


def test_a_limit_of_rows_is_one_of_the_answer(kb: tidelog.KnowledgeBase) -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?a <p> ?b . ?c <p> ?d }"
    found = kb.sparql(query, max_rows=1)
    assert isinstance(found, Solutions)
    assert list(found) == [(SIZE * SIZE,)]


def test_limit_does_not_look_at_all_rows(kb: tidelog.KnowledgeBase) -> None:
    query = f"SELECT * {{ {PRODUCT} }} LIMIT 3"  # of 1,728,000,000
    found = kb.sparql(query, max_memory=100_000_000)
    assert isinstance(found, Solutions)
    assert len(found) == 3


@pytest.mark.parametrize("text", ["a" * 30, "a" * 3000])
def test_no_pattern_blows_up(kb: tidelog.KnowledgeBase, text: str) -> None:
    query = f'SELECT (REGEX("{text}b", "^(a+)+$") AS ?m) (REPLACE("{text}b", "(a|aa)+c", "x") AS ?r) {{}}'
    assert list(kb.sparql(query, timeout=30)) == [(False, f"{text}b")]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["timeout", "max_rows", "max_memory"])
def test_no_limit_is_below_nothing(kb: tidelog.KnowledgeBase, name: str) -> None:
    with pytest.raises(tidelog.UsageError, match=f"{name} is -1; expected 0 or more"):
        kb.sparql("ASK { ?a ?p ?b }", **{name: -1})  # type: ignore[arg-type]
