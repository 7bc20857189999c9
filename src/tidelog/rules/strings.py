"""String functions, as in Nemo: on plain and language-tagged strings, counting characters from 1.

Where a function takes two strings, the second must be plain or have the language of the first. Results keep the
language of the (first) argument unless said otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote_to_bytes

from tidelog.model.terms import Term, boolean, integer
from tidelog.rules import regular
from tidelog.rules.arithmetic import Function
from tidelog.rules.values import number, string_term, tagged

# Lengths multiplied: what one edit distance may cost.
MOST_COMPARISONS = 1_000_000

_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def _mapped(change: Callable[[str], str]) -> Function:
    def apply(term: Term) -> Term | None:
        return string_term(change(found[0]), found[1]) if (found := tagged(term)) else None

    return apply


def _pair(first: Term, second: Term) -> tuple[str, str, str] | None:
    """Two texts and the language of the first, if the languages go together."""
    one, two = tagged(first), tagged(second)
    if one is None or two is None or two[1] not in ("", one[1]):
        return None
    return one[0], two[0], one[1]


def _tested(test: Callable[[str, str], bool]) -> Function:
    def apply(first: Term, second: Term) -> Term | None:
        return boolean(test(found[0], found[1])) if (found := _pair(first, second)) else None

    return apply


def _contains(text: str, part: str) -> bool:
    return part in text


def _reversed(text: str) -> str:
    return text[::-1]


def _length(term: Term) -> Term | None:
    return integer(len(found[0])) if (found := tagged(term)) else None


def _concatenation(*terms: Term) -> Term | None:
    """Keeps the language if all have the same."""
    parts = [p for p in map(tagged, terms) if p is not None]
    if len(parts) < len(terms):
        return None
    languages = {language for _, language in parts}
    return string_term("".join(text for text, _ in parts), languages.pop() if len(languages) == 1 else "")


def _substring(term: Term, start: Term, *length: Term) -> Term | None:
    """The characters at positions start, start + 1, …; positions before the first count but hold nothing."""
    found, bounds = tagged(term), [number(t) for t in (start, *length)]
    whole = [b for b in bounds if isinstance(b, int)]
    if not found or len(whole) < len(bounds):
        return None
    first = whole[0] - 1
    end = first + whole[1] if len(whole) == 2 else len(found[0])
    return string_term(found[0][max(first, 0) : max(end, 0)], found[1])


def _after(first: Term, second: Term) -> Term | None:
    """A plain empty string when the second does not occur."""
    found = _pair(first, second)
    if found is None:
        return None
    _, middle, after = found[0].partition(found[1]) if found[1] else ("", "x", found[0])
    return string_term(after, found[2] if middle else "")


def _before(first: Term, second: Term) -> Term | None:
    """A plain empty string when the second does not occur."""
    found = _pair(first, second)
    if found is None:
        return None
    before, middle, _ = found[0].partition(found[1]) if found[1] else ("", "x", found[0])
    return string_term(before if middle else "", found[2] if middle else "")


def _comparison(first: Term, second: Term) -> Term | None:
    """By code point: -1, 0 or 1."""
    one, two = tagged(first), tagged(second)
    if one is None or two is None or one[1] != two[1]:
        return None
    return integer((one > two) - (one < two))


def _matches(first: Term, second: Term) -> Term | None:
    """Whether a plain pattern occurs in the text."""
    text, pattern = tagged(first), tagged(second)
    if text is None or pattern is None or pattern[1]:
        return None
    found = regular.search(pattern[0], text[0])
    return None if found is None else boolean(found)


def _encoded(term: Term) -> Term | None:
    return string_term(quote(found[0], safe="")) if (found := tagged(term)) else None


def _decoded(term: Term) -> Term | None:
    found = tagged(term)
    try:
        return string_term(unquote_to_bytes(found[0]).decode()) if found else None
    except UnicodeDecodeError:
        return None


def _distance(first: Term, second: Term) -> Term | None:
    found = _pair(first, second)
    if found is None or len(found[0]) * len(found[1]) > MOST_COMPARISONS:
        return None
    return integer(levenshtein(found[0], found[1]))


def levenshtein(one: str, two: str) -> int:
    """The least number of characters to insert, delete or replace."""
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(two, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def _with_language(term: Term, language: Term) -> Term | None:
    """A plain string with a language tag, which is written in lower case."""
    text, tag = tagged(term), tagged(language)
    if text is None or tag is None or text[1] or tag[1] or not _LANGUAGE.fullmatch(tag[0]):
        return None
    return string_term(text[0], tag[0].lower())


# name -> the function, the least and the most number of arguments (None: any)
STRINGS: dict[str, tuple[Function, int, int | None]] = {
    "STRLEN": (_length, 1, 1),
    "UCASE": (_mapped(str.upper), 1, 1),
    "LCASE": (_mapped(str.lower), 1, 1),
    "STRREV": (_mapped(_reversed), 1, 1),
    "CONCAT": (_concatenation, 0, None),
    "SUBSTR": (_substring, 2, 3),
    "STRAFTER": (_after, 2, 2),
    "STRBEFORE": (_before, 2, 2),
    "COMPARE": (_comparison, 2, 2),
    "STRSTARTS": (_tested(str.startswith), 2, 2),
    "STRENDS": (_tested(str.endswith), 2, 2),
    "CONTAINS": (_tested(_contains), 2, 2),
    "REGEX": (_matches, 2, 2),
    "URIENCODE": (_encoded, 1, 1),
    "URIDECODE": (_decoded, 1, 1),
    "LEVENSHTEIN": (_distance, 2, 2),
    "STRLANG": (_with_language, 2, 2),
}
