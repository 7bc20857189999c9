"""Regular expressions: by example, against Python's on random patterns, and on patterns made to explode."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog.values import regex
from tidelog.values.regex import LONGEST_PATTERN


def search(pattern: str, text: str) -> bool | None:
    found = regex.search([text], pattern)
    return None if found is None else found[0]


# pattern, a space, text, a space, result
EXAMPLES = r"""
^a.c$ abc yes
^a.c$ abcd no
b abc yes
a|b|c xxc yes
^(?:ab)+$ ababab yes
^(?:ab)+$ aba no
^(?P<n>x)y$ xy yes
^(?<n>x)y$ xy yes
^a{2,3}$ aaa yes
^a{2,3}$ aaaa no
^a{2,}$ aaaaa yes
^a{2}$ aa yes
^a*?b+?c??$ aab yes
[^a-c] abcd yes
[^a-c] abc no
[]x] ] yes
[\]\\-] - yes
\d\D\w\W\s* 1a_! yes
\.\*\[ .*[ yes
\x41\u00e9 Aé yes
\p{L}\p{Lu}\P{L}\pN aB-1 yes
\bcat\b concatenate no
\bcat\b a-cat yes
\Bcat concatenate yes
\Aab\z ab yes
\Aab\z abc no
(?i)straSSe STRASSE yes
(?i:a)B aB yes
(?i:a)B ab no
a(?i)b|c aC yes
() x yes
| x yes
x** xx refused
(a)\1 aa refused
a(?=b) ab refused
(?<=a)b ab refused
( x refused
) x refused
a) x refused
* x refused
a{2 aa refused
a{3,2} aaa refused
[z-a] z refused
[a a refused
[[:alpha:]] a yes
[[ab]c] a refused
[a--b] a refused
[{] { yes
[^]] ] no
[\d-] ٣ yes
\u{e9}\x{e9} éé yes
(?u)é É no
(?iu:é) É yes
\Qa\E a refused
[a&&b] a refused
\q q refused
(?x)a a refused
"""


def cases() -> list[tuple[str, str, bool | None]]:
    results = {"yes": True, "no": False, "refused": None}
    lines = [line.split(" ") for line in EXAMPLES.strip().splitlines()]
    return [(pattern, text, results[result]) for pattern, text, result in lines]


@pytest.mark.parametrize(("pattern", "text", "expected"), cases())
def test_example(pattern: str, text: str, expected: bool | None) -> None:
    assert search(pattern, text) is expected


def test_lines() -> None:
    assert search("^b$", "a\nb") is False
    assert search("(?m)^b$", "a\nb\nc") is True
    assert search("a.b", "a\nb") is False
    assert search("(?s)a.b", "a\nb") is True
    assert search("b$", "b\n") is False


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^(a+)+$", "a" * 5000 + "b", False),
        ("(a|a)*b", "a" * 5000, False),
        ("^(a|aa)+$", "a" * 5000 + "b", False),
        ("(.*)(.*)(.*)(.*)(.*)x", "y" * 5000, False),
        ("(x+x+)+y", "x" * 5000, False),
        ("((a{90}){90}){90}", "a", None),
        ("((){1000}){1000}", "a", None),
        ("(" * 100 + ")" * 100, "a", True),
        ("(" * 500 + ")" * 500, "a", True),
        ("a" * (LONGEST_PATTERN + 1), "a", None),
        ("a{900}", "b" * 1_000_000, False),
    ],
)
def test_cannot_blow_up(pattern: str, text: str, expected: bool | None) -> None:
    assert search(pattern, text) is expected


ATOMS = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\b", r"\B", "^", r"\Z", r"\d"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?"])).map(lambda p: f"(?:{p[0]}){p[1]}"),
    ),
    max_leaves=6,
)


# Python's \B does not match in an empty text; Rust's does, and so does ours.
@given(PATTERNS, st.text(alphabet="abc1 \n", min_size=1, max_size=7))
def test_agrees_with_python(pattern: str, text: str) -> None:
    assert search(pattern.replace(r"\Z", r"\z"), text) is (re.search(pattern, text) is not None)
