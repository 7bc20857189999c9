"""Checks N-Triples texts of terms and makes them canonical.

`tidelog.model.terms` defines the canonical text. In addition `"x"^^xsd:string` becomes `"x"`, language tags become
lower case, and escapes in IRIs are resolved. Plain names are relative IRIs, so IRIs may be relative.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.model.terms import NAME_CHARACTERS, NAME_START, STRING, Term, escape, iri, literal, unescape

_IRI_CHARACTERS = r"[^\x00-\x20<>\"{}|^`\\]"
_UCHAR = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_LABEL = f"[{NAME_START}_0-9](?:[.{NAME_CHARACTERS}]*[{NAME_CHARACTERS}])?"
_LANGUAGE = r"[A-Za-z]+(?:-[A-Za-z0-9]+)*"

IRI_TEXT = re.compile(rf"<((?:{_IRI_CHARACTERS}|{_UCHAR})*)>")
BLANK_TEXT = re.compile(rf"_:({_LABEL})")
LITERAL_TEXT = re.compile(
    rf'"((?:[^"\\\n\r]|\\[tbnrf"\'\\]|{_UCHAR})*)"'
    rf"(?:[ \t]*@({_LANGUAGE})|[ \t]*\^\^[ \t]*<((?:{_IRI_CHARACTERS}|{_UCHAR})*)>)?"
)
_IRI_INSIDE = re.compile(f"{_IRI_CHARACTERS}*")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Canonical terms as a regular expression for Arrow.
_CANONICAL = (
    r'^(?:<[^\x00-\x20<>"{}|^`\\]*>|_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?'
    r'|"(?:[^"\\\n\r]|\\["\\nr])*"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^<[^\x00-\x20<>"{}|^`\\]*>)?)$'
)
_STRING_TAIL = f"^^<{STRING}>"


def canonical_terms(texts: pa.Array) -> pa.BooleanArray:
    """A mask of the canonical terms in a string array. It is also false for some rare canonical terms."""
    plain = pc.match_substring_regex(texts, _CANONICAL)
    return pc.and_not(plain, pc.ends_with(texts, _STRING_TAIL))


def canonical(text: str) -> Term | None:
    """The canonical form of a term in N-Triples syntax; None if the text is no term."""
    pattern, term = TERM_TEXTS.get(text[:1], TERM_TEXTS["_"])
    match = pattern.fullmatch(text)
    return term(match) if match else None


def canonical_iri(escaped: str) -> Term | None:
    """The term of the text between the brackets; None if an escape is a character that an IRI cannot have."""
    text = resolve(escaped)
    return iri(text) if text is not None and _IRI_INSIDE.fullmatch(text) else None


def canonical_literal(match: re.Match[str]) -> Term | None:
    """The literal of a match of `LITERAL_TEXT`; None if an escape is wrong."""
    text, language, datatype = match[1], match[2], match[3]
    resolved = resolve(text)
    if resolved is None:
        return None
    if language:
        return Term(f'"{escape(resolved)}"@{language.lower()}')
    if datatype is None:
        return literal(resolved)
    kind = canonical_iri(datatype)
    return literal(resolved, kind[1:-1]) if kind else None


def resolve(text: str) -> str | None:
    """The text without escapes; None if an escape is no character."""
    if "\\" not in text:
        return text
    try:
        resolved = unescape(text)
    except (ValueError, OverflowError):
        return None
    return None if _SURROGATE.search(resolved) else resolved


# First character of a term -> its pattern, and the function that makes a match canonical (None: a wrong escape).
TERM_TEXTS: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str]], Term | None]]] = {
    "<": (IRI_TEXT, lambda match: canonical_iri(match[1])),
    "_": (BLANK_TEXT, lambda match: Term(match[0])),
    '"': (LITERAL_TEXT, canonical_literal),
}
