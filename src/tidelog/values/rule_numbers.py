"""Numbers in rules, as in Nemo: values, order and arithmetic.

Joins compare terms; comparisons in rules compare values. `"042"^^xsd:integer`, `42` and `42.0` are three terms and one
value. A literal without a value equals only itself.

Integers of 64 bits stay integers, 32-bit numbers stay 32-bit numbers, and a mixture is computed in doubles. A decimal
that is not whole is computed as a double. A result outside of 64 bits, a double that is not finite, a division by zero
and the root of a negative number have no value (None).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache, reduce
from typing import Any

from tidelog.model.terms import FLOAT, INTEGER, Term, double, integer, is_literal, literal, split_literal
from tidelog.values.literals import (
    CACHED,
    LONGEST_CACHED,
    Function,
    Single,
    moment,
    numeral,
    single,
    single_text,
    tagged,
    truth,
    whole_number,
)

SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1

# Most numbers are short integers. To read one is faster than a look-up in the cache.
_INTEGER_TAIL = f'"^^<{INTEGER}>'

RuleNumber = int | float | Decimal  # int: 64 bits; Single (a float): xsd:float; Decimal: fractions, larger integers


def number(term: Term) -> RuleNumber | None:
    """The number that a literal denotes; None for other terms and for NaN."""
    if term[0] != '"' or term[-1] != ">":
        return None
    text = term[1 : -len(_INTEGER_TAIL)]
    if len(text) < 19 and text.isdigit() and text.isascii() and term.endswith(_INTEGER_TAIL):
        return int(text)
    return _number(term) if len(term) <= LONGEST_CACHED else _number.__wrapped__(term)


@lru_cache(CACHED)
def _number(term: Term) -> RuleNumber | None:
    text, datatype, _ = split_literal(term)
    value = numeral(text, datatype)
    if value is None or value != value:
        return None
    if isinstance(value, float):
        return single(value) if datatype == FLOAT else value
    return int(value) if SMALLEST <= value <= LARGEST and value == int(value) else Decimal(value)


def number_term(value: RuleNumber | None) -> Term | None:
    """The term of a computed number; None if it is out of range."""
    if isinstance(value, int):
        return integer(value) if SMALLEST <= value <= LARGEST else None
    if value is None or not math.isfinite(value):
        return None
    return literal(single_text(value), FLOAT) if isinstance(value, Single) else double(float(value))


def lexical(term: Term) -> str:
    """`STR`: the text of a term, canonical if it has a value. Doubles have no exponent, as in Nemo."""
    if not is_literal(term):
        return term[1:-1] if term[0] == "<" else term[2:]
    value: RuleNumber | bool | None = truth(term)
    if value is None:
        value = number(term)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or (isinstance(value, float) and math.isinf(value)):
        return split_literal(term)[0]
    return str(value) if isinstance(value, int) else _plain_decimal(value)


def _plain_decimal(value: float | Decimal) -> str:
    if isinstance(value, float):
        value = Decimal(single_text(value) if isinstance(value, Single) else repr(value))
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def equal(left: Term, right: Term) -> bool:
    """By value if both terms have values of a comparable kind, else by term."""
    return left == right or order(left, right) == 0


def order(left: Term, right: Term) -> int | None:
    """-1, 0 or 1; None if the two are not comparable. Numbers, booleans, moments and plain strings have an order."""
    a, b = number(left), number(right)
    if a is not None and b is not None:
        return _number_order(a, b)
    if a is not None or b is not None:
        return None
    return _other_order(left, right)


def _number_order(a: RuleNumber, b: RuleNumber) -> int:
    """Exact between integers and decimals; by doubles if one of the two is a float."""
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    return (a > b) - (a < b)


def _other_order(left: Term, right: Term) -> int | None:
    s, t = tagged(left), tagged(right)
    if s is not None and t is not None:
        return (s > t) - (s < t) if s[1] == t[1] == "" else None
    p, q = truth(left), truth(right)
    if p is not None and q is not None:
        return p - q
    m, n = moment(left), moment(right)
    if m is not None and n is not None and m[:2] == n[:2]:
        return (m[2] > n[2]) - (m[2] < n[2])
    return None


_WORD = (1 << 64) - 1


def _operands(terms: tuple[Term, ...]) -> list[int | float] | None:
    """The numbers in one common type: integers, 32-bit numbers, or else doubles. None if a term is no number."""
    numbers = [n for n in map(number, terms) if n is not None]
    if len(numbers) < len(terms):
        return None
    whole = [n for n in numbers if isinstance(n, int)]
    singles = [n for n in numbers if isinstance(n, Single)]
    if len(terms) in (len(whole), len(singles)):
        return [*whole, *singles]
    return [float(n) for n in numbers]


def numeric(whole: Callable[..., Any] | None, real: Callable[..., Any] | None) -> Function:
    """A function of numbers: `whole` computes it for integers and `real` for floats; None means no value."""

    def apply(*terms: Term) -> Term | None:
        operands = _operands(terms)
        if not operands:
            return None
        compute = whole if isinstance(operands[0], int) else real
        try:
            return None if compute is None else number_term(_like(operands[0], compute(*operands)))
        except (ArithmeticError, ValueError):
            return None

    return apply


def _like(operand: int | float, result: RuleNumber | None) -> RuleNumber | None:
    """The result, rounded to 32 bits if the operands have 32 bits."""
    return single(float(result)) if isinstance(operand, Single) and result is not None else result


def _sum(*xs: Any) -> Any:
    return reduce(operator.add, xs)


def _difference(x: Any, *rest: Any) -> Any:
    """`x - y`, or `-x` for a single argument."""
    return x - rest[0] if rest else -x


def _product(*xs: Any) -> Any:
    return reduce(operator.mul, xs)


def _whole_quotient(x: int, y: int) -> int:
    """Rounded towards zero."""
    return x // y if (x < 0) == (y < 0) else -(-x // y)


def _whole_remainder(x: int, y: int) -> int:
    """With the sign of the dividend."""
    return x - y * _whole_quotient(x, y)


def _whole_power(x: int, y: int) -> int | None:
    if y < 0 or (abs(x) > 1 and y > 64):
        return None  # a fraction, or certainly beyond 64 bits
    power: int = x ** min(y, 64 + y % 2)
    return power


def _whole_logarithm(x: int, base: int) -> int | None:
    """The largest n with base**n <= x."""
    if x < 1 or base < 2:
        return None
    n = 0
    while x >= base:
        x //= base
        n += 1
    return n


def _lukasiewicz(*xs: float) -> float:
    return max(0.0, float(_sum(*xs)) - (len(xs) - 1))


def _signed(x: int) -> int:
    """The 64-bit integer with these low 64 bits."""
    x &= _WORD
    return x - (1 << 64) if x > LARGEST else x


def _shift(shift: Callable[[int, int], int]) -> Function:
    """A shift of 64-bit integers. Only the low six bits of the distance are used, as in hardware."""

    def whole(x: int, distance: int) -> int | None:
        return _signed(shift(x, distance & 63)) if distance >= 0 else None

    return numeric(whole, None)


def _bitwise(operation: Callable[[int, int], int]) -> Function:
    def whole(*xs: int) -> int:
        return reduce(operation, xs)

    return numeric(whole, None)


PLUS = numeric(_sum, _sum)
MINUS = numeric(_difference, _difference)
TIMES = numeric(_product, _product)
DIVIDED = numeric(_whole_quotient, operator.truediv)

# Name -> function, least and most number of arguments (None: any number).
NUMERIC: dict[str, tuple[Function, int, int | None]] = {
    "SUM": (PLUS, 1, None),
    "SUBTRACTION": (MINUS, 2, 2),
    "PRODUCT": (TIMES, 1, None),
    "DIVISION": (DIVIDED, 2, 2),
    "INVERTSIGN": (MINUS, 1, 1),
    "ABS": (numeric(abs, abs), 1, 1),
    "SQRT": (numeric(math.isqrt, math.sqrt), 1, 1),
    "SIN": (numeric(None, math.sin), 1, 1),
    "COS": (numeric(None, math.cos), 1, 1),
    "TAN": (numeric(None, math.tan), 1, 1),
    "ROUND": (numeric(int, whole_number), 1, 1),
    "CEIL": (numeric(int, lambda x: math.copysign(math.ceil(x), x)), 1, 1),
    "FLOOR": (numeric(int, lambda x: math.copysign(math.floor(x), x)), 1, 1),
    "LOG": (numeric(_whole_logarithm, math.log), 2, 2),
    "POW": (numeric(_whole_power, math.pow), 2, 2),
    "REM": (numeric(_whole_remainder, math.fmod), 2, 2),
    "MIN": (numeric(lambda *xs: min(xs), lambda *xs: min(xs)), 1, None),
    "MAX": (numeric(lambda *xs: max(xs), lambda *xs: max(xs)), 1, None),
    "LUKA": (numeric(None, _lukasiewicz), 1, None),
    "BITAND": (_bitwise(operator.and_), 1, None),
    "BITOR": (_bitwise(operator.or_), 1, None),
    "BITXOR": (_bitwise(operator.xor), 1, None),
    "BITSHL": (_shift(operator.lshift), 2, 2),
    "BITSHR": (_shift(operator.rshift), 2, 2),
    "BITSHRU": (_shift(lambda x, distance: (x & _WORD) >> distance), 2, 2),
}
