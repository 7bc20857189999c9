"""Bags of rows are compared up to the names of blank nodes, and not further."""

from __future__ import annotations

import pytest

from tests.queries.sparql.bags import Row, same
from tidelog.model.terms import DECIMAL, DOUBLE, INTEGER, Term, literal

A, B, C, D = (Term(f"_:{name}") for name in "abcd")
X, Y = Term("<x>"), Term("<y>")

ALIKE: list[tuple[list[Row], list[Row]]] = [
    ([], []),
    ([(A,)], [(B,)]),
    ([(A, B), (B, A)], [(C, D), (D, C)]),
    ([(A, B), (B, C), (C, A)], [(B, A), (A, C), (C, B)]),
    ([(X, A), (X, A), (X, B)], [(X, C), (X, B), (X, C)]),
    ([(literal("1.50", DECIMAL), None)], [(literal("1.5", DECIMAL), None)]),
    ([(literal("1e0", DOUBLE),)], [(literal("1.0", DOUBLE),)]),
    ([(X,), (Y,)], [(Y,), (X,)]),
    ([(X, Term(f"_:{i}")) for i in range(500)], [(X, Term(f"_:n{i}")) for i in range(500)]),
]
DIFFERENT: list[tuple[list[Row], list[Row]]] = [
    ([(X,)], []),
    ([(X,)], [(X,), (X,)]),
    ([(A,)], [(X,)]),
    ([(None,)], [(A,)]),
    ([(A, A)], [(A, B)]),
    ([(A, B), (B, A)], [(A, B), (C, D)]),
    ([(A, B), (B, C), (C, A)], [(A, B), (B, A), (C, C)]),
    ([(X, A), (X, A), (X, B)], [(X, C), (X, B), (X, A)]),
    ([(literal("1", INTEGER),)], [(literal("1", DECIMAL),)]),
]


@pytest.mark.parametrize(("left", "right"), ALIKE)
def test_alike(left: list[Row], right: list[Row]) -> None:
    assert same(left, right)
    assert same(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different(left: list[Row], right: list[Row]) -> None:
    assert not same(left, right)
    assert not same(right, left)


def test_order_matters_where_it_is_asked_for() -> None:
    assert same([(X,), (A,), (Y,)], [(X,), (B,), (Y,)], ordered=True)
    assert not same([(X,), (Y,)], [(Y,), (X,)], ordered=True)
