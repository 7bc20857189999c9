"""Wrong queries: the message says where and what was expected. One line of `evaluator_errors.txt` each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.errors import ParseError
from tidelog.sparql import parse

LINES = (Path(__file__).parent / "evaluator_errors.txt").read_text(encoding="utf-8").splitlines()
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
