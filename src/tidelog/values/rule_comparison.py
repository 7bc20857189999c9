"""Numbers, texts and comparison of terms in rules, as in Nemo.

Joins compare terms; comparisons in rules compare values. `"042"^^xsd:integer`, `42` and `42.0` are three terms and one
value. A literal without a value equals only itself.

A computed number goes through `number_term`: an integer beyond 64 bits, or a double that is not finite, is no value.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache

from tidelog.model.terms import FLOAT, INTEGER, Term, double, integer, is_literal, literal, split_literal
from tidelog.values.literals import CACHED, LONGEST_CACHED, Single, moment, numeral, single, single_text, tagged, truth

SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1

# Most numbers are short integers; to read one costs less than to look it up in the cache.
_INTEGER_TAIL = f'"^^<{INTEGER}>'

RuleNumber = int | float | Decimal  # int: 64 bits; Single (a float): xsd:float; Decimal: not whole, or a longer integer


def number(term: Term) -> RuleNumber | None:
    """The number a literal stands for; NaN is none."""
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
    """The term of a computed number, if it is in range."""
    if isinstance(value, int):
        return integer(value) if SMALLEST <= value <= LARGEST else None
    if value is None or not math.isfinite(value):
        return None
    return literal(single_text(value), FLOAT) if isinstance(value, Single) else double(float(value))


def lexical(term: Term) -> str:
    """The text of a term, canonical where it has a value: `STR`. Doubles are written without exponent, as Nemo does."""
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
    """By value where both have one of a comparable kind, else by term."""
    return left == right or order(left, right) == 0


def order(left: Term, right: Term) -> int | None:
    """-1, 0 or 1; None where the two are not comparable. Numbers, booleans, moments and plain strings are ordered."""
    a, b = number(left), number(right)
    if a is not None and b is not None:
        return _number_order(a, b)
    if a is not None or b is not None:
        return None
    return _other_order(left, right)


def _number_order(a: RuleNumber, b: RuleNumber) -> int:
    """Exact between integers and decimals; as doubles once a double takes part."""
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
