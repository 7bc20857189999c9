"""Programs in other dialects of Datalog: the error says what to write here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.errors import ParseError
from tidelog.languages import parse_n3
from tidelog.rules.parsing.parser import parse_program, parse_query

LINES = (Path(__file__).parent / "dialects.txt").read_text(encoding="utf-8").splitlines()[1:]


@pytest.mark.parametrize(("program", "error"), list(zip(LINES[::2], LINES[1::2], strict=True)))
def test_hints(program: str, error: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_program(program.replace("\\n", "\n"), "f.rls")
    assert str(caught.value).split("\n")[0] == f"f.rls:{error.strip()}"


def test_queries_have_hints_too() -> None:
    with pytest.raises(ParseError, match="negation is a tilde before an atom here"):
        parse_query("p(?x), not q(?x)")


def test_other_languages_have_none() -> None:
    with pytest.raises(ParseError) as caught:
        parse_n3("<a> <b> ; .. not p .")
    assert "tilde" not in str(caught.value)
