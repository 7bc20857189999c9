"""The grammar of Notation3: one statement as triples whose places are terms, variables, lists and formulae.

Abbreviations (`a`, `=`, `is … of`, `[…]`, paths with `!` and `^`) are spelled out; what a statement means is decided in
`tidelog.languages.n3`.

Notation3 as tokens, one statement at a time: Turtle's words, and variables, braces, arrows and paths.

A statement ends with a dot that stands in no braces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin

from tidelog.errors import ParseError
from tidelog.model import terms
from tidelog.model.terms import OWL, RDF, RDF_TYPE, Term
from tidelog.rules.parsing.tokens import MAX_DEPTH, MAX_STATEMENT, MAX_TOKEN, Cursor, Source, Token
from tidelog.rules.syntax import Variable

SWAP = "http://www.w3.org/2000/10/swap/"
IMPLIES = terms.iri(f"{SWAP}log#implies")
NIL = terms.iri(f"{RDF}nil")
_SAME = terms.iri(f"{OWL}sameAs")
_ENDS = (".", "]", "}", "end")
_NUMBERS = {"integer": terms.INTEGER, "decimal": terms.DECIMAL, "double": terms.DOUBLE}
_INVENTED = re.compile(r"v*_")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_QUANTIFIERS = ("@forAll", "@forSome")
_KEYWORDS = ("a", "is", "of", "has", "true", "false")


@dataclass(frozen=True, slots=True)
class Blank:
    """`_:label`, or something without a name (`[…]`, a step of a path), which has a label of its own."""

    label: str
    start: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class N3List:
    """`( … )`, not empty."""

    items: tuple[N3Node, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Formula:
    """`{ … }`"""

    triples: tuple[N3Triple, ...]
    start: int


@dataclass(frozen=True, slots=True)
class N3Triple:
    """A statement; `start` is where its predicate stands."""

    subject: N3Node
    predicate: N3Node
    object: N3Node
    start: int


N3Node = Term | Variable | Blank | N3List | Formula


class N3Grammar(Cursor):
    """Reads one statement."""

    _depth = 0

    def read(self) -> list[N3Triple]:
        """The triples of the statement; none if it is a directive."""
        self._triples: list[N3Triple] = []
        if self._is_directive():
            self._directive()
        else:
            self._statement()
            self.expect(".", "`.`, `;` or `,`")
        return self._triples

    def _is_directive(self) -> bool:
        return self.token.kind == "at" or (self.token.kind == "word" and self.token.text.upper() in ("PREFIX", "BASE"))

    def _directive(self) -> None:
        token = self.advance()
        name = token.text[1:] if token.kind == "at" else token.text.lower()
        if name == "prefix":
            self._prefix()
        elif name == "base":
            self.scope.base = self._resolved(self.expect("iri", "the base as `<…>`"))
        elif token.text in _QUANTIFIERS:
            raise self.error(f"`{token.text}` is not supported; write variables as ?x", token)
        else:
            raise self.error(f"unknown directive `{token.text}`; there are @prefix and @base", token)
        if token.kind == "at":
            self.expect(".")

    def _prefix(self) -> None:
        if self.token.kind != "prefixed" or not self.token.text.endswith(":"):
            raise self.unexpected("a prefix such as `ex:`")
        prefix = self.advance().text[:-1]
        self.scope.declared[prefix] = self._resolved(self.expect("iri", "what the prefix stands for, as `<…>`"))

    def _statement(self) -> None:
        subject = self._path()
        if self.token.kind not in _ENDS:
            self._properties(subject)
        elif isinstance(subject, str | Variable | Formula):
            raise self.unexpected("a predicate")

    def _properties(self, subject: N3Node) -> None:
        while True:
            self._objects(subject)
            while self.token.kind == ";":
                self.advance()
                if self.token.kind in _ENDS:
                    return
                if self.token.kind != ";":
                    break
            else:
                return

    def _objects(self, subject: N3Node) -> None:
        start = self.token.start
        predicate, inverse = self._verb()
        while True:
            found = self._path()
            self._triples.append(
                N3Triple(found, predicate, subject, start) if inverse else N3Triple(subject, predicate, found, start)
            )
            if not self.accept(","):
                return

    def _verb(self) -> tuple[N3Node, bool]:
        """The predicate, and whether subject and object change places."""
        match self.token.text.removeprefix("@") if self.token.kind in ("word", "at") else self.token.kind:
            case "=>" | "<=" as arrow:
                self.advance()
                return IMPLIES, arrow == "<="
            case "=":
                self.advance()
                return _SAME, False
            case "a":
                self.advance()
                return Term(RDF_TYPE), False
            case "has":
                self.advance()
                return self._path(), False
            case "<-":
                self.advance()
                return self._path(), True
            case "is":
                self.advance()
                return self._inverse(), True
        return self._path(), False

    def _inverse(self) -> N3Node:
        predicate = self._path()
        if self.token.text not in ("of", "@of"):
            raise self.unexpected("`of` after `is …`")
        self.advance()
        return predicate

    def _path(self) -> N3Node:
        """An item, or what `item!p` (its p) or `item^p` (that of which it is the p) lead to."""
        node = self._item()
        while self.token.kind in ("!", "^"):
            step = self.advance()
            predicate, reached = self._item(), self._nameless(step)
            subject, found = (node, reached) if step.kind == "!" else (reached, node)
            self._triples.append(N3Triple(subject, predicate, found, step.start))
            node = reached
        return node

    def _nameless(self, token: Token) -> Blank:
        return Blank(f"[{token.start}", token.start)  # no label of the user has a bracket

    def _item(self) -> N3Node:
        token = self.token
        if token.kind in ("[", "(", "{"):
            return self._nested()
        if token.kind == "variable":
            return Variable(_variable_name(self.advance().text[1:]))
        if token.kind == "blank":
            return Blank(self.advance().text[2:], token.start)
        if token.kind in _NUMBERS:
            return terms.literal(self.advance().text, _NUMBERS[token.kind])
        if token.kind == "string":
            return self._string()
        if token.kind in ("iri", "prefixed"):
            return terms.iri(self._iri())
        if token.kind == "word" and token.text in ("true", "false"):
            return terms.boolean(self.advance().text == "true")
        if token.kind == "word" and token.text not in _KEYWORDS:
            raise self.error(
                f'{token} is no term; write <{token.text}>, ex:{token.text}, ?{token.text} or "{token.text}"'
            )
        if token.kind == "at" and token.text in _QUANTIFIERS:
            raise self.error(f"`{token.text}` is not supported; write variables as ?x")
        raise self.unexpected("a term")

    def _nested(self) -> N3Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep")
        node = {"[": self._properties_of_one, "(": self._sequence, "{": self._formula}[self.token.kind]()
        self._depth -= 1
        return node

    def _properties_of_one(self) -> Blank:
        node = self._nameless(self.advance())
        if self.token.kind != "]":
            self._properties(node)
        self.expect("]", "`]`, `;` or `,`")
        return node

    def _sequence(self) -> N3Node:
        start = self.advance().start
        items: list[N3Node] = []
        while self.token.kind not in (")", ".", "end"):
            items.append(self._path())
        self.expect(")", "a term or `)`")
        return N3List(tuple(items), start) if items else NIL

    def _formula(self) -> Formula:
        start = self.advance().start
        outside, self._triples = self._triples, []
        while self.token.kind not in ("}", "end"):
            self._statement()
            if not self.accept("."):
                break
        self.expect("}", "`}`, `.`, `;` or `,`")
        inside, self._triples = self._triples, outside
        return Formula(tuple(inside), start)

    def _string(self) -> Term:
        token = self.advance()
        quotes = 3 if token.text[:3] in ('"""', "'''") and len(token.text) >= 6 else 1
        text = self._unescaped(token.text[quotes:-quotes], token.start + quotes)
        if self.token.kind == "at" and self.token.start == token.end:
            return terms.literal(text, language=self.advance().text[1:])
        if self.accept("^^"):
            if self.token.kind not in ("iri", "prefixed"):
                raise self.unexpected("a datatype such as xsd:date or <…>")
            return terms.literal(text, self._iri())
        return terms.string(text)

    def _iri(self) -> str:
        token = self.advance()
        if token.kind == "iri":
            return self._resolved(token)
        prefix, _, local = token.text.partition(":")
        expansion = self.scope.expand(prefix)
        if expansion is None:
            known = f"known: {self.scope.known()}"
            raise self.error(f"prefix `{prefix}:` is not declared; add `@prefix {prefix}: <…> .` ({known})", token)
        return expansion + re.sub(r"\\(.)", r"\1", local)

    def _resolved(self, token: Token) -> str:
        """Relative IRIs stay relative unless a base is declared."""
        text = self._unescaped(token.text[1:-1], token.start + 1)
        if _NOT_IN_IRI.search(text):
            raise self.error("an escape gives a character that an IRI cannot hold", token)
        if not self.scope.base or _ABSOLUTE.match(text):
            return text
        try:
            found = urljoin(self.scope.base, text)
        except ValueError as problem:
            raise self.error(f"this IRI cannot be read: {problem}", token) from None
        return f"{found}#" if text.endswith("#") and not found.endswith("#") else found  # urljoin drops an empty end

    def _unescaped(self, text: str, start: int) -> str:
        def one(match: re.Match[str]) -> str:
            code = match[1]
            if code in _ESCAPED:
                return _ESCAPED[code]
            number = int(code[1:], 16) if len(code) > 1 else -1
            if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                raise self.source.error(f"{match[0]} is no escape of a character", start + match.start())
            return chr(number)

        return _ESCAPE.sub(one, text) if "\\" in text else text


def _variable_name(name: str) -> str:
    """Names that begin with `_` are kept for invented variables; different names stay different."""
    return f"v{name}" if _INVENTED.match(name) else name


# Turtle's characters of names: those a name can begin with, and those it can go on with.
_FIRST = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NEXT = rf"{_FIRST}_0-9\-\u00b7\u0300-\u036f\u203f\u2040"
_ESCAPED_NAME = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:(?:[{_FIRST}_:0-9]|{_ESCAPED_NAME})(?:(?:[{_NEXT}:.]|{_ESCAPED_NAME})*(?:[{_NEXT}:]|{_ESCAPED_NAME}))?)?"
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
