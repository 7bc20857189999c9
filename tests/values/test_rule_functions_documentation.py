"""The tables of functions in docs/rules.md are true: the number of arguments and every example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.values.notation import expression
from tidelog.rules.expressions import AGGREGATES, FUNCTIONS, evaluate

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([A-Z]+)` \| (.+?) \| .+? \| `(.+)` (?:= `(.+)`|has no value) \|$", PAGE, re.MULTILINE)


def test_every_function_has_one_row() -> None:
    assert sorted(name for name, *_ in ROWS) == sorted(FUNCTIONS)


@pytest.mark.parametrize(("name", "arguments", "example", "result"), ROWS)
def test_row(name: str, arguments: str, example: str, result: str) -> None:
    names = arguments.split(", ")
    needed = [n for n in names if n[0] not in "[…"]
    assert FUNCTIONS[name] == (len(needed), None if "…" in names else len(names))
    assert name in example.upper()
    assert evaluate(expression(example), {}) == (evaluate(expression(result), {}) if result else None)


def test_every_aggregate_is_named() -> None:
    assert set(re.findall(r"`#([a-z]+)\(\?\w, …\)`", PAGE)) == set(AGGREGATES)
