"""Cells of CSV files as terms and back, as Nemo reads and writes them.

A cell is guessed in this order: blank is the empty string; `<…>` an IRI; a decimal number an integer or a decimal (so
`1.0` is the integer 1, and `1e3` no number); `"…"`, `"…"@en`, `"…"^^<…>` a literal; a text of IRI characters only an
IRI or plain name; anything else a string. Numbers and booleans with a datatype become the canonical number or boolean.

Two differences to Nemo: escapes in a quoted literal are resolved, so that what was written is read back, and texts that
RDF does not allow in an IRI (`a|b`) are strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from tidelog.formats.term_text import LITERAL_TEXT, canonical_iri, canonical_literal
from tidelog.model.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FALSE,
    INTEGER,
    STRING,
    TRUE,
    Term,
    double,
    double_text,
    iri,
    literal,
    split_literal,
    string,
)
from tidelog.model.vocabulary import XSD

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+")
_RAW_LITERAL = re.compile(r'"(.*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^<([^<>"\x00-\x20{}|^`\\]*)>)?', re.DOTALL)
_INTEGER_TYPES = re.compile(
    f"{re.escape(XSD)}(?:integer|long|int|short|byte|unsigned(?:Long|Int|Short|Byte)"
    "|(?:non)?(?:[Nn]ega|[Pp]osi)tiveInteger)"
)
_BOOLEANS = {"true": TRUE, "1": TRUE, "false": FALSE, "0": FALSE}


def guess(cell: str) -> Term:
    """The term a cell stands for."""
    text = cell.strip()
    first = text[:1]
    if first == "<" and text[-1] == ">" and (name := canonical_iri(text[1:-1])):
        return name
    if first.isdigit() or first in ("+", "-"):
        if _NUMBER.fullmatch(text):
            return _decimal(text)
    elif first == '"' and len(text) > 1 and (term := _literal(text)):
        return term
    return iri(text) if _IRI.fullmatch(text) else string(text)


def _decimal(text: str) -> Term:
    """A number without exponent: an integer if it is whole, else a decimal without needless zeros."""
    sign = "-" if text[0] == "-" else ""
    whole, _, fraction = text.lstrip("+-").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    if fraction:
        return literal(f"{sign}{whole}.{fraction}", DECIMAL)
    return Term(f'"{"" if whole == "0" else sign}{whole}"^^<{INTEGER}>')


def _literal(text: str) -> Term | None:
    """A quoted literal: by the rules of N-Triples, or else with its text taken as it stands."""
    match = LITERAL_TEXT.fullmatch(text)
    term = canonical_literal(match) if match else None
    if term is None:
        raw = _RAW_LITERAL.fullmatch(text)
        if raw is None:
            return None
        term = literal(raw[1], raw[3] or STRING, (raw[2] or "").lower())
    return _by_value(term)


def _by_value(term: Term) -> Term | None:
    """Numbers and booleans in canonical form; None if the text is none of its datatype."""
    if not term.endswith(">"):
        return term
    text, datatype, _ = split_literal(term)
    if _INTEGER_TYPES.fullmatch(datatype):
        return _decimal(text) if _INTEGER.fullmatch(text) else None
    if datatype == DECIMAL:
        return _decimal(text) if _NUMBER.fullmatch(text) else None
    if datatype == DOUBLE:
        return as_double(text)
    return _BOOLEANS.get(text) if datatype == BOOLEAN else term


def as_integer(cell: str) -> Term | None:
    return _decimal(cell) if _INTEGER.fullmatch(cell) else None


def as_double(cell: str) -> Term | None:
    """The double of a cell; None for anything but a finite number."""
    if not _DOUBLE.fullmatch(cell) or abs(number := float(cell)) == float("inf"):
        return None
    return double(number)


READERS: dict[str, Callable[[str], Term | None]] = {
    "any": guess,
    "string": string,
    "int": as_integer,
    "double": as_double,
}


def cell(term: Term) -> str:
    """A term as Nemo writes it: IRIs and integers bare, everything else as in N-Triples, doubles without exponent."""
    if term[0] == "<":
        return term[1:-1]
    if term[0] == "_" or term[-1] == '"':
        return term
    if term.endswith(f'"^^<{INTEGER}>'):
        return split_literal(term)[0]
    if term.endswith(f'"^^<{DOUBLE}>'):
        return f'"{_plain_double(split_literal(term)[0])}"^^<{DOUBLE}>'
    return term


def _plain_double(text: str) -> str:
    """A canonical double without exponent; any other text as it is."""
    try:
        canonical = double_text(float(text)) == text
    except ValueError:
        return text
    if not canonical or text in ("INF", "-INF", "NaN"):
        return text
    return f"{Decimal(text):f}".removesuffix(".0")


def _string_cell(term: Term) -> str | None:
    return split_literal(term)[0] if term[-1] == '"' else None


def _integer_cell(term: Term) -> str | None:
    return split_literal(term)[0] if term.endswith(f'"^^<{INTEGER}>') else None


def _double_cell(term: Term) -> str | None:
    return _plain_double(split_literal(term)[0]) if term.endswith(f'"^^<{DOUBLE}>') else None


WRITERS: dict[str, Callable[[Term], str | None]] = {
    "any": cell,
    "string": _string_cell,
    "int": _integer_cell,
    "double": _double_cell,
}
