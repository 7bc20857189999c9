"""Numeric functions, as in Nemo: integers of 64 bits stay integers, 32-bit numbers stay 32 bits, mixtures are doubles.

What has no result has none: a division by zero, an overflow, the root of a negative number, a double that would not be
finite. Decimals that are not whole take part as doubles.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce

from tidelog.model.terms import Term
from tidelog.values.literals import Single, single
from tidelog.values.rule_comparison import LARGEST, RuleNumber, number, number_term
from tidelog.values.strings import Function

_WORD = (1 << 64) - 1


def _operands(terms: tuple[Term, ...]) -> list[int | float] | None:
    """The numbers, all of one type: integers, singles, or else doubles."""
    numbers = [n for n in map(number, terms) if n is not None]
    if len(numbers) < len(terms):
        return None
    whole = [n for n in numbers if isinstance(n, int)]
    singles = [n for n in numbers if isinstance(n, Single)]
    if len(terms) in (len(whole), len(singles)):
        return [*whole, *singles]
    return [float(n) for n in numbers]


def numeric(whole: Callable[..., int | None] | None, real: Callable[..., float] | None) -> Function:
    """A function of numbers from its halves for integers and for floating point; without a half there is no value."""

    def apply(*terms: Term) -> Term | None:
        operands = _operands(terms)
        if not operands:
            return None
        half = whole if isinstance(operands[0], int) else real
        try:
            return None if half is None else number_term(_like(operands[0], half(*operands)))
        except (ArithmeticError, ValueError):
            return None

    return apply


def _like(operand: int | float, result: RuleNumber | None) -> RuleNumber | None:
    """The result with the precision of the operands."""
    return single(float(result)) if isinstance(operand, Single) and result is not None else result


def _minus(x: float, *rest: float) -> float:
    return x - rest[0] if rest else -x


def _whole_minus(x: int, *rest: int) -> int:
    return x - rest[0] if rest else -x


def _whole_quotient(x: int, y: int) -> int:
    """Towards zero."""
    return x // y if (x < 0) == (y < 0) else -(-x // y)


def _whole_remainder(x: int, y: int) -> int:
    """With the sign of the dividend."""
    return x - y * _whole_quotient(x, y)


def _whole_power(x: int, y: int) -> int | None:
    if y < 0 or (abs(x) > 1 and y > 64):
        return None  # not whole, or beyond 64 bits and not even computed
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


def _whole_sum(*xs: int) -> int:
    return sum(xs)


def _real_sum(*xs: float) -> float:
    return reduce(operator.add, xs)


def _whole_product(*xs: int) -> int:
    return reduce(operator.mul, xs)


def _real_product(*xs: float) -> float:
    return reduce(operator.mul, xs)


def _smallest(*xs: float) -> float:
    return min(xs)


def _largest(*xs: float) -> float:
    return max(xs)


def _whole_smallest(*xs: int) -> int:
    return min(xs)


def _whole_largest(*xs: int) -> int:
    return max(xs)


def _same(x: int) -> int:
    return x


def _round(x: float) -> float:
    """To the nearest whole number, halves upwards; a zero keeps its sign."""
    below = math.floor(x)
    return math.copysign(below + (x - below >= 0.5), x)


def _ceil(x: float) -> float:
    return math.copysign(math.ceil(x), x)


def _floor(x: float) -> float:
    return math.copysign(math.floor(x), x)


def _lukasiewicz(*xs: float) -> float:
    return max(0.0, _real_sum(*xs) - (len(xs) - 1))


def _signed(x: int) -> int:
    """The 64-bit integer with these low 64 bits."""
    x &= _WORD
    return x - (1 << 64) if x > LARGEST else x


def _shift(shift: Callable[[int, int], int]) -> Function:
    """A shift; only the low six bits of the distance count, as in hardware."""

    def whole(x: int, distance: int) -> int | None:
        return _signed(shift(x, distance & 63)) if distance >= 0 else None

    return numeric(whole, None)


def _unsigned_right(x: int, distance: int) -> int:
    return (x & _WORD) >> distance


def _bitwise(operation: Callable[[int, int], int]) -> Function:
    def whole(*xs: int) -> int:
        return reduce(operation, xs)

    return numeric(whole, None)


PLUS = numeric(_whole_sum, _real_sum)
MINUS = numeric(_whole_minus, _minus)
TIMES = numeric(_whole_product, _real_product)
DIVIDED = numeric(_whole_quotient, operator.truediv)

# name -> the function, the least and the most number of arguments (None: any)
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
    "ROUND": (numeric(_same, _round), 1, 1),
    "CEIL": (numeric(_same, _ceil), 1, 1),
    "FLOOR": (numeric(_same, _floor), 1, 1),
    "LOG": (numeric(_whole_logarithm, math.log), 2, 2),
    "POW": (numeric(_whole_power, math.pow), 2, 2),
    "REM": (numeric(_whole_remainder, math.fmod), 2, 2),
    "MIN": (numeric(_whole_smallest, _smallest), 1, None),
    "MAX": (numeric(_whole_largest, _largest), 1, None),
    "LUKA": (numeric(None, _lukasiewicz), 1, None),
    "BITAND": (_bitwise(operator.and_), 1, None),
    "BITOR": (_bitwise(operator.or_), 1, None),
    "BITXOR": (_bitwise(operator.xor), 1, None),
    "BITSHL": (_shift(operator.lshift), 2, 2),
    "BITSHR": (_shift(operator.rshift), 2, 2),
    "BITSHRU": (_shift(_unsigned_right), 2, 2),
}
