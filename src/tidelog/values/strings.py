"""String functions that rules and SPARQL share, on plain and language-tagged strings.

Where a function takes two strings, the second must be plain or have the language of the first. Results keep the
language of the (first) argument unless a docstring says otherwise. None: no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from tidelog.model.terms import Term, boolean, integer
from tidelog.values.literals import string_term, tagged

Function = Callable[..., Term | None]

LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


def mapped(change: Callable[[str], str]) -> Function:
    """A function that changes the text and keeps the language."""

    def apply(term: Term) -> Term | None:
        return string_term(change(found[0]), found[1]) if (found := tagged(term)) else None

    return apply


def pair(first: Term, second: Term) -> tuple[str, str, str] | None:
    """Both texts and the language of the first, if the second has the same language or none."""
    one, two = tagged(first), tagged(second)
    if one is None or two is None or two[1] not in ("", one[1]):
        return None
    return one[0], two[0], one[1]


def _tested(test: Callable[[str, str], bool]) -> Function:
    def apply(first: Term, second: Term) -> Term | None:
        return boolean(test(found[0], found[1])) if (found := pair(first, second)) else None

    return apply


def _contains(text: str, part: str) -> bool:
    return part in text


def _length(term: Term) -> Term | None:
    return integer(len(found[0])) if (found := tagged(term)) else None


def _concatenation(*terms: Term) -> Term | None:
    """Keeps the language if all have the same."""
    parts = [p for p in map(tagged, terms) if p is not None]
    if len(parts) < len(terms):
        return None
    languages = {language for _, language in parts}
    return string_term("".join(text for text, _ in parts), languages.pop() if len(languages) == 1 else "")


def _after(first: Term, second: Term) -> Term | None:
    """A plain empty string when the second does not occur."""
    found = pair(first, second)
    if found is None:
        return None
    _, middle, after = found[0].partition(found[1]) if found[1] else ("", "x", found[0])
    return string_term(after, found[2] if middle else "")


def _before(first: Term, second: Term) -> Term | None:
    """A plain empty string when the second does not occur."""
    found = pair(first, second)
    if found is None:
        return None
    before, middle, _ = found[0].partition(found[1]) if found[1] else ("", "x", found[0])
    return string_term(before if middle else "", found[2] if middle else "")


def encoded(term: Term) -> Term | None:
    """Percent-encoding of all but letters, digits and `-_.~`."""
    return string_term(quote(found[0], safe="")) if (found := tagged(term)) else None


# name -> the function, the least and the most number of arguments (None: any)
STRINGS: dict[str, tuple[Function, int, int | None]] = {
    "STRLEN": (_length, 1, 1),
    "UCASE": (mapped(str.upper), 1, 1),
    "LCASE": (mapped(str.lower), 1, 1),
    "CONCAT": (_concatenation, 0, None),
    "STRAFTER": (_after, 2, 2),
    "STRBEFORE": (_before, 2, 2),
    "STRSTARTS": (_tested(str.startswith), 2, 2),
    "STRENDS": (_tested(str.endswith), 2, 2),
    "CONTAINS": (_tested(_contains), 2, 2),
}
