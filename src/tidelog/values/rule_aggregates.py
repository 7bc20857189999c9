"""Aggregates of rules over the distinct tuples of one group. The order of the tuples does not change the result.

Integers are added exactly. Doubles are added with one final rounding (`math.fsum`), so every order gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from tidelog.model.terms import Term, integer, is_blank, is_iri
from tidelog.values.literals import Single, moment, single, tagged, truth
from tidelog.values.rule_numbers import RuleNumber, number, number_term

TermRows = Collection[tuple[Term, ...]]


def _numbers(rows: TermRows) -> list[RuleNumber]:
    """The numbers among the first components. Other terms are ignored, as in Nemo."""
    return [value for row in rows if (value := number(row[0])) is not None]


def exact_sum(values: Sequence[RuleNumber]) -> float | None:
    """The sum, rounded once at the end; None if it is not finite."""
    whole = sum(v for v in values if isinstance(v, int))
    real = [float(v) for v in values if not isinstance(v, int)]
    try:
        return math.fsum([*_halves(whole), *real])
    except OverflowError:  # perhaps only an intermediate sum overflows, which depends on the order
        return _exact_fraction(whole, real)
    except ValueError:
        return None


def _halves(whole: int) -> tuple[float, float]:
    """Two doubles whose exact sum is the integer (up to 106 bits)."""
    high = float(whole)
    return high, float(whole - int(high))


def _exact_fraction(whole: int, real: Sequence[float]) -> float | None:
    try:
        return float(sum(map(Fraction, real), Fraction(whole)))
    except (OverflowError, ValueError):
        return None


def _sum(rows: TermRows) -> Term | None:
    values = _numbers(rows)
    if all(isinstance(v, int) for v in values):
        return number_term(sum(int(v) for v in values)) if values else None
    total = exact_sum(values)
    if total is not None and all(isinstance(v, Single) for v in values):
        return number_term(single(total))
    return number_term(total)


def _average(rows: TermRows) -> Term | None:
    """The average as a double."""
    values = _numbers(rows)
    if not values:
        return None
    if all(isinstance(v, int) for v in values):
        return number_term(sum(int(v) for v in values) / len(values))
    total = exact_sum(values)
    return None if total is None else number_term(total / len(values))


def rank(term: Term) -> tuple[object, ...]:
    """A total order of all terms: blank nodes, IRIs, literals without order, booleans, moments, strings, numbers.

    Terms of one kind are ordered by value, then by type (integer before double), then by text, so the order is total.
    """
    if (value := number(term)) is not None:
        exact: RuleNumber | Fraction = Fraction(value) if isinstance(value, Decimal) else value
        return 6, exact, isinstance(value, float) + isinstance(value, Single), term
    if found := tagged(term):
        return 5, found
    if point := moment(term):
        return 4, point, term
    if (flag := truth(term)) is not None:
        return 3, flag, term
    return 0 if is_blank(term) else 1 if is_iri(term) else 2, term


AGGREGATES = MappingProxyType[str, Callable[[TermRows], Term | None]](
    {
        "count": lambda rows: integer(len(rows)),
        "sum": _sum,
        "min": lambda rows: min((row[0] for row in rows), key=rank, default=None),
        "max": lambda rows: max((row[0] for row in rows), key=rank, default=None),
        "avg": _average,
    }
)


def aggregate(function: str, rows: Collection[tuple[Term, ...]]) -> Term | None:
    """The aggregate over the distinct tuples of one group; None if it has no value.

    >>> from tidelog.model.terms import integer
    >>> aggregate("sum", [(integer(2), "<a>"), (integer(2), "<b>")])
    '"4"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    return AGGREGATES[function](set(rows))
