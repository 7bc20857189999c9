"""The tokens of SPARQL with their positions, and a cursor over them that reports what was expected.

Also resolves relative IRIs against a base (RFC 3986, section 5.2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from tidelog.errors import Location, ParseError
from tidelog.model.terms import NAME_CHARACTERS, NAME_START

T = TypeVar("T")

_WORD = f"{NAME_START}_0-9"
_CHARS = NAME_CHARACTERS
_PREFIX = rf"(?:[{NAME_START}](?:[{_CHARS}.]*[{_CHARS}])?)?"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:[{_WORD}:]|{_ESCAPED})(?:(?:[{_CHARS}.:]|{_ESCAPED})*(?:[{_CHARS}:]|{_ESCAPED}))?"
_ESCAPE = r"\\[tbnrf\\\"']"

IRI, NAME, BLANK, VARIABLE = "an IRI", "a prefixed name", "a blank node", "a variable"
STRING, LANGUAGE, DOUBLE, DECIMAL, INTEGER = "a string", "a language", "a double", "a decimal", "an integer"
WORD, SIGN, END = "a word", "a sign", "the end"

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
    """All tokens of a text, and a last token for its end."""
    tokens = []
    at = _after_space(text, 0)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            found = f"{text[at : at + 10].split(maxsplit=1)[0]!r} cannot stand in SPARQL"
            raise ParseError("this string is not closed" if text[at] in "\"'" else found, location(text, at))
        assert match.lastindex is not None
        tokens.append(Token(_KINDS[match.lastindex - 1], match[0], at, match.end()))
        at = _after_space(text, match.end())
    tokens.append(Token(END, "", len(text), len(text)))
    return tokens


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match
    return match.end()


def with_code_points(text: str) -> str:
    """The text with `\\uXXXX` and `\\UXXXXXXXX` replaced. They may stand anywhere in a query."""

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
    """The line and column of position `at` in a query."""
    line = text.count("\n", 0, at) + 1
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return Location("<query>", line, at - start + 1, text[start : end if end >= 0 else len(text)])


class Cursor:
    """The tokens of a text and the current position."""

    def __init__(self, text: str) -> None:
        self.text = with_code_points(text)
        self.tokens = tokenise(self.text)
        self.position = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.token
        self.position += token.kind != END
        return token

    def is_sign(self, *signs: str) -> bool:
        return self.token.kind == SIGN and self.token.text in signs

    def is_word(self, *words: str) -> bool:
        return self.token.kind == WORD and self.token.text.upper() in words

    def sign(self, *signs: str) -> str:
        """If the current token is one of these signs, return it and advance; else return ""."""
        return self.advance().text if self.is_sign(*signs) else ""

    def word(self, *words: str) -> str:
        """If the current token is one of these keywords, return it in capitals and advance; else return ""."""
        return self.advance().text.upper() if self.is_word(*words) else ""

    def expect(self, sign: str) -> None:
        if not self.sign(sign):
            self.fail(f"'{sign}'")

    def expect_word(self, *words: str) -> str:
        return self.word(*words) or self.fail(" or ".join(words))

    def listed(self, read: Callable[[], T], separator: str = "") -> list[T]:
        """Parse items in brackets."""
        self.expect("(")
        found: list[T] = []
        while not self.sign(")"):
            if found and separator:
                self.expect(separator)
            found.append(read())
        return found

    def fail(self, expected: str) -> NoReturn:
        """Raise ParseError: `expected` was expected at the current token."""
        found = "the end of the query" if self.token.kind == END else repr(self.token.text)
        raise ParseError(f"expected {expected}, found {found}", location(self.text, self.token.start))

    def wrong(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise ParseError with `message` at `token`, by default the current token."""
        raise ParseError(message, location(self.text, (token or self.token).start))


_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def resolve(base: str, reference: str) -> str:
    """The absolute IRI of a reference. Without a base, or if the reference is absolute, the reference itself.

    >>> resolve("http://e.org/a/b", "../c"), resolve("", "ann")
    ('http://e.org/c', 'ann')
    """
    if not base:
        return reference
    scheme, authority, path, query, fragment = _parts(reference)
    if scheme is not None:
        return reference
    scheme, b_authority, b_path, b_query, _ = _parts(base)
    if authority is None:
        authority = b_authority
        if not path:
            path, query = b_path, b_query if query is None else query
        else:
            path = _without_dots(path if path.startswith("/") else _merged(b_authority, b_path, path))
    else:
        path = _without_dots(path)
    parts = ((scheme, "{}:"), (authority, "//{}"), (path, "{}"), (query, "?{}"), (fragment, "#{}"))
    return "".join(form.format(part) for part, form in parts if part is not None)


def _parts(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(iri)
    assert match
    return match[1], match[2], match[3], match[4], match[5]


def _merged(authority: str | None, base: str, path: str) -> str:
    return f"/{path}" if authority is not None and not base else base[: base.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
