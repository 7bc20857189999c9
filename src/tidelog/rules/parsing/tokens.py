r"""The tokens of rule text, and `TokenCursor`, which reads the tokens of one statement.

The text is split into statements, so a file of any length needs constant space. A statement ends with a dot.
Names may be Unicode and may have hyphens (`full-professor`) and percent codes (`a%20b`). Variables may not, so `?x-1`
is a subtraction.
`<` opens an IRI only at the place of a term: in `?x<3,?y>4` it is a comparison.

In strings `\t \n \r \" \' \\ \uXXXX \UXXXXXXXX` are escapes. Any other backslash is an ordinary character, as in
Nemo, so regular expressions such as `"\d+\b"` need no double backslashes.

As in Nemo, the base is put before plain names and predicates, but not before `<…>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from tidelog.errors import Location, ParseError, did_you_mean
from tidelog.model import terms
from tidelog.model.terms import ESCAPED_CHARACTERS, OWL, RDF, RDFS, XSD, Term
from tidelog.rules.parsing.dialects import hint
from tidelog.rules.syntax import Export

T = TypeVar("T")

MAX_DEPTH = 64
MAX_TOKEN = 1_000_000
MAX_STATEMENT = 100_000
MAX_LITERALS = 1_000  # in one rule
_MAX_LINE_SHOWN = 2_000

_LOCAL_CHAR = r"(?:\w|%[0-9A-Fa-f]{2})"
NAME = rf"[^\W\d]{_LOCAL_CHAR}*+(?:-++{_LOCAL_CHAR}++)*+"
NOT_NAMES = ("true", "false", "_")
LOCAL = rf"{_LOCAL_CHAR}++(?:-++{_LOCAL_CHAR}++)*+"
PREFIXED = rf"(?:{NAME})?:(?!-)(?:{LOCAL})?"
_CODE_POINT = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})")
IRI = r'<[^<>"\x00-\x20]*+>'
STRING = r'(?:"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"""|"(?!"")[^"\\]*+(?:\\.[^"\\]*+)*+")'
_EXPONENT = r"[eE][+-]?[0-9]++"
NUMBER = (
    r"(?:0[xX][0-9a-fA-F]++|0[oO][0-7]++|0[bB][01]++"
    rf"|[0-9]*\.[0-9]++(?:{_EXPONENT})?|[0-9]++{_EXPONENT}|[0-9]++)(?!\w)"
)
LANGUAGE = r"@[A-Za-z]++(?:-[A-Za-z0-9]++)*+"
_LABEL = r"\w:\u00b7\u0300-\u036f\u203f\u2040\-"
BLANK = rf"_:[{_LABEL}](?:[{_LABEL}.]*[{_LABEL}])?"
SKIP = r"(?:\s++|%[^\n]*+)*+"

_TOKEN = re.compile(
    rf"""{SKIP}(?:
      (?P<variable>\?\w++)
    | (?P<fstring>f\"\"\"|f")
    | (?P<string>{STRING})
    | (?P<number>{NUMBER})
    | (?P<blank>{BLANK})
    | (?P<prefixed>{PREFIXED})
    | (?P<name>{NAME})
    | (?P<iri>{IRI})
    | (?P<at>{LANGUAGE})
    | (?P<aggregate>\#[^\W\d]\w*+)
    | (?P<parameter>\$[^\W\d]\w*+)
    | (?P<existential>![^\W\d]\w*+)
    | (?P<mark>:-|\^\^|!=|<=|>=|\#\[|[()\[\]{{}},.~=<>+\-*/])
    | (?P<end>\Z)
    | (?P<unreadable>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_UNREADABLE = {
    '"': "this string is not closed",
    "'": 'strings are written in double quotes: "…"',
    "#": "expected an aggregate such as `#count`, an attribute `#[…]`, or `%` for a comment",
    **dict.fromkeys("0123456789", "not a number; write for example 42, -1.5, 2.0E6, 0x1F"),
}
_TEXT = {
    '"': re.compile(r'(?:[^"\\{}]++|\\.|\{\{|\}\})*+', re.DOTALL),
    '"""': re.compile(r'(?:[^"\\{}]++|\\.|\{\{|\}\}|"{1,2}(?!"))*+', re.DOTALL),
}
_OPERANDS = frozenset(
    {"variable", "string", "number", "blank", "prefixed", "name", "iri", "parameter", ")", "text end"}
)


class RuleToken(NamedTuple):
    """A token. `kind` is the name of a group of the token pattern; for a mark such as `(` or `:-` it is the mark."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the text"
        return f"`{self.text}`" if len(self.text) <= 40 else f"`{self.text[:40]}…`"


class SourceText:
    """A text and the name of its file. Turns offsets into locations."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._offset = self._line_start = 0
        self._line = 1
        self._check_unicode()

    def _check_unicode(self) -> None:
        if self.text.isascii():
            return
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise self.error("half of a surrogate pair is not a character", error.start) from None

    def location(self, offset: int) -> Location:
        """The line, column and text at an offset. Lines are counted from the previous call. A very long line is cut."""
        if offset < self._offset:
            self._offset, self._line, self._line_start = 0, 1, 0
        self._line += self.text.count("\n", self._offset, offset)
        self._line_start = (self.text.rfind("\n", self._offset, offset) + 1) or self._line_start
        self._offset = offset
        start, limit = self._line_start, self._line_start + _MAX_LINE_SHOWN
        end = self.text.find("\n", offset, limit)
        line = self.text[start : end if end >= 0 else limit].rstrip("\r") if offset <= limit else ""
        return Location(self.file, self._line, offset - start + 1, line)

    def error(self, message: str, offset: int) -> ParseError:
        return ParseError(message, self.location(offset))


class RuleText(SourceText):
    """A text in our rule language. Its errors have hints for readers who know another dialect."""

    def error(self, message: str, offset: int) -> ParseError:
        return super().error(hint(message, self.text, offset), offset)


def next_token(source: SourceText, position: int, pattern: re.Pattern[str], unreadable: Mapping[str, str]) -> RuleToken:
    """The token after `position`. `pattern` has a group for each kind; `unreadable` has messages for characters."""
    match = pattern.match(source.text, position)
    assert match is not None, "the last alternatives match the end and any character"
    kind = str(match.lastgroup)
    text, start = match[kind], match.start(kind)
    if len(text) > MAX_TOKEN:
        raise source.error(f"longer than {MAX_TOKEN} characters; load large values from a data file", start)
    if kind == "unreadable":
        raise source.error(unreadable.get(text) or f"unexpected character {text!r}", start)
    return RuleToken(text if kind == "mark" else kind, text, start)


def statement(source: SourceText, position: int) -> list[RuleToken]:
    """The tokens from `position` up to the dot that ends the statement, or to the end of the text."""
    tokens: list[RuleToken] = []
    strings: list[str] = []  # the closing quotes of the open f-strings
    while True:
        token = _next(source, position, tokens)
        tokens.append(token)
        position = token.start + len(token.text)
        if token.kind == "." or token.kind == "end":
            return tokens
        if token.kind == "fstring":
            strings.append(token.text[1:])
        if strings and token.kind in ("fstring", "}"):
            position = _fstring_text(source, position, strings, tokens)
        if len(tokens) > MAX_STATEMENT:
            raise source.error(f"a statement of more than {MAX_STATEMENT} words; is a dot missing?", tokens[0].start)


def _next(source: SourceText, position: int, before: list[RuleToken]) -> RuleToken:
    token = next_token(source, position, _TOKEN, _UNREADABLE)
    if token.kind == "iri" and _after_operand(before):
        sign = "<=" if token.text[1] == "=" else "<"
        return RuleToken(sign, sign, token.start)
    return token


def _after_operand(before: list[RuleToken]) -> bool:
    declares = len(before) > 1 and before[-2].text == "@prefix"
    return bool(before) and before[-1].kind in _OPERANDS and not declares


def _fstring_text(source: SourceText, position: int, strings: list[str], tokens: list[RuleToken]) -> int:
    """Append the f-string text up to `{` or the closing quotes; return the offset after that."""
    quote = strings[-1]
    match = _TEXT[quote].match(source.text, position)
    end = match.end() if match else position
    if len(strings) > MAX_DEPTH:
        raise source.error(f"nested more than {MAX_DEPTH} deep", position)
    if end - position > MAX_TOKEN:
        raise source.error(f"longer than {MAX_TOKEN} characters; load large values from a data file", position)
    tokens.append(RuleToken("text", source.text[position:end], position))
    if source.text.startswith(quote, end):
        strings.pop()
        tokens.append(RuleToken("text end", quote, end))
    elif source.text.startswith("{", end):
        tokens.append(RuleToken("{", "{", end))
    elif source.text.startswith("}", end):
        raise source.error("a single `}` in an f-string; write `}}` for the character", end)
    else:
        raise source.error(f"this string is not closed; expected {quote}", position)
    return tokens[-1].end


# Rules are stored with these prefixes, and their digests are made of that text. So these four never change.
STANDARD_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}
# Prefixes that rules, facts and queries may use without a declaration. A declaration overrides them.
WELL_KNOWN_PREFIXES = STANDARD_PREFIXES | {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "schema": "http://schema.org/",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "swrl": "http://www.w3.org/2003/11/swrl#",
    "swrlb": "http://www.w3.org/2003/11/swrlb#",
    "time": "http://www.w3.org/2006/time#",
    "vann": "http://purl.org/vocab/vann/",
    "void": "http://rdfs.org/ns/void#",
}


@dataclass
class Scope:
    """The prefixes, the base, the parameters and the outputs declared so far."""

    declared: dict[str, str] = field(default_factory=dict)
    base: str = ""
    parameters: dict[str, Term] = field(default_factory=dict)
    outputs: list[Export] = field(default_factory=list)  # of `@output`

    def expand(self, prefix: str) -> str | None:
        """The IRI of a prefix, or None if it is not declared."""
        return self.declared.get(prefix, WELL_KNOWN_PREFIXES.get(prefix))

    def known(self) -> str:
        """The prefixes that are declared, and the standard ones, as text for messages."""
        return ", ".join(f"{p}:" for p in {**STANDARD_PREFIXES, **self.declared})


class TokenCursor:
    """Base of the readers of rules and of Notation3. `token` is the next token of the statement.

    The last token is the dot or the end of the text.
    """

    escapes = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[tnr\"'\\])")

    def __init__(self, source: SourceText, tokens: list[RuleToken], scope: Scope) -> None:
        self.source = source
        self.tokens = tokens
        self.scope = scope
        self.index = 0
        self.token = tokens[0]

    def advance(self) -> RuleToken:
        """Return the next token and move on. The last token is returned again and again."""
        token = self.token
        if self.index + 1 < len(self.tokens):
            self.index += 1
            self.token = self.tokens[self.index]
        return token

    def ahead(self) -> RuleToken:
        """The token after the next."""
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def accept(self, kind: str) -> bool:
        if self.token.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str, wanted: str = "") -> RuleToken:
        if self.token.kind != kind:
            raise self.unexpected(wanted or f"`{kind}`")
        return self.advance()

    def comma_separated(self, read: Callable[[], T]) -> list[T]:
        """One or more items with commas between them; `read` reads one item."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def unexpected(self, wanted: str) -> ParseError:
        return self.error(f"expected {wanted}, found {self.token}")

    def error(self, message: str, token: RuleToken | None = None) -> ParseError:
        return self.source.error(message, (token or self.token).start)

    def iri(self) -> str:
        """Read an `<…>`, a prefixed name or a plain name, and return its IRI without brackets."""
        token = self.advance()
        if token.kind == "iri":
            return self.resolved(token)
        if token.kind == "name":
            return self.scope.base + token.text
        prefix, _, local = token.text.partition(":")
        expansion = self.scope.expand(prefix)
        if expansion is None:
            known = f"known: {self.scope.known()}"
            close = did_you_mean(prefix, (*WELL_KNOWN_PREFIXES, *self.scope.declared))
            message = f"prefix `{prefix}:` is not declared; add `@prefix {prefix}: <…> .` ({known}){close}"
            raise self.error(message, token)
        return expansion + local.replace("\\", "")

    def resolved(self, token: RuleToken) -> str:
        """The IRI of `<…>`. In rules it is the text between the brackets, with `\\u` escapes replaced."""
        return self.unescaped(token.text[1:-1], token.start + 1, _CODE_POINT)

    def prefix_declaration(self) -> tuple[str, str]:
        """Read `ex: <…>` into the scope; return the prefix and its IRI."""
        if self.token.kind != "prefixed" or not self.token.text.endswith(":"):
            raise self.unexpected("a prefix such as `ex:`")
        prefix = self.advance().text[:-1]
        expansion = self.resolved(self.expect("iri", "what the prefix stands for, as `<…>`"))
        self.scope.declared[prefix] = expansion
        return prefix, expansion

    def string_literal(self) -> Term:
        """Read a string with its language or datatype, if it has one."""
        token = self.advance()
        quotes = 3 if token.text[:3] in ('"""', "'''") and len(token.text) >= 6 else 1
        text = self.unescaped(token.text[quotes:-quotes], token.start + quotes)
        if self.token.kind == "at" and self.token.start == token.end:
            return terms.literal(text, language=self.advance().text[1:])
        if self.accept("^^"):
            if self.token.kind not in ("iri", "prefixed", "name"):
                raise self.unexpected("a datatype such as xsd:date or <…>")
            return terms.literal(text, self.iri())
        return terms.string(text)

    def unescaped(self, text: str, start: int, escapes: re.Pattern[str] | None = None) -> str:
        """The text without escapes; `start` is the offset at which it begins."""

        def one(match: re.Match[str]) -> str:
            code = match[1]
            if code in ESCAPED_CHARACTERS:
                return ESCAPED_CHARACTERS[code]
            number = int(code[1:], 16) if len(code) > 1 else -1
            if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                raise self.source.error(f"{match[0]} does not stand for a character", start + match.start())
            return chr(number)

        return (escapes or self.escapes).sub(one, text) if "\\" in text else text
