"""The functions of SPARQL on terms, strings, numbers and dates, and its casts (SPARQL 1.1, sections 17.4 and 17.5).

A function takes terms and returns a term, or None for an error.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

from tidelog.model.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    STRING,
    XSD,
    Term,
    boolean,
    integer,
    iri,
    is_blank,
    is_iri,
    is_literal,
    literal,
    split_literal,
    string,
)
from tidelog.values.literals import (
    DATE,
    DATE_TIME,
    LANGUAGE_TAG,
    STRING_FUNCTIONS,
    Function,
    decimal_text,
    moment,
    percent_encoded,
    string_term,
    tagged,
    truth,
    whole_number,
)
from tidelog.values.sparql_numbers import (
    DECIMAL_RANK,
    DOUBLE_RANK,
    FLOAT_RANK,
    INTEGER_RANK,
    SparqlNumber,
    converted,
    number,
    number_of,
    number_term,
    number_text,
)

_RANKS = {INTEGER: INTEGER_RANK, DECIMAL: DECIMAL_RANK, FLOAT: FLOAT_RANK, DOUBLE: DOUBLE_RANK}
_PARTS = re.compile(
    r"(-?[0-9]+)-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?))?(Z|[+-][0-9:]+)?"
)


def lexical(term: Term) -> Term | None:
    """STR: the text of a literal as written, or of an IRI."""
    if is_blank(term):
        return None
    return string(term[1:-1] if is_iri(term) else split_literal(term)[0])


def language(term: Term) -> Term | None:
    return string(split_literal(term)[2]) if is_literal(term) else None


def datatype(term: Term) -> Term | None:
    return iri(split_literal(term)[1]) if is_literal(term) else None


def plain_text(term: Term) -> str | None:
    """The text of a plain string; None for other terms."""
    return split_literal(term)[0] if term[0] == '"' and term[-1] == '"' else None


def with_datatype(text: Term, type_: Term) -> Term | None:
    plain = plain_text(text)
    return literal(plain, type_[1:-1]) if plain is not None and is_iri(type_) else None


def with_language(text: Term, tag: Term) -> Term | None:
    plain, name = plain_text(text), plain_text(tag)
    if plain is None or name is None or not LANGUAGE_TAG.fullmatch(name):
        return None
    return literal(plain, language=name)


def language_matches(tag: Term, wanted: Term) -> Term | None:
    """Basic filtering of RFC 4647."""
    have, want = plain_text(tag), plain_text(wanted)
    if have is None or want is None:
        return None
    have, want = have.lower(), want.lower()
    return boolean(bool(have) if want == "*" else have == want or have.startswith(f"{want}-"))


def _hash(name: str) -> Function:
    def digest(term: Term) -> Term | None:
        text = plain_text(term)
        return None if text is None else string(hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest())

    return digest


def _cast_number(target: str) -> Function:
    rank = _RANKS[target]

    def cast(term: Term) -> Term | None:
        found = number(term)
        if found is None and (bit := truth(term)) is not None:
            found = SparqlNumber(INTEGER_RANK, int(bit))
        if found is None:
            text = plain_text(term)
            found = None if text is None else number_of(text, target)
        return None if found is None else _as_rank(found, rank)

    return cast


def _as_rank(found: SparqlNumber, rank: int) -> Term | None:
    value = found.value
    if rank <= DECIMAL_RANK and isinstance(value, float) and not math.isfinite(value):
        return None
    if rank == INTEGER_RANK:
        return number_term(SparqlNumber(rank, int(value)))
    if rank == DECIMAL_RANK and isinstance(value, float):
        return number_term(SparqlNumber(rank, Decimal(repr(float(value)))))
    return number_term(SparqlNumber(rank, converted(found, rank)))


def _cast_boolean(term: Term) -> Term | None:
    known, found = truth(term), number(term)
    if known is not None:
        return boolean(known)
    if found is not None:
        return boolean(bool(found.value) and found.value == found.value)
    text = plain_text(term)
    value = None if text is None else truth(literal(text, BOOLEAN))
    return None if value is None else boolean(value)


def _cast_moment(target: str) -> Function:
    def cast(term: Term) -> Term | None:
        if not is_literal(term):
            return None
        text, own, _ = split_literal(term)
        if {own, target} == {DATE, DATE_TIME} and moment(term) is not None:
            parts = _PARTS.fullmatch(text)
            assert parts is not None
            day = "-".join(parts.group(1, 2, 3))
            text = f"{day}{'' if target == DATE else 'T00:00:00'}{parts[7] or ''}"
        elif own not in (STRING, target):
            return None
        made = literal(text, target)
        return made if moment(made) is not None else None

    return cast


def _cast_string(term: Term) -> Term | None:
    """The canonical text of a number or boolean, as in XPath; for other terms the text of STR."""
    found, known = number(term), truth(term)
    if known is not None:
        return string("true" if known else "false")
    return lexical(term) if found is None else string(number_text(found))


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
        return string_term("", found[1])
    stop = len(found[0]) if math.isinf(last) and last > 0 else max(int(last) - 1, 0) if not math.isinf(last) else 0
    return string_term(found[0][int(begin) - 1 : stop], found[1])


def _half_up(value: int | Decimal | float) -> float:
    return float(value) if isinstance(value, float) and not math.isfinite(value) else math.floor(float(value) + 0.5)


def _rounding(whole: Callable[[Decimal], Decimal], real: Callable[[float], float]) -> Function:
    def apply(term: Term) -> Term | None:
        found = number(term)
        if found is None:
            return None
        rank, value = found
        if rank == INTEGER_RANK:
            return number_term(found)
        if rank == DECIMAL_RANK:
            return number_term(SparqlNumber(rank, whole(Decimal(value))))
        return number_term(SparqlNumber(rank, real(float(value)) if math.isfinite(value) else float(value)))

    return apply


def _whole(rounding: str) -> Callable[[Decimal], Decimal]:
    return lambda value: value.to_integral_value(rounding=rounding)


def _nearest(value: Decimal) -> Decimal:
    """The nearest whole number; a half is rounded up."""
    return value.to_integral_value(rounding=ROUND_HALF_UP if value > 0 else ROUND_HALF_DOWN)


def _signed(change: Callable[[int | Decimal | float], int | Decimal | float]) -> Function:
    def apply(term: Term) -> Term | None:
        found = number(term)
        return None if found is None else number_term(SparqlNumber(found.rank, change(found.value)))

    return apply


def _part(index: int, *kinds: str) -> Function:
    def apply(term: Term) -> Term | None:
        parts = _moment_parts(term, kinds)
        return None if parts is None else integer(int(parts[index]))

    return apply


def _moment_parts(term: Term, kinds: tuple[str, ...]) -> re.Match[str] | None:
    """The parts of a date or dateTime as written; None for other terms, or a type that is not in `kinds`."""
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
    """The time zone as a duration."""
    parts = _moment_parts(term, (DATE_TIME, DATE))
    if parts is None or parts[7] is None:
        return None
    zone = parts[7]
    hours, minutes = (0, 0) if zone == "Z" else (int(zone[1:3]), int(zone[4:6]))
    text = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") or "0S"
    return literal(f"{'-' if zone[0] == '-' and text != '0S' else ''}PT{text}", f"{XSD}dayTimeDuration")


CASTS: dict[str, Function] = {
    **{name: _cast_number(name) for name in _RANKS},
    BOOLEAN: _cast_boolean,
    STRING: _cast_string,
    DATE: _cast_moment(DATE),
    DATE_TIME: _cast_moment(DATE_TIME),
}

TERM_FUNCTIONS: dict[str, Function] = {
    "STR": lexical,
    "LANG": language,
    "DATATYPE": datatype,
    "STRDT": with_datatype,
    "STRLANG": with_language,
    "LANGMATCHES": language_matches,
    "SAMETERM": lambda a, b: boolean(a == b),
    "ISIRI": lambda term: boolean(is_iri(term)),
    "ISBLANK": lambda term: boolean(is_blank(term)),
    "ISLITERAL": lambda term: boolean(is_literal(term)),
    "ISNUMERIC": lambda term: boolean(number(term) is not None),
    **{name: _hash(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
}

VALUE_FUNCTIONS: dict[str, Function] = {
    **{name: function for name, (function, _, _) in STRING_FUNCTIONS.items()},
    "ENCODE_FOR_URI": percent_encoded,
    "SUBSTR": _substring,
    "ABS": _signed(lambda value: value if value > 0 else -value),
    "CEIL": _rounding(_whole(ROUND_CEILING), lambda v: float(math.ceil(v))),
    "FLOOR": _rounding(_whole(ROUND_FLOOR), lambda v: float(math.floor(v))),
    "ROUND": _rounding(_nearest, whole_number),
    "unary -": _signed(lambda value: -value),
    "unary +": _signed(lambda value: value),
    "YEAR": _part(1, DATE_TIME, DATE),
    "MONTH": _part(2, DATE_TIME, DATE),
    "DAY": _part(3, DATE_TIME, DATE),
    "HOURS": _part(4, DATE_TIME),
    "MINUTES": _part(5, DATE_TIME),
    "SECONDS": _seconds,
    "TIMEZONE": _time_zone,
    "TZ": _zone,
}
