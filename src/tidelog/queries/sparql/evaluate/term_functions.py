"""Functions on terms, hashes and the casts of section 17.5. A function of terms gives a term, or None: an error."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import Decimal

from tidelog.model.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    STRING,
    Term,
    boolean,
    iri,
    is_blank,
    is_iri,
    is_literal,
    literal,
    split_literal,
    string,
)
from tidelog.queries.sparql.evaluate.numbers import (
    DECIMAL_RANK,
    DOUBLE_RANK,
    FLOAT_RANK,
    INTEGER_RANK,
    Number,
    converted,
    number,
    number_of,
    number_term,
    number_text,
)
from tidelog.queries.sparql.syntax.tokens import resolve
from tidelog.rules.values import DATE, DATE_TIME, moment, truth

Function = Callable[..., Term | None]

_RANKS = {INTEGER: INTEGER_RANK, DECIMAL: DECIMAL_RANK, FLOAT: FLOAT_RANK, DOUBLE: DOUBLE_RANK}
_NO_IRI = re.compile(r"[\x00-\x20<>\"{}|\\^`]")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


def lexical(term: Term) -> Term | None:
    """STR."""
    if is_blank(term):
        return None
    return string(term[1:-1] if is_iri(term) else split_literal(term)[0])


def language(term: Term) -> Term | None:
    return string(split_literal(term)[2]) if is_literal(term) else None


def datatype(term: Term) -> Term | None:
    return iri(split_literal(term)[1]) if is_literal(term) else None


def plain_text(term: Term) -> str | None:
    """The text of a string without a language."""
    return split_literal(term)[0] if term[0] == '"' and term[-1] == '"' else None


def make_iri(term: Term, base: Term | None = None) -> Term | None:
    """IRI of a string or an IRI; relative ones are resolved if there is a base, else they stay as they are."""
    if is_iri(term):
        return term
    text = plain_text(term)
    return None if text is None or _NO_IRI.search(text) else iri(resolve(base[1:-1] if base else "", text))


def with_datatype(text: Term, type_: Term) -> Term | None:
    plain = plain_text(text)
    return literal(plain, type_[1:-1]) if plain is not None and is_iri(type_) else None


def with_language(text: Term, tag: Term) -> Term | None:
    plain, name = plain_text(text), plain_text(tag)
    if plain is None or name is None or not _LANGUAGE.fullmatch(name):
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
            found = Number(INTEGER_RANK, int(bit))
        if found is None:
            text = plain_text(term)
            found = None if text is None else number_of(text, target)
        return None if found is None else _as_rank(found, rank)

    return cast


def _as_rank(found: Number, rank: int) -> Term | None:
    value = found.value
    if rank <= DECIMAL_RANK and isinstance(value, float) and not math.isfinite(value):
        return None
    if rank == INTEGER_RANK:
        return number_term(Number(rank, int(value)))
    if rank == DECIMAL_RANK and isinstance(value, float):
        return number_term(Number(rank, Decimal(repr(float(value)))))
    return number_term(Number(rank, converted(found, rank)))


def _cast_boolean(term: Term) -> Term | None:
    known, found = truth(term), number(term)
    if known is not None:
        return boolean(known)
    if found is not None:
        return boolean(bool(found.value) and found.value == found.value)
    text = plain_text(term)
    return {"true": boolean(True), "1": boolean(True), "false": boolean(False), "0": boolean(False)}.get(text or "")


def _cast_moment(target: str) -> Function:
    def cast(term: Term) -> Term | None:
        if not is_literal(term):
            return None
        text, own, _ = split_literal(term)
        if own == DATE_TIME and target == DATE and moment(term) is not None:
            day, _, clock = text.partition("T")
            zone = re.search(r"(?:Z|[+-][0-9]{2}:[0-9]{2})$", clock)
            text = day + (zone[0] if zone else "")
        elif own == DATE and target == DATE_TIME and moment(term) is not None:
            zone = re.search(r"(?:Z|[+-][0-9]{2}:[0-9]{2})$", text)
            text = f"{text[: zone.start()]}T00:00:00{zone[0]}" if zone else f"{text}T00:00:00"
        elif own not in (STRING, target):
            return None
        made = literal(text, target)
        return made if moment(made) is not None else None

    return cast


def _cast_string(term: Term) -> Term | None:
    """The canonical text of a number or a truth value, as XPath writes it; else that of STR."""
    found, known = number(term), truth(term)
    if known is not None:
        return string("true" if known else "false")
    return lexical(term) if found is None else string(number_text(found))


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
    "IRI": make_iri,
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
