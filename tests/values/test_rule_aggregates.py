"""Aggregates over groups, and that the order of the rows never shows."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapters.nemo_runner.case import long_term
from tidelog.model.terms import XSD, Term, double, integer, literal, string, to_value
from tidelog.rules.expressions import AGGREGATES, aggregate
from tidelog.values.rule_aggregates import exact_sum, rank

# function: values => result
CASES = """
count: 1 2 1.0 a => 4
sum: 1 2 3 => 6
sum: 1 2.5 => 3.5
sum: 1 "x" true => 1
sum: "x" a => nothing
sum: 9223372036854775807 1 => nothing
sum: 9223372036854775807 1 -1 => 9223372036854775807
sum: 1e308 1.5e308 -1e308 => 1.5e308
sum: 1e308 1.5e308 => nothing
sum: 0.1 0.2 0.3 0.4 0.6 0.7 => 2.3
sum: 1e16 1.0 -1e16 => 1.0
sum: 9007199254740993 0.5 -9007199254740992 => 1.5
min: 3 2.5 => 2.5
max: 3 2.5 => 3
min: 1 1.0 => 1
max: 1 1.0 => 1.0
min: "b" "a" => "a"
max: a <http://example.org/b> => <http://example.org/b>
min: "x" 1 => "x"
max: "x" 1 => 1
min: true false => false
avg: 1 2 => 1.5
avg: 9223372036854775807 9223372036854775805 => 9.223372036854775807e18
avg: 1 "x" 4 => 2.5
avg: a => nothing
avg: 0.5 0.25 0.0 => 0.25
avg: 1e308 1.5e308 => nothing
"""
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("line", CASES.strip().splitlines())
def test_aggregate_in_any_order(line: str) -> None:
    function, _, rest = line.partition(": ")
    values, _, expected = rest.partition(" => ")
    rows = [(long_term(v),) for v in values.split()]
    results = {aggregate(function, list(order)) for order in permutations(rows)}
    assert results == {None if expected == "nothing" else long_term(expected)}


def test_distinct_tuples_count_once() -> None:
    rows = [(integer(5), string("a")), (integer(5), string("b")), (integer(5), string("a"))]
    assert aggregate("count", rows) == integer(2)
    assert aggregate("sum", rows) == integer(10)
    assert aggregate("avg", rows) == double(5.0)


def test_singles_stay_single() -> None:
    rows = [(literal("0.1", f"{XSD}float"),), (literal("0.2", f"{XSD}float"),)]
    assert aggregate("sum", rows) == literal("0.3", f"{XSD}float")


def test_decimals_are_compared_exactly() -> None:
    rows = [(literal(f"0.{'1' * 30}{d}", f"{XSD}decimal"),) for d in (3, 1, 2)]
    assert aggregate("min", rows) == rows[1][0]
    assert aggregate("max", rows) == rows[0][0]


@pytest.mark.parametrize("function", sorted(AGGREGATES))
def test_an_empty_group_has_no_value_except_its_count(function: str) -> None:
    assert aggregate(function, []) == (integer(0) if function == "count" else None)


@given(st.lists(FLOATS | st.integers(-(1 << 63), (1 << 63) - 1) | st.decimals(-10, 10, places=3)))
def test_sum_is_the_rounded_exact_sum(values: list[float | int | Decimal]) -> None:
    numbers = [float(v) if isinstance(v, Decimal) else v for v in values]
    exact = sum(map(Fraction, numbers), Fraction(0))
    limit = Fraction(2) ** 1024
    if abs(exact) < limit - Fraction(2) ** 970:
        assert exact_sum(values) == float(exact)
    else:
        found = exact_sum(values)
        assert found is None or math.isfinite(found)


TERMS = st.one_of(
    st.integers(-3, 3).map(integer),
    st.sampled_from([-2.5, -0.0, 0.0, 1.0, 2.5, math.inf]).map(double),
    st.sampled_from(["<a>", "<http://b>", "_:x", '"s"', '"t"', '"s"@en', '"1"^^<http://d>']).map(Term),
    st.sampled_from(["0.5", "1.0", "-7.25"]).map(lambda t: literal(t, f"{XSD}decimal")),
    st.sampled_from(["2024-01-01", "2024-01-01Z", "1999-12-31"]).map(lambda t: literal(t, f"{XSD}date")),
    st.sampled_from(["true", "0", "yes"]).map(lambda t: literal(t, f"{XSD}boolean")),
)


@given(st.lists(TERMS, min_size=1, max_size=6, unique=True))
def test_order_of_all_terms_is_total(terms: list[Term]) -> None:
    ordered = sorted(terms, key=rank)
    assert aggregate("min", [(t,) for t in terms]) == ordered[0]
    assert aggregate("max", [(t,) for t in terms]) == ordered[-1]
    assert [rank(t) for t in ordered] == sorted({rank(t) for t in terms})
    numbers = [v for v in map(to_value, ordered) if isinstance(v, int | float) and not isinstance(v, bool)]
    assert numbers == sorted(numbers)
