"""Parses terms, triples and property paths."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidelog.errors import did_you_mean
from tidelog.model.terms import DECIMAL, DOUBLE, FALSE, INTEGER, RDF, RDF_TYPE, TRUE, Term, literal, unescape
from tidelog.model.terms import iri as iri_term
from tidelog.queries.sparql.syntax import tokens
from tidelog.queries.sparql.syntax.algebra import Alternative, Inverse, Link, Negated, Node, Path, Repeat, Sequence
from tidelog.queries.sparql.syntax.tokens import Cursor, Token, resolve
from tidelog.rules.syntax import Variable

_NUMBERS = {tokens.INTEGER: INTEGER, tokens.DECIMAL: DECIMAL, tokens.DOUBLE: DOUBLE}
_NIL, _FIRST, _REST = (Term(f"<{RDF}{name}>") for name in ("nil", "first", "rest"))
_LOCAL_ESCAPE = re.compile(r"\\(.)")
TYPE = Term(RDF_TYPE)

Verb = Node | Path
Statement = tuple[Node, Verb, Node]


class TripleGrammar(Cursor):
    """Parses triples. `statements` collects the triples of the current block."""

    def __init__(self, text: str, prefixes: Mapping[str, str], base: str = "") -> None:
        super().__init__(text)
        self.prefixes = dict(prefixes)
        self.base = base
        self.template = False  # in a template, blank nodes are terms, not variables
        self.statements: list[Statement] = []
        self.labels: set[str] = set()  # of the blank nodes in this block of triples
        self.used_labels: set[str] = set()  # of the blank nodes in finished blocks
        self.reused: Token | None = None  # a blank node of a finished block that occurs again
        self.refused = ""  # why the query will not be answered, though it is well formed
        self._fresh = 0

    def prologue(self) -> None:
        while keyword := self.word("BASE", "PREFIX"):
            if keyword == "BASE":
                self.base = resolve(self.base, self.expect_iri_reference())
            else:
                name = self.token
                if name.kind != tokens.NAME or name.text.find(":") != len(name.text) - 1:
                    self.fail("a prefix that ends with ':'")
                self.advance()
                self.prefixes[name.text[:-1]] = resolve(self.base, self.expect_iri_reference())

    def expect_iri_reference(self) -> str:
        return self.advance().text[1:-1] if self.token.kind == tokens.IRI else self.fail("an IRI in angle brackets")

    def fresh(self, mark: str = ".") -> Variable:
        self._fresh += 1
        return Variable(f"{mark}{self._fresh}")

    def is_iri(self) -> bool:
        return self.token.kind in (tokens.IRI, tokens.NAME)

    def iri(self) -> Term:
        if self.token.kind == tokens.IRI:
            return iri_term(resolve(self.base, self.advance().text[1:-1]))
        if self.token.kind != tokens.NAME:
            self.fail("an IRI")
        prefix, _, local = self.token.text.partition(":")
        if prefix not in self.prefixes:
            close = did_you_mean(prefix, self.prefixes)
            self.wrong(f"unknown prefix {prefix}:; declare it with PREFIX {prefix}: <…>{close}")
        self.advance()
        return iri_term(self.prefixes[prefix] + _LOCAL_ESCAPE.sub(r"\1", local))

    def variable(self) -> Variable:
        return Variable(self.advance().text[1:]) if self.token.kind == tokens.VARIABLE else self.fail("a variable")

    def string(self) -> str:
        if self.token.kind != tokens.STRING:
            self.fail("a string")
        text = self.advance().text
        quotes = 3 if len(text) >= 6 and text[:3] in ("'''", '"""') else 1
        return unescape(text[quotes:-quotes])

    def literal(self) -> Term | None:
        """Parse a literal; None if the current token starts none."""
        token = self.token
        if token.kind == tokens.STRING:
            return self._string_literal()
        if token.kind in _NUMBERS:
            return literal(self.advance().text, _NUMBERS[token.kind])
        if self.is_sign("+", "-") and self.peek().kind in _NUMBERS and self.peek().start == token.end:
            sign = self.advance().text
            return literal(sign + self.token.text, _NUMBERS[self.advance().kind])
        if word := self.word("TRUE", "FALSE"):
            return TRUE if word == "TRUE" else FALSE
        return None

    def _string_literal(self) -> Term:
        text = self.string()
        if self.token.kind == tokens.LANGUAGE:
            return literal(text, language=self.advance().text[1:])
        if self.sign("^^"):
            return literal(text, self.iri()[1:-1])
        return literal(text)

    def node(self) -> Node:
        """Parse a variable or a term, but no collection and no blank node with properties."""
        token = self.token
        if token.kind == tokens.VARIABLE:
            return self.variable()
        if self.is_iri():
            return self.iri()
        if token.kind == tokens.BLANK:
            return self.blank(self.advance())
        if self.is_sign("[") and self.peek().text == "]":
            self.position += 2
            return self.anonymous()
        if self.is_sign("(") and self.peek().text == ")":
            self.position += 2
            return _NIL
        found = self.literal()
        return self.fail("a variable or a term") if found is None else found

    def blank(self, token: Token) -> Node:
        self.labels.add(token.text)
        if token.text in self.used_labels:
            self.reused = token
        return Term(token.text) if self.template else Variable(token.text)

    def anonymous(self) -> Node:
        fresh = self.fresh("_:.")
        return Term(f"_:anon-{fresh.name[3:]}") if self.template else fresh

    def triples_block(self) -> None:
        """Parse triples separated by dots."""
        while self.starts_triples():
            self.same_subject()
            if not self.sign("."):
                return

    def starts_triples(self) -> bool:
        kinds = (tokens.VARIABLE, tokens.IRI, tokens.NAME, tokens.BLANK, tokens.STRING, *_NUMBERS)
        return self.token.kind in kinds or self.is_sign("(", "[", "+", "-") or self.is_word("TRUE", "FALSE")

    def same_subject(self) -> None:
        nested = self._is_nested()
        subject = self.graph_node()
        if not (nested and not self._starts_verb()):
            self.property_list(subject)

    def _is_nested(self) -> bool:
        """Whether a collection or a blank node with properties starts here. It need not be followed by properties."""
        return (self.is_sign("[") and self.peek().text != "]") or (self.is_sign("(") and self.peek().text != ")")

    def _starts_verb(self) -> bool:
        return (
            self.token.kind in (tokens.VARIABLE, tokens.IRI, tokens.NAME)
            or self.is_word("A")
            or self.is_sign("^", "!", "(")
        )

    def property_list(self, subject: Node) -> None:
        while True:
            verb = self.verb()
            self.statements.append((subject, verb, self.graph_node()))
            while self.sign(","):
                self.statements.append((subject, verb, self.graph_node()))
            if not self.sign(";"):
                return
            while self.sign(";"):
                pass
            if not self._starts_verb():
                return

    def graph_node(self) -> Node:
        if self._is_nested():
            return self._properties() if self.sign("[") else self._collection()
        return self.node()

    def _properties(self) -> Node:
        node = self.anonymous()
        self.property_list(node)
        self.expect("]")
        return node

    def _collection(self) -> Node:
        self.expect("(")
        head = self.anonymous()
        node = head
        while True:
            self.statements.append((node, _FIRST, self.graph_node()))
            if self.sign(")"):
                self.statements.append((node, _REST, _NIL))
                return head
            following = self.anonymous()
            self.statements.append((node, _REST, following))
            node = following

    def verb(self) -> Verb:
        if self.token.kind == tokens.VARIABLE:
            return self.variable()
        if self.template:
            return TYPE if self._is_a() else self.iri()
        path = self.path()
        return path.predicate if isinstance(path, Link) else path

    def _is_a(self) -> bool:
        """If the current token is `a`, advance and return True. Unlike other keywords it may not be in capitals."""
        if self.is_word("A") and self.token.text == "a":
            self.advance()
            return True
        return False

    def path(self) -> Path:
        path = self._path_sequence()
        while self.sign("|"):
            path = Alternative(path, self._path_sequence())
        return path

    def _path_sequence(self) -> Path:
        parts = [self._path_element()]
        while self.sign("/"):
            parts.append(self._path_element())
        path = parts.pop()
        while parts:
            path = Sequence(parts.pop(), path)
        return path

    def _path_element(self) -> Path:
        if self.sign("^"):
            return Inverse(self._path_element())
        path = self._path_primary()
        modifier = self.sign("?", "*", "+")
        return Repeat(path, modifier != "+", modifier != "?") if modifier else path

    def _path_primary(self) -> Path:
        if self.sign("!"):
            return self._negated()
        if self.sign("("):
            path = self.path()
            self.expect(")")
            return path
        if self._is_a():
            return Link(TYPE)
        return Link(self.iri()) if self.is_iri() else self.fail("a property or a path")

    def _negated(self) -> Path:
        excluded = self.listed(self._excluded, "|") if self.is_sign("(") else [self._excluded()]
        forward = frozenset(term for term, inverse in excluded if not inverse)
        backward = frozenset(term for term, inverse in excluded if inverse)
        return Negated(forward if forward or not backward else None, backward or None)

    def _excluded(self) -> tuple[Term, bool]:
        inverse = bool(self.sign("^"))
        return (TYPE if self._is_a() else self.iri()), inverse
