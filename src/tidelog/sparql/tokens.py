"""The tokens of SPARQL, and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidelog.errors import Location, ParseError

_BASE = (
    "A-Za-zÀ-ÖØ-öø-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_WORD = _BASE + "_0-9"
_CHARS = _WORD + "\u00b7\u0300-\u036f\u203f-\u2040\\-"
_PREFIX = rf"(?:[{_BASE}](?:[{_CHARS}.]*[{_CHARS}])?)?"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:[{_WORD}:]|{_ESCAPED})(?:(?:[{_CHARS}.:]|{_ESCAPED})*(?:[{_CHARS}:]|{_ESCAPED}))?"
_ESCAPE = r"\\[tbnrf\\\"']"

IRI, NAME, BLANK, VARIABLE, STRING, LANGUAGE = (
    "an IRI",
    "a prefixed name",
    "a blank node",
    "a variable",
    "a string",
    "a language",
)
DOUBLE, DECIMAL, INTEGER, WORD, SIGN, END = "a double", "a decimal", "an integer", "a word", "a sign", "the end"

_TOKENS = [
    (IRI, r"<[^<>\"{}|^`\\\x00-\x20]*>"),
    (VARIABLE, rf"[?$][{_WORD}][{_WORD}\u00b7\u0300-\u036f\u203f-\u2040]*"),
    (BLANK, rf"_:[{_WORD}](?:[{_CHARS}.]*[{_CHARS}])?"),
    (NAME, rf"{_PREFIX}:(?:{_LOCAL})?"),
    (STRING, rf"'''(?:'{{0,2}}(?:[^'\\]|{_ESCAPE}))*'''|\"\"\"(?:\"{{0,2}}(?:[^\"\\]|{_ESCAPE}))*\"\"\""),
    (STRING, rf"'(?:[^'\\\n\r]|{_ESCAPE})*'|\"(?:[^\"\\\n\r]|{_ESCAPE})*\""),
    (LANGUAGE, r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*"),
    (DOUBLE, r"(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    (DECIMAL, r"[0-9]*\.[0-9]+"),
    (INTEGER, r"[0-9]+"),
    (WORD, r"[A-Za-z_][A-Za-z0-9_]*"),
    (SIGN, r"\^\^|&&|\|\||!=|<=|>=|[=<>!+\-*/^|?(){}\[\].,;]"),
]
_KINDS = [kind for kind, _ in _TOKENS]
_TOKEN = re.compile("|".join(f"({pattern})" for _, pattern in _TOKENS))
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n\r]*)*")
_CODE_POINT = re.compile(r"\\\\|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


def tokenise(text: str) -> list[Token]:
    """All tokens of a text, the end included."""
    tokens = []
    at = _space(text, 0)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ParseError(f"{text[at : at + 10].split(maxsplit=1)[0]!r} cannot stand in SPARQL", location(text, at))
        assert match.lastindex is not None
        tokens.append(Token(_KINDS[match.lastindex - 1], match[0], at, match.end()))
        at = _space(text, match.end())
    tokens.append(Token(END, "", len(text), len(text)))
    return tokens


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match
    return match.end()


def with_code_points(text: str) -> str:
    """The text with `\\uXXXX` and `\\UXXXXXXXX` replaced, which may stand anywhere in a query."""

    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is None:
            return match[0]
        number = int(code, 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise ParseError(f"{match[0]} is no character", location(text, match.start()))
        return chr(number)

    return _CODE_POINT.sub(one, text) if "\\" in text else text


def location(text: str, at: int) -> Location:
    """A place in a query."""
    line = text.count("\n", 0, at) + 1
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return Location("<query>", line, at - start + 1, text[start : end if end >= 0 else len(text)])
