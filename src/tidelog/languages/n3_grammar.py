"""The grammar of Notation3. A statement is read as triples of terms, variables, lists and formulae.

Abbreviations (`a`, `=`, `is … of`, `[…]`, paths with `!` and `^`) are written out as triples. `tidelog.languages.n3`
translates the triples to rules and facts.

The tokens are those of Turtle, and variables, braces, arrows and paths. A dot outside of braces ends a statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin

from tidelog.model import terms
from tidelog.model.terms import ESCAPE_SEQUENCE, NAME_CHARACTERS, NAME_START, NOT_IN_IRI, OWL, RDF, RDF_TYPE, Term
from tidelog.rules.parsing.tokens import MAX_DEPTH, MAX_STATEMENT, RuleToken, Scope, SourceText, TokenCursor, next_token
from tidelog.rules.syntax import Variable

SWAP = "http://www.w3.org/2000/10/swap/"
IMPLIES = terms.iri(f"{SWAP}log#implies")
NIL = terms.iri(f"{RDF}nil")
_SAME = terms.iri(f"{OWL}sameAs")
_ENDS = (".", "]", "}", "end")
_NUMBERS = {"integer": terms.INTEGER, "decimal": terms.DECIMAL, "double": terms.DOUBLE}
_INVENTED = re.compile(r"v*_")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_QUANTIFIERS = ("@forAll", "@forSome")
_KEYWORDS = ("a", "is", "of", "has", "true", "false")


@dataclass(frozen=True, slots=True)
class Blank:
    """`_:label`, or a node without a name (`[…]`, a step of a path), which gets a unique label."""

    label: str
    start: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class N3List:
    """A list `( … )` that is not empty."""

    items: tuple[N3Node, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula `{ … }`."""

    triples: tuple[N3Triple, ...]
    start: int


@dataclass(frozen=True, slots=True)
class N3Triple:
    """A triple; `start` is the offset of its predicate."""

    subject: N3Node
    predicate: N3Node
    object: N3Node
    start: int


N3Node = Term | Variable | Blank | N3List | Formula


class N3Scope(Scope):
    """The declarations so far. If the default prefix is not declared, `:name` is `<#name>`."""

    def expand(self, prefix: str) -> str | None:
        found = super().expand(prefix)
        return f"{self.base.partition('#')[0]}#" if found is None and prefix == "" else found


class N3Grammar(TokenCursor):
    """Reads one statement."""

    escapes = ESCAPE_SEQUENCE
    _depth = 0

    def read(self) -> list[N3Triple]:
        """Read the statement; return its triples (none for a directive)."""
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
            self.prefix_declaration()
        elif name == "base":
            self.scope.base = self.resolved(self.expect("iri", "the base as `<…>`"))
        elif token.text in _QUANTIFIERS:
            raise self.error(f"`{token.text}` is not supported; write variables as ?x", token)
        else:
            raise self.error(f"unknown directive `{token.text}`; there are @prefix and @base", token)
        if token.kind == "at":
            self.expect(".")

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
        """Read a verb; return the predicate, and whether subject and object are exchanged."""
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
        """Read an item, or a path: `x!p` is the object of (x, p), `x^p` is the subject of (p, x)."""
        node = self._item()
        while self.token.kind in ("!", "^"):
            step = self.advance()
            predicate, reached = self._item(), self._nameless(step)
            subject, found = (node, reached) if step.kind == "!" else (reached, node)
            self._triples.append(N3Triple(subject, predicate, found, step.start))
            node = reached
        return node

    def _nameless(self, token: RuleToken) -> Blank:
        return Blank(f"[{token.start}", token.start)  # a label in the text cannot have a bracket

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
            return self.string_literal()
        if token.kind in ("iri", "prefixed"):
            return terms.iri(self.iri())
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

    def resolved(self, token: RuleToken) -> str:
        """The IRI of `<…>`. A relative IRI stays relative if no base is declared."""
        text = self.unescaped(token.text[1:-1], token.start + 1)
        if NOT_IN_IRI.search(text):
            raise self.error("an escape gives a character that an IRI cannot hold", token)
        if not self.scope.base or _ABSOLUTE.match(text):
            return text
        try:
            found = urljoin(self.scope.base, text)
        except ValueError as problem:
            raise self.error(f"this IRI cannot be read: {problem}", token) from None
        return (
            f"{found}#" if text.endswith("#") and not found.endswith("#") else found
        )  # urljoin removes an empty fragment


def _variable_name(name: str) -> str:
    """The name of a variable in our rules. Names that start with `_` are reserved, so they get a `v` before."""
    return f"v{name}" if _INVENTED.match(name) else name


_ESCAPED_CHARACTER = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_START, _NEXT = rf"(?:[{NAME_START}_:0-9]|{_ESCAPED_CHARACTER})", rf"(?:[{NAME_CHARACTERS}:]|{_ESCAPED_CHARACTER})"
_LOCAL = rf"(?:{_START}(?:(?:\.|{_NEXT})*{_NEXT})?)?"
_PREFIX = rf"(?:[{NAME_START}](?:[{NAME_CHARACTERS}.]*[{NAME_CHARACTERS}])?)?"
_SHORT = r'"(?:[^"\\\n\r]|\\.)*+"|\'(?:[^\'\\\n\r]|\\.)*+\''
_LONG = r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"""|\'\'\'(?:[^\'\\]|\\.|\'{1,2}(?!\'))*+\'\'\''
_SKIP = r"(?:\s++|\#[^\n\r]*+)*+"

_TOKEN = re.compile(
    rf"""{_SKIP}(?:
      (?P<variable>\?[^\W\d]\w*+)
    | (?P<blank>_:[{NAME_START}_0-9](?:[{NAME_CHARACTERS}.]*[{NAME_CHARACTERS}])?)
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
    | (?P<unreadable>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_UNREADABLE = {
    **dict.fromkeys("\"'", "this string is not closed"),
    "<": "this is no IRI: an IRI holds no spaces, quotes or braces",
    "$": "variables are written ?x",
}


def statement(source: SourceText, position: int) -> list[RuleToken]:
    """The tokens from `position` up to the dot that ends the statement, or to the end of the text."""
    tokens: list[RuleToken] = []
    braces = 0
    while True:
        token = next_token(source, position, _TOKEN, _UNREADABLE)
        tokens.append(token)
        position = token.end
        braces += (token.kind == "{") - (token.kind == "}")
        if token.kind == "end" or (token.kind == "." and braces <= 0) or _is_sparql_directive(tokens):
            return tokens
        if len(tokens) > MAX_STATEMENT:
            raise source.error(f"a statement of more than {MAX_STATEMENT} words; is a dot missing?", tokens[0].start)


def _is_sparql_directive(tokens: list[RuleToken]) -> bool:
    """Whether the tokens are a complete `PREFIX ex: <…>` or `BASE <…>`, which has no dot."""
    word = tokens[0].text.upper() if tokens[0].kind == "word" else ""
    return len(tokens) == {"PREFIX": 3, "BASE": 2}.get(word)
