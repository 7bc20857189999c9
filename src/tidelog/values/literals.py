"""The values of literals, and the string functions, for rules and SPARQL alike.

A literal whose text is not in the value space of its datatype has no value (None).

    numeral(text, datatype)    int, Decimal or float, as XML Schema defines them
    truth(term)                bool
    moment(term)               a point in time: xsd:date, xsd:dateTime
    tagged(term)               (text, language) of a string

Computed strings go through `string_term`: a string longer than `LONGEST_STRING` has no value.

Where a string function takes two strings, the second must be plain or have the language of the first. A result has the
language of the first argument, unless a docstring says otherwise.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from calendar import isleap
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from urllib.parse import quote

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
    boolean,
    double_text,
    integer,
    is_literal,
    literal,
    split_literal,
    string,
)

LONGEST_STRING = 1 << 20
DATE, DATE_TIME = f"{XSD}date", f"{XSD}dateTime"

# Longer numerals have no value: converting them takes time quadratic in their length.
_LONGEST_NUMERAL = 1000
# The value caches hold this many terms; longer terms are not cached.
CACHED = 1 << 16
LONGEST_CACHED = 200

INTEGER_TEXT = re.compile(r"[+-]?[0-9]+")
DECIMAL_TEXT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
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
    f"{XSD}long": (-(1 << 63), (1 << 63) - 1),
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


Moment = tuple[str, bool, Fraction]


def single(value: float) -> Single | None:
    """The nearest 32-bit number, or None when it is out of range."""
    try:
        return Single(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return None


def nearest_single(value: float) -> Single:
    """The nearest 32-bit number; infinity beyond the largest."""
    found = single(value)
    return Single(math.copysign(math.inf, value)) if found is None else found


def whole_number(value: float) -> float:
    """The nearest whole number; a half is rounded up. Zero keeps its sign."""
    below = math.floor(value)
    return math.copysign(below + (value - below >= 0.5), value)


def numeral(text: str, datatype: str) -> int | Decimal | float | None:
    """The number that `text` denotes in `datatype`, NaN included. An xsd:float is not yet rounded to 32 bits."""
    if len(text) > _LONGEST_NUMERAL:
        return None
    if datatype in INTEGER_TYPES:
        return int(text) if INTEGER_TEXT.fullmatch(text) and in_range(int(text), datatype) else None
    if datatype == DECIMAL:
        return Decimal(text) if DECIMAL_TEXT.fullmatch(text) else None
    if datatype not in (DOUBLE, FLOAT):
        return None
    return math.nan if text == "NaN" else float_value(text)


def in_range(value: int | Decimal, integer_type: str) -> bool:
    """Whether the value space of an integer type has the value."""
    low, high = INTEGER_TYPES[integer_type]
    return (low is None or value >= low) and (high is None or value <= high)


def float_value(text: str) -> float | None:
    """The double that an XML Schema numeral or infinity denotes; None for other texts."""
    return float(text) if _DOUBLE.fullmatch(text) else _INFINITIES.get(text)


def truth(term: Term) -> bool | None:
    """The boolean that a literal denotes; None if it is not a boolean."""
    return _TRUTHS.get(term)


def moment(term: Term) -> Moment | None:
    """A date or dateTime as (type, has a time zone, seconds). Moments are comparable if the first two are equal."""
    return _moment(term) if term[0] == '"' and term[-1] == ">" and len(term) <= LONGEST_CACHED else None


@lru_cache(CACHED)
def _moment(term: Term) -> Moment | None:
    text, datatype, _ = split_literal(term)
    kind = DATE_TIME if datatype == f"{XSD}dateTimeStamp" else datatype
    match = _MOMENT.fullmatch(text) if kind in (DATE, DATE_TIME) else None
    if match is None or (match[4] is None) != (kind == DATE):
        return None
    seconds = _seconds(match)
    return None if seconds is None else (kind, match[8] is not None, seconds)


def _seconds(match: re.Match[str]) -> Fraction | None:
    """Seconds since the first day of the year 0; in UTC if there is a time zone. None if there is no such date."""
    year, month, day, hour, minute, second = (int(match[i] or 0) for i in range(1, 7))
    fraction = Fraction(match[7] or 0)
    midnight = hour == 24 and minute == second == fraction == 0
    if not (1 <= month <= 12 and 1 <= day <= _month_length(year, month)):
        return None
    if not (midnight or hour < 24) or minute > 59 or second > 59:
        return None
    return ((_day_number(year, month, day) * 24 + hour) * 60 + minute - _offset(match[8])) * 60 + second + fraction


def _month_length(year: int, month: int) -> int:
    return 28 + isleap(year) if month == 2 else 30 + (month in (1, 3, 5, 7, 8, 10, 12))


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
    if term[-1] == '"' and term[0] == '"' and "\\" not in term:
        return term[1:-1], ""
    if not is_literal(term):
        return None
    text, datatype, language = split_literal(term)
    return (text, language) if datatype in (STRING, LANG_STRING) else None


def string_term(text: str, language: str = "") -> Term | None:
    """The term of a computed string; None if it is too long."""
    if len(text) > LONGEST_STRING:
        return None
    return literal(text, LANG_STRING, language) if language else string(text)


def single_text(value: Single) -> str:
    """The shortest decimal text of this 32-bit number."""
    shortest = next(t for digits in range(1, 10) if single(float(t := f"{value:.{digits}g}")) == value)
    return double_text(float(shortest))


def decimal_text(value: Decimal) -> str:
    """The text of a decimal without exponent and trailing zeros; zero has no sign."""
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if value else "0"


Function = Callable[..., Term | None]

LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


def text_function(change: Callable[[str], str]) -> Function:
    """The function that applies `change` to the text of a string and keeps the language."""

    def apply(term: Term) -> Term | None:
        return string_term(change(found[0]), found[1]) if (found := tagged(term)) else None

    return apply


def string_pair(first: Term, second: Term) -> tuple[str, str, str] | None:
    """(first text, second text, first language); None if the second has another language."""
    one, two = tagged(first), tagged(second)
    if one is None or two is None or two[1] not in ("", one[1]):
        return None
    return one[0], two[0], one[1]


def _tested(test: Callable[[str, str], bool]) -> Function:
    def apply(first: Term, second: Term) -> Term | None:
        return boolean(test(found[0], found[1])) if (found := string_pair(first, second)) else None

    return apply


def _length(term: Term) -> Term | None:
    return integer(len(found[0])) if (found := tagged(term)) else None


def _concatenation(*terms: Term) -> Term | None:
    """Keeps the language if all strings have the same one."""
    parts = [p for p in map(tagged, terms) if p is not None]
    if len(parts) < len(terms):
        return None
    languages = {language for _, language in parts}
    return string_term("".join(text for text, _ in parts), languages.pop() if len(languages) == 1 else "")


def _split(first: Term, second: Term, side: int) -> Term | None:
    """The first string before (0) or after (2) the second; a plain empty string where the second does not occur."""
    found = string_pair(first, second)
    if found is None:
        return None
    text, part, language = found
    if part not in text:
        return string_term("")
    sides = text.partition(part) if part else ("", "", text)
    return string_term(sides[side], language)


def percent_encoded(term: Term) -> Term | None:
    """The text with all characters percent-encoded except letters, digits and `-_.~`; without language."""
    return string_term(quote(found[0], safe="")) if (found := tagged(term)) else None


# Name -> function, least and most number of arguments (None: any number).
STRING_FUNCTIONS: dict[str, tuple[Function, int, int | None]] = {
    "STRLEN": (_length, 1, 1),
    "UCASE": (text_function(str.upper), 1, 1),
    "LCASE": (text_function(str.lower), 1, 1),
    "CONCAT": (_concatenation, 0, None),
    "STRAFTER": (lambda first, second: _split(first, second, 2), 2, 2),
    "STRBEFORE": (lambda first, second: _split(first, second, 0), 2, 2),
    "STRSTARTS": (_tested(str.startswith), 2, 2),
    "STRENDS": (_tested(str.endswith), 2, 2),
    "CONTAINS": (_tested(operator.contains), 2, 2),
}
