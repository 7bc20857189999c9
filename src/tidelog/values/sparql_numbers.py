"""Numbers in SPARQL: integer, decimal, float and double, with the type promotion of XPath."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from functools import lru_cache
from typing import NamedTuple

from tidelog.model.terms import DECIMAL, DOUBLE, FLOAT, INTEGER, Term, double_text, literal, split_literal
from tidelog.values.literals import CACHED, Single, decimal_text, nearest_single, numeral, single_text

INTEGER_RANK, DECIMAL_RANK, FLOAT_RANK, DOUBLE_RANK = range(4)
_TYPES = (INTEGER, DECIMAL, FLOAT, DOUBLE)
_LONGEST = 1000  # digits of a computed integer
_PRECISE = Context(prec=60)
_FRACTION = Decimal(1).scaleb(-18)  # quotients of decimals have 18 digits after the point


class SparqlNumber(NamedTuple):
    rank: int
    value: int | Decimal | float


@lru_cache(CACHED)
def number(term: Term) -> SparqlNumber | None:
    """The number that a literal denotes; None for other terms and for a text that is wrong for its type."""
    if term[0] != '"' or term[-1] != ">":
        return None
    text, datatype, _ = split_literal(term)
    return number_of(text, datatype)


def number_of(text: str, datatype: str) -> SparqlNumber | None:
    """The number that `text` denotes in `datatype`; white space around it is ignored."""
    value = numeral(text.strip(" \t\n\r"), datatype)
    if value is None:
        return None
    if isinstance(value, float):
        return (
            SparqlNumber(DOUBLE_RANK, value) if datatype == DOUBLE else SparqlNumber(FLOAT_RANK, nearest_single(value))
        )
    return SparqlNumber(INTEGER_RANK if isinstance(value, int) else DECIMAL_RANK, value)


def number_term(number: SparqlNumber) -> Term | None:
    """The canonical literal of a number; None if an integer has too many digits."""
    rank, value = number
    if rank == INTEGER_RANK:
        text = str(value) if abs(value) < 10**_LONGEST else None
    elif rank == DECIMAL_RANK:
        text = decimal_text(Decimal(value))
    elif rank == FLOAT_RANK and math.isfinite(value):
        text = single_text(Single(value))
    else:
        text = double_text(float(value))
    return None if text is None else literal(text, _TYPES[rank])


def number_text(number: SparqlNumber) -> str:
    """The text of a number in XPath: without exponent between 0.000001 and 1,000,000."""
    rank, value = number
    if rank <= DECIMAL_RANK:
        return decimal_text(Decimal(value))
    if not math.isfinite(value):
        return double_text(float(value))
    shortest = Decimal(single_text(Single(value)) if rank == FLOAT_RANK else repr(float(value)))
    if not value or 1e-6 <= abs(float(value)) < 1e6:
        return decimal_text(shortest)
    digits, exponent = f"{shortest.normalize():E}".split("E")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def promoted(a: SparqlNumber, b: SparqlNumber) -> tuple[int, int | Decimal | float, int | Decimal | float]:
    """(rank, x, y): both numbers converted to the lowest type that has both."""
    rank = max(a.rank, b.rank)
    return rank, converted(a, rank), converted(b, rank)


def converted(number: SparqlNumber, rank: int) -> int | Decimal | float:
    if rank == INTEGER_RANK:
        return number.value
    if rank == DECIMAL_RANK:
        return Decimal(number.value)
    try:
        value = float(number.value)
    except OverflowError:
        value = math.copysign(math.inf, number.value)
    return nearest_single(value) if rank == FLOAT_RANK else value


def order(a: SparqlNumber, b: SparqlNumber) -> int | None:
    """-1, 0 or 1; None for NaN."""
    _, x, y = promoted(a, b)
    return None if x != x or y != y else (x > y) - (x < y)


Operator = Callable[..., int | Decimal | float]


def calculate(operator: str, a: SparqlNumber, b: SparqlNumber) -> SparqlNumber | None:
    """`+ - * /` of XPath; None if there is no result."""
    rank, x, y = promoted(a, b)
    if operator == "/":
        return _quotient(rank, x, y)
    try:
        with localcontext(_PRECISE):
            result = _OPERATORS[operator](x, y)
    except ArithmeticError:
        return None
    return SparqlNumber(rank, nearest_single(float(result)) if rank == FLOAT_RANK else result)


_OPERATORS: dict[str, Operator] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
}


def _quotient(rank: int, x: int | Decimal | float, y: int | Decimal | float) -> SparqlNumber | None:
    if rank <= DECIMAL_RANK:
        if not y:
            return None
        with localcontext(_PRECISE):
            quotient = Decimal(x) / Decimal(y)
            try:
                return SparqlNumber(DECIMAL_RANK, quotient.quantize(_FRACTION, rounding=ROUND_DOWN))
            except ArithmeticError:
                return SparqlNumber(DECIMAL_RANK, quotient)
    p, q = float(x), float(y)
    if q:
        result = p / q
    elif p != p or not p:
        result = math.nan
    else:
        result = math.copysign(math.inf, p) * math.copysign(1.0, q)
    return SparqlNumber(rank, nearest_single(result) if rank == FLOAT_RANK else result)
