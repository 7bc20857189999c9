"""Wrong queries: the message says where and what was expected. One line of `errors.txt` each."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tidelog.errors import LimitError, ParseError
from tidelog.queries.sparql import parse

LINES = (Path(__file__).parent / "errors.txt").read_text(encoding="utf-8").splitlines()
CASES = [line.split(" | ") for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize(("expected", "query"), CASES)
def test_wrong_query(expected: str, query: str) -> None:
    with pytest.raises(ParseError) as raised:
        parse(query, {})
    place, _, message = expected.partition(" ")
    assert str(raised.value).startswith(f"<query>:{place}: {message}")


def test_the_place_is_shown_in_a_text_of_several_lines() -> None:
    with pytest.raises(ParseError) as raised:
        parse("SELECT ?x {\n  ?x <p> ?y .\n  ?x <q>\n}", {})
    assert str(raised.value) == "<query>:4:1: expected a variable or a term, found '}'\n    }\n    ^"


@pytest.mark.parametrize("query", ["ASK { FILTER (" + "(" * 2000 + "1", "ASK {" + "{" * 2000, "ASK { ?x " + "(" * 2000])
def test_what_is_nested_too_deeply_is_an_error(query: str) -> None:
    with pytest.raises(ParseError, match="deep"):
        parse(query, {})


@pytest.mark.parametrize(
    "query", ["ASK { ?x ?p ?y " + "OPTIONAL { ?x ?p ?y } " * 2000 + "}", "ASK { FILTER (1" + " + 1" * 5000 + ") }"]
)
def test_what_has_too_many_parts_is_an_error(query: str) -> None:
    with tidelog.open() as kb, pytest.raises((LimitError, ParseError), match="too deeply"):
        kb.sparql(query)
