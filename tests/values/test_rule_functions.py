"""Every built-in function: `as_nemo.txt` holds for us and for Nemo, `ours.txt` for us, each group with its reason."""

from __future__ import annotations

import pytest

from tests.values.notation import expression, lines, split
from tidelog.model.terms import TRUE, Term, integer, string
from tidelog.rules.expressions import FUNCTIONS, evaluate, holds
from tidelog.rules.syntax import Call, Variable
from tidelog.values.literals import LONGEST_STRING

ONE = {Variable("one"): integer(1)}


@pytest.mark.parametrize("line", lines("as_nemo.txt") + lines("ours.txt"))
def test_function(line: str) -> None:
    text, expected = split(line)
    assert evaluate(expression(text), ONE) == expected


def test_nemo_agrees() -> None:
    nemo = pytest.importorskip("nmo_python")
    from tests.adapters.nemo_runner.record import nemo_term

    expected = dict(map(split, lines("as_nemo.txt")))
    rules = [f"r({index}, ?value) :- d(?one), ?value = {text} ." for index, text in enumerate(expected)]
    engine = nemo.NemoEngine(nemo.load_string("\n".join(["d(1) .", *rules])))
    engine.reason()
    found = {index: nemo_term(value) for index, value in engine.result("r")}
    assert {text: found.get(index) for index, text in enumerate(expected)} == expected


def test_every_function_is_tested() -> None:
    text = "\n".join(lines("as_nemo.txt") + lines("ours.txt")).upper()
    assert [name for name in FUNCTIONS if f"{name}(" not in text] == []


def test_a_condition_without_a_value_does_not_hold() -> None:
    division = Call("/", (integer(1), integer(0)))
    assert not holds(Call("=", (division, integer(1))), {})
    assert not holds(Call("!=", (division, integer(1))), {})
    assert not holds(Call("NOT", (Call("=", (division, integer(1))),)), {})
    assert not holds(integer(1), {})
    assert holds(TRUE, {})
    assert holds(Term('"1"^^<http://www.w3.org/2001/XMLSchema#boolean>'), {})


def test_unary_minus() -> None:
    assert evaluate(Call("-", (integer(5),)), {}) == integer(-5)
    assert evaluate(Call("-", (string("five"),)), {}) is None


def test_strings_do_not_grow_without_bound() -> None:
    half = string("x" * (LONGEST_STRING // 2))
    assert evaluate(Call("CONCAT", (half, half)), {}) is not None
    assert evaluate(Call("CONCAT", (half, half, string("x"))), {}) is None
    assert evaluate(Call("UCASE", (string("ß" * (LONGEST_STRING - 1)),)), {}) is None


def test_powers_and_distances_are_not_computed_beyond_bounds() -> None:
    assert evaluate(Call("POW", (integer(3), integer(1 << 62))), {}) is None
    assert evaluate(Call("POW", (integer(-1), integer((1 << 62) + 1))), {}) == integer(-1)
    assert evaluate(Call("BITSHL", (integer(1), integer(1 << 62))), {}) == integer(1)
    long = string("ab" * 1000)
    assert evaluate(Call("LEVENSHTEIN", (long, long)), {}) is None


def test_numerals_of_any_length_are_safe() -> None:
    numeral = Term(f'"{"9" * 100_000}"^^<http://www.w3.org/2001/XMLSchema#integer>')
    assert evaluate(Call("+", (numeral, integer(1))), {}) is None
    assert evaluate(Call("INT", (string("9" * 100_000),)), {}) is None
    assert evaluate(Call("=", (numeral, numeral)), {}) == TRUE
