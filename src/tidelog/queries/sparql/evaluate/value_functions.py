"""Functions on strings, numbers and dates (sections 17.4.3 to 17.4.5). None is an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from urllib.parse import quote

from tidelog.model.terms import DECIMAL, LANG_STRING, XSD, Term, boolean, integer, literal, split_literal, string
from tidelog.queries.sparql.evaluate.numbers import (
    DECIMAL_RANK,
    INTEGER_RANK,
    Number,
    decimal_text,
    number,
    number_term,
)
from tidelog.queries.sparql.evaluate.term_functions import Function
from tidelog.rules.values import DATE, DATE_TIME, LONGEST_STRING, moment
from tidelog.rules.values import tagged as slowly_tagged

_PARTS = re.compile(
    r"(-?[0-9]+)-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?))?(Z|[+-][0-9:]+)?"
)


def tagged(term: Term) -> tuple[str, str] | None:
    """The text and language ("" for none) of a string; most have no language and nothing that is escaped."""
    if term[0] == '"' and term[-1] == '"' and "\\" not in term:
        return term[1:-1], ""
    return slowly_tagged(term)


def text_term(text: str, tag: str = "") -> Term | None:
    """A computed string; a very long one is an error."""
    if len(text) > LONGEST_STRING:
        return None
    return literal(text, LANG_STRING, tag) if tag else string(text)


def _on_text(function: Callable[[str], str]) -> Function:
    """A function that keeps the language."""

    def apply(term: Term) -> Term | None:
        found = tagged(term)
        return None if found is None else text_term(function(found[0]), found[1])

    return apply


def _length(term: Term) -> Term | None:
    found = tagged(term)
    return None if found is None else integer(len(found[0]))


def _encoded(term: Term) -> Term | None:
    found = tagged(term)
    return None if found is None else string(quote(found[0], safe="-_.~"))


def compatible(a: Term, b: Term) -> tuple[str, str, str] | None:
    """Both texts and the language of the first, if the second has the same language or none."""
    s, t = tagged(a), tagged(b)
    if s is None or t is None or (t[1] and t[1] != s[1]):
        return None
    return s[0], t[0], s[1]


def _on_both(test: Callable[[str, str], bool]) -> Function:
    def apply(a: Term, b: Term) -> Term | None:
        found = compatible(a, b)
        return None if found is None else boolean(test(found[0], found[1]))

    return apply


def _before(a: Term, b: Term) -> Term | None:
    found = compatible(a, b)
    if found is None:
        return None
    head, separator, _ = found[0].partition(found[1]) if found[1] else ("", "x", "")
    return text_term(head, found[2]) if separator else string("")


def _after(a: Term, b: Term) -> Term | None:
    found = compatible(a, b)
    if found is None:
        return None
    _, separator, tail = found[0].partition(found[1]) if found[1] else ("", "x", found[0])
    return text_term(tail, found[2]) if separator else string("")


def _substring(term: Term, start: Term, *length: Term) -> Term | None:
    found, first = tagged(term), number(start)
    if found is None or first is None:
        return None
    last = math.inf
    if length:
        count = number(length[0])
        if count is None:
            return None
        last = _half_up(first.value) + _half_up(count.value)
    begin = max(_half_up(first.value), 1)
    if begin != begin or last != last or math.isinf(begin):
        return text_term("", found[1])
    stop = len(found[0]) if math.isinf(last) and last > 0 else max(int(last) - 1, 0) if not math.isinf(last) else 0
    return text_term(found[0][int(begin) - 1 : stop], found[1])


def _half_up(value: int | Decimal | float) -> float:
    return float(value) if isinstance(value, float) and not math.isfinite(value) else math.floor(float(value) + 0.5)


def _concatenation(*terms: Term) -> Term | None:
    parts = [tagged(term) for term in terms]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    tags = {tag for _, tag in known}
    return text_term("".join(text for text, _ in known), tags.pop() if len(tags) == 1 else "")


def _rounding(whole: Callable[[Decimal], Decimal], real: Callable[[float], float]) -> Function:
    def apply(term: Term) -> Term | None:
        found = number(term)
        if found is None:
            return None
        rank, value = found
        if rank == INTEGER_RANK:
            return number_term(found)
        if rank == DECIMAL_RANK:
            return number_term(Number(rank, whole(Decimal(value))))
        return number_term(Number(rank, real(float(value)) if math.isfinite(value) else float(value)))

    return apply


def _whole(rounding: str) -> Callable[[Decimal], Decimal]:
    return lambda value: value.to_integral_value(rounding=rounding)


def _nearest(value: Decimal) -> Decimal:
    """Half a unit goes up."""
    return value.to_integral_value(rounding=ROUND_HALF_UP if value > 0 else ROUND_HALF_DOWN)


def _nearest_real(value: float) -> float:
    return math.copysign(math.floor(value + 0.5), value)


def _absolute(term: Term) -> Term | None:
    found = number(term)
    return None if found is None else number_term(Number(found.rank, found.value if found.value > 0 else -found.value))


def _negative(term: Term) -> Term | None:
    found = number(term)
    return None if found is None else number_term(Number(found.rank, -found.value))


def _positive(term: Term) -> Term | None:
    found = number(term)
    return None if found is None else number_term(found)


def _part(index: int, *kinds: str) -> Function:
    def apply(term: Term) -> Term | None:
        parts = _moment_parts(term, kinds)
        return None if parts is None else integer(int(parts[index]))

    return apply


def _moment_parts(term: Term, kinds: tuple[str, ...]) -> re.Match[str] | None:
    """The parts of a date or dateTime as written."""
    found = moment(term)
    if found is None or found[0] not in kinds:
        return None
    return _PARTS.fullmatch(split_literal(term)[0])


def _seconds(term: Term) -> Term | None:
    parts = _moment_parts(term, (DATE_TIME,))
    return None if parts is None else literal(decimal_text(Decimal(parts[6])), DECIMAL)


def _zone(term: Term) -> Term | None:
    parts = _moment_parts(term, (DATE_TIME, DATE))
    return None if parts is None else string(parts[7] or "")


def _time_zone(term: Term) -> Term | None:
    """As a duration."""
    parts = _moment_parts(term, (DATE_TIME, DATE))
    if parts is None or parts[7] is None:
        return None
    zone = parts[7]
    hours, minutes = (0, 0) if zone == "Z" else (int(zone[1:3]), int(zone[4:6]))
    text = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") or "0S"
    return literal(f"{'-' if zone[0] == '-' and text != '0S' else ''}PT{text}", f"{XSD}dayTimeDuration")


VALUE_FUNCTIONS: dict[str, Function] = {
    "STRLEN": _length,
    "UCASE": _on_text(str.upper),
    "LCASE": _on_text(str.lower),
    "ENCODE_FOR_URI": _encoded,
    "CONTAINS": _on_both(lambda s, t: t in s),
    "STRSTARTS": _on_both(str.startswith),
    "STRENDS": _on_both(str.endswith),
    "STRBEFORE": _before,
    "STRAFTER": _after,
    "SUBSTR": _substring,
    "CONCAT": _concatenation,
    "ABS": _absolute,
    "CEIL": _rounding(_whole(ROUND_CEILING), lambda v: float(math.ceil(v))),
    "FLOOR": _rounding(_whole(ROUND_FLOOR), lambda v: float(math.floor(v))),
    "ROUND": _rounding(_nearest, _nearest_real),
    "unary -": _negative,
    "unary +": _positive,
    "YEAR": _part(1, DATE_TIME, DATE),
    "MONTH": _part(2, DATE_TIME, DATE),
    "DAY": _part(3, DATE_TIME, DATE),
    "HOURS": _part(4, DATE_TIME),
    "MINUTES": _part(5, DATE_TIME),
    "SECONDS": _seconds,
    "TIMEZONE": _time_zone,
    "TZ": _zone,
}
