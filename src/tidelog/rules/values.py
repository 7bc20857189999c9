"""The values behind terms: what numbers, booleans, moments and strings mean, and how they compare.

Joins compare terms; comparisons in rules compare values. `"042"^^xsd:integer`, `42` and `42.0` are three terms and one
value. A literal whose text is not in its datatype's value space has no value and equals only itself.

    number(term)     int (64 bits), float, Single (xsd:float) or Decimal (other decimals and longer integers)
    truth(term)      bool
    moment(term)     a point in time: xsd:date, xsd:dateTime
    tagged(term)     (text, language) of a string

Results of functions go back through `number_term` and `string_term`, which keep them bounded: an integer beyond 64
bits, a double that is not finite, or a string longer than `LONGEST_STRING` is no value at all (None).
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from tidelog.model.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    LANG_STRING,
    STRING,
    XSD,
    Term,
    double,
    double_text,
    integer,
    is_literal,
    literal,
    split_literal,
    string,
)

LONGEST_STRING = 1 << 20
SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1
DATE, DATE_TIME = f"{XSD}date", f"{XSD}dateTime"

# Longer numerals are not read as numbers: converting them takes time quadratic in their length.
_LONGEST_NUMERAL = 1000
# Values are remembered for this many terms, none of them longer than that.
_CACHED = 1 << 16
_LONGEST_CACHED = 200

# Most numbers are short integers; reading them costs less than remembering them.
_INTEGER_TAIL = f'"^^<{INTEGER}>'
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITIES = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf}
_TRUTHS = {literal(t, BOOLEAN): t in ("true", "1") for t in ("true", "1", "false", "0")}
_MOMENT = re.compile(
    r"(-?[0-9]{4,9})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,18})?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)

# The value space of each integer type: smallest and largest, None for unbounded.
INTEGER_TYPES: dict[str, tuple[int | None, int | None]] = {
    INTEGER: (None, None),
    f"{XSD}long": (SMALLEST, LARGEST),
    f"{XSD}int": (-(1 << 31), (1 << 31) - 1),
    f"{XSD}short": (-(1 << 15), (1 << 15) - 1),
    f"{XSD}byte": (-(1 << 7), (1 << 7) - 1),
    f"{XSD}nonNegativeInteger": (0, None),
    f"{XSD}positiveInteger": (1, None),
    f"{XSD}nonPositiveInteger": (None, 0),
    f"{XSD}negativeInteger": (None, -1),
    f"{XSD}unsignedLong": (0, (1 << 64) - 1),
    f"{XSD}unsignedInt": (0, (1 << 32) - 1),
    f"{XSD}unsignedShort": (0, (1 << 16) - 1),
    f"{XSD}unsignedByte": (0, (1 << 8) - 1),
}


class Single(float):
    """A 32-bit floating point number (xsd:float), held as the double of the same value."""

    __slots__ = ()


Number = int | float | Decimal
Moment = tuple[str, bool, Fraction]


def single(value: float) -> Single | None:
    """The nearest 32-bit number, or None when it is out of range."""
    try:
        return Single(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return None


def number(term: Term) -> Number | None:
    """The number a literal stands for; NaN is none."""
    if term[0] != '"' or term[-1] != ">":
        return None
    text = term[1 : -len(_INTEGER_TAIL)]
    if len(text) < 19 and text.isdigit() and text.isascii() and term.endswith(_INTEGER_TAIL):
        return int(text)
    return _number(term) if len(term) <= _LONGEST_CACHED else _number.__wrapped__(term)


@lru_cache(_CACHED)
def _number(term: Term) -> Number | None:
    text, datatype, _ = split_literal(term)
    if len(text) > _LONGEST_NUMERAL:
        return None
    if datatype in INTEGER_TYPES:
        return _integer_value(text, *INTEGER_TYPES[datatype])
    if datatype == DOUBLE:
        return float_value(text)
    if datatype == DECIMAL:
        return _narrowed(Decimal(text)) if _DECIMAL.fullmatch(text) else None
    if datatype == FLOAT:
        value = float_value(text)
        return None if value is None else single(value)
    return None


def _integer_value(text: str, low: int | None, high: int | None) -> Number | None:
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    if (low is not None and value < low) or (high is not None and value > high):
        return None
    return value if SMALLEST <= value <= LARGEST else Decimal(value)


def _narrowed(value: Decimal) -> Number:
    """A whole decimal of 64 bits is an integer, as `2.0` and `2` are one decimal."""
    return int(value) if SMALLEST <= value <= LARGEST and value == int(value) else value


def float_value(text: str) -> float | None:
    """The double an XML Schema numeral or infinity denotes."""
    return float(text) if _DOUBLE.fullmatch(text) else _INFINITIES.get(text)


def truth(term: Term) -> bool | None:
    """The boolean a literal stands for."""
    return _TRUTHS.get(term)


def moment(term: Term) -> Moment | None:
    """A date or dateTime as (type, has a time zone, seconds): those with the same first two are comparable."""
    return _moment(term) if term[0] == '"' and term[-1] == ">" and len(term) <= _LONGEST_CACHED else None


@lru_cache(_CACHED)
def _moment(term: Term) -> Moment | None:
    text, datatype, _ = split_literal(term)
    kind = DATE_TIME if datatype == f"{XSD}dateTimeStamp" else datatype
    match = _MOMENT.fullmatch(text) if kind in (DATE, DATE_TIME) else None
    if match is None or (match[4] is None) != (kind == DATE):
        return None
    seconds = _seconds(match)
    return None if seconds is None else (kind, match[8] is not None, seconds)


def _seconds(match: re.Match[str]) -> Fraction | None:
    """Seconds since the first day of the year 0, in UTC when there is a time zone."""
    year, month, day, hour, minute, second = (int(match[i] or 0) for i in range(1, 7))
    fraction = Fraction(match[7] or 0)
    midnight = hour == 24 and minute == second == fraction == 0
    if not (1 <= month <= 12 and 1 <= day <= _month_length(year, month)):
        return None
    if not (midnight or hour < 24) or minute > 59 or second > 59:
        return None
    return ((_day_number(year, month, day) * 24 + hour) * 60 + minute - _offset(match[8])) * 60 + second + fraction


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _month_length(year: int, month: int) -> int:
    return 28 + _leap(year) if month == 2 else 30 + (month in (1, 3, 5, 7, 8, 10, 12))


def _day_number(year: int, month: int, day: int) -> int:
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + sum(_month_length(year, m) for m in range(1, month)) + day


def _offset(zone: str | None) -> int:
    """A time zone in minutes east of Greenwich."""
    if zone is None or zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes


def tagged(term: Term) -> tuple[str, str] | None:
    """The text and language ("" for none) of a plain or language-tagged string."""
    if not is_literal(term):
        return None
    text, datatype, language = split_literal(term)
    return (text, language) if datatype in (STRING, LANG_STRING) else None


def number_term(value: Number | None) -> Term | None:
    """The term of a computed number, if it is in range."""
    if isinstance(value, int):
        return integer(value) if SMALLEST <= value <= LARGEST else None
    if value is None or not math.isfinite(value):
        return None
    return literal(single_text(value), FLOAT) if isinstance(value, Single) else double(float(value))


def string_term(text: str, language: str = "") -> Term | None:
    """The term of a computed string, if it is not too long."""
    if len(text) > LONGEST_STRING:
        return None
    return literal(text, LANG_STRING, language) if language else string(text)


def single_text(value: Single) -> str:
    """The shortest decimal that is read back as the same 32-bit number."""
    shortest = next(t for digits in range(1, 10) if single(float(t := f"{value:.{digits}g}")) == value)
    return double_text(float(shortest))


def lexical(term: Term) -> str:
    """The text of a term, canonical where it has a value: `STR`. Doubles are written without exponent, as Nemo does."""
    if not is_literal(term):
        return term[1:-1] if term[0] == "<" else term[2:]
    value: Number | bool | None = truth(term)
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


def _number_order(a: Number, b: Number) -> int:
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
