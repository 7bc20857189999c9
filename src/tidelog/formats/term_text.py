"""The N-Triples spelling of terms: which texts are terms, and the one canonical text of each.

Canonical is what `tidelog.model.terms` says, and besides: `"x"^^xsd:string` is `"x"`, a language tag is lower case
(tags compare without case), and escapes in IRIs are resolved. Plain names are relative IRIs, so IRIs may be relative.
"""

from __future__ import annotations

import re

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

# The same for Arrow's regular expressions, and only for texts that are canonical already.
_CANONICAL = (
    r'^(?:<[^\x00-\x20<>"{}|^`\\]*>|_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?'
    r'|"(?:[^"\\\n\r]|\\["\\nr])*"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^<[^\x00-\x20<>"{}|^`\\]*>)?)$'
)
_STRING_TAIL = f"^^<{STRING}>"


def canonical_terms(texts: pa.Array) -> pa.BooleanArray:
    """Which elements of a string array are canonical terms, in bulk. False for some rare canonical ones too."""
    plain = pc.match_substring_regex(texts, _CANONICAL)
    return pc.and_not(plain, pc.ends_with(texts, _STRING_TAIL))


def canonical(text: str) -> Term | None:
    """The canonical form of one term in N-Triples syntax, or None if it is none."""
    first = text[:1]
    if first == "<":
        match = IRI_TEXT.fullmatch(text)
        return canonical_iri(match[1]) if match else None
    if first == '"':
        match = LITERAL_TEXT.fullmatch(text)
        return canonical_literal(match) if match else None
    return Term(text) if BLANK_TEXT.fullmatch(text) else None


def canonical_iri(escaped: str) -> Term | None:
    """The IRI between the brackets, escapes resolved; None if they stand for something an IRI may not hold."""
    text = resolve(escaped)
    return iri(text) if text is not None and _IRI_INSIDE.fullmatch(text) else None


def canonical_literal(match: re.Match[str]) -> Term | None:
    """The literal that `LITERAL_TEXT` matched."""
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
    """Escapes resolved; None if one names a code point that is no character."""
    if "\\" not in text:
        return text
    try:
        resolved = unescape(text)
    except (ValueError, OverflowError):
        return None
    return None if _SURROGATE.search(resolved) else resolved
