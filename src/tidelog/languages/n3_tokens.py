"""Notation3 as tokens, one statement at a time: Turtle's words, and variables, braces, arrows and paths.

A statement ends with a dot that stands in no braces.
"""

from __future__ import annotations

import re

from tidelog.errors import ParseError
from tidelog.rules.tokens import MAX_STATEMENT, MAX_TOKEN, Source, Token

# Turtle's characters of names: those a name can begin with, and those it can go on with.
_FIRST = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NEXT = rf"{_FIRST}_0-9\-\u00b7\u0300-\u036f\u203f\u2040"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:(?:[{_FIRST}_:0-9]|{_ESCAPED})(?:(?:[{_NEXT}:.]|{_ESCAPED})*(?:[{_NEXT}:]|{_ESCAPED}))?)?"
_PREFIX = rf"(?:[{_FIRST}](?:[{_NEXT}.]*[{_NEXT}])?)?"
_SHORT = r'"(?:[^"\\\n\r]|\\.)*+"|\'(?:[^\'\\\n\r]|\\.)*+\''
_LONG = r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"""|\'\'\'(?:[^\'\\]|\\.|\'{1,2}(?!\'))*+\'\'\''
_SKIP = r"(?:\s++|\#[^\n\r]*+)*+"

_TOKEN = re.compile(
    rf"""{_SKIP}(?:
      (?P<variable>\?[^\W\d]\w*+)
    | (?P<blank>_:[{_FIRST}_0-9](?:[{_NEXT}.]*[{_NEXT}])?)
    | (?P<string>{_LONG}|(?!\"\"\"|''')(?:{_SHORT}))
    | (?P<double>[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[eE][+-]?[0-9]++)
    | (?P<decimal>[+-]?[0-9]*+\.[0-9]++)
    | (?P<integer>[+-]?[0-9]++)
    | (?P<prefixed>{_PREFIX}:{_LOCAL})
    | (?P<word>[^\W\d]\w*+)
    | (?P<iri><(?:[^\x00-\x20<>"{{}}|^`\\]|\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}})*+>)
    | (?P<at>@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)
    | (?P<mark>=>|<=|<-|\^\^|[()\[\]{{}},;.!^=])
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_SKIPPED = re.compile(_SKIP)


def statement(source: Source, position: int) -> list[Token]:
    """The tokens from `position` up to the dot that ends the statement, or to the end of the text."""
    tokens: list[Token] = []
    braces = 0
    while True:
        token = _next(source, position)
        tokens.append(token)
        position = token.end
        braces += (token.kind == "{") - (token.kind == "}")
        if token.kind == "end" or (token.kind == "." and braces <= 0) or _is_sparql_directive(tokens):
            return tokens
        if len(tokens) > MAX_STATEMENT:
            raise source.error(f"a statement of more than {MAX_STATEMENT} words; is a dot missing?", tokens[0].start)


def _is_sparql_directive(tokens: list[Token]) -> bool:
    """`PREFIX ex: <…>` and `BASE <…>` have no dot."""
    word = tokens[0].text.upper() if tokens[0].kind == "word" else ""
    return len(tokens) == {"PREFIX": 3, "BASE": 2}.get(word)


def _next(source: Source, position: int) -> Token:
    match = _TOKEN.match(source.text, position)
    if match is None:
        raise _unreadable(source, position)
    kind = str(match.lastgroup)
    text, start = match[kind], match.start(kind)
    if len(text) > MAX_TOKEN:
        raise source.error(f"longer than {MAX_TOKEN} characters; load large values from a data file", start)
    return Token(text if kind == "mark" else kind, text, start)


def _unreadable(source: Source, position: int) -> ParseError:
    skipped = _SKIPPED.match(source.text, position)
    start = skipped.end() if skipped else position
    character = source.text[start]
    if character in "\"'":
        return source.error("this string is not closed", start)
    if character == "<":
        return source.error("this is no IRI: an IRI holds no spaces, quotes or braces", start)
    if character == "$":
        return source.error("variables are written ?x", start)
    return source.error(f"unexpected character {character!r}", start)
