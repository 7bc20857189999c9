"""Parses rules, facts and directives in Nemo's language with RDFox's triple atoms.

Most statements of a large file are plain facts, and one regular expression matches those. All other statements are read
from tokens, which also give the exact place of an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidelog.errors import ParseError
from tidelog.model import terms
from tidelog.model.terms import Fact, Term
from tidelog.rules.parsing.clauses import ClauseReader, DirectiveReader
from tidelog.rules.parsing.terms import CONDITIONS, TermReader
from tidelog.rules.parsing.tokens import (
    BLANK,
    IRI,
    LANGUAGE,
    MAX_TOKEN,
    NAME,
    NOT_NAMES,
    NUMBER,
    PREFIXED,
    SKIP,
    STRING,
    RuleText,
    RuleToken,
    Scope,
    SourceText,
    statement,
)
from tidelog.rules.syntax import Literal, Rule, RuleFile, Variable

_PREDICATE = rf"(?:{PREFIXED}|{NAME}|{IRI})"
_ARGUMENT = rf"(?:{STRING}(?:{LANGUAGE}|\^\^{_PREDICATE})?|[+-]?{NUMBER}|{BLANK}|{_PREDICATE})"
_PLAIN_FACT = re.compile(rf"{SKIP}({_PREDICATE})\(\s*+({_ARGUMENT}(?:\s*+,\s*+{_ARGUMENT})*+)\s*+\)\s*+\.", re.DOTALL)
_ARGUMENTS = re.compile(_ARGUMENT, re.DOTALL)
_STARTS_NUMBER = frozenset("+-.0123456789")
_INTEGER = re.compile("-?[0-9]{1,100}")
_DOUBLE = re.compile(r"-?[0-9]{1,100}\.[0-9]{1,100}")
_NAME = re.compile(NAME)
_PREFIXED_NAME = re.compile(rf"(?!_:){PREFIXED}")
_NEEDS_CARE = re.compile(r'[\\\n\r]|"""')


def parse_program(
    text: str,
    file: str = "<text>",
    parameters: Mapping[str, Term] | None = None,
    *,
    only: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> RuleFile:
    """Parse a program. If `only` is "rules" or "facts", other statements except `@prefix` and `@base` are errors.

    `parameters` are values for its `@parameter` declarations; `prefixes` may be used without a declaration.
    """
    return _ProgramReader(text, file, Scope(dict(prefixes or {}), parameters=dict(parameters or {})), only).read()


def parse_constant(text: str, file: str = "<text>") -> Term:
    """Parse one constant, or an expression without variables.

    >>> parse_constant("ann"), parse_constant("1 + 2")
    ('<ann>', '"3"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    source = SourceText(text, file)
    reader = ClauseReader(source, statement(source, 0), Scope())
    start = reader.token
    expression = reader.expression()
    reader.expect("end", "the end of the term")
    return reader.evaluated(expression, {}, start, "a value cannot hold the variable {}")


def parse_rules(text: str, file: str = "<text>") -> list[Rule]:
    """Parse a text of rules (and `@prefix`, `@base`)."""
    return parse_program(text, file, only="rules").rules


def parse_facts(text: str, file: str = "<text>") -> list[Fact]:
    """Parse a text of facts (and `@prefix`, `@base`)."""
    return parse_program(text, file, only="facts").facts


def parse_query(
    text: str, prefixes: Mapping[str, str] | None = None
) -> tuple[tuple[Literal, ...], tuple[Variable, ...]]:
    """Parse a body such as `ancestor(ann, ?x), age(?x, ?n), ?n > 30`; return it and its named variables in order."""
    source = RuleText(text, "<query>")
    tokens = statement(source, 0)
    if tokens[-1].kind == ".":
        tokens += statement(source, tokens[-1].end)
    return ClauseReader(source, tokens, Scope(dict(prefixes or {}))).query()


class _ProgramReader:
    def __init__(self, text: str, file: str, scope: Scope, only: str) -> None:
        self.source = RuleText(text, file)
        self.scope = scope
        self.only = only
        self.program = RuleFile()
        self._first_facts = self.program.first_facts
        self._terms: dict[str, Term] = {}
        self._predicates: dict[str, str] = {}

    def read(self) -> RuleFile:
        position, end = 0, len(self.source.text)
        while position < end:
            if self.only != "rules":
                position = self._plain_facts(position)
            position = self._statement(position)
        exported = {export.predicate for export in self.program.exports}
        outputs = {export.predicate: export for export in self.scope.outputs if export.predicate not in exported}
        self.program.exports += outputs.values()
        return self.program

    def _plain_facts(self, position: int) -> int:
        """Read plain facts up to the first other statement; return the offset after the last."""
        text, known, facts = self.source.text, self._terms, self.program.facts
        while match := _PLAIN_FACT.match(text, position):
            predicate = self._predicates.get(match[1]) or self._plain_predicate(match[1])
            args = [known.get(a) or self._plain_term(a) for a in _ARGUMENTS.findall(match[2])]
            if not predicate or "" in args:
                break
            facts.append(fact := Fact(predicate, tuple(args)))
            if (predicate, len(args)) not in self._first_facts:
                self._note_first(fact, match.start(1))
            position = match.end()
        return position

    def _note_first(self, fact: Fact, start: int) -> None:
        place = self.source.location(start)
        self._first_facts.setdefault((fact.predicate, len(fact.args)), (fact, place))

    def _plain_predicate(self, text: str) -> str:
        """The predicate, or "" if the statement must be read from tokens."""
        iri = self._plain_term(text) if text.upper() not in CONDITIONS and text != "_" else ""
        if terms.is_iri(Term(iri or "_")):
            self._predicates[text] = iri[1:-1]
        return self._predicates.get(text, "")

    def _plain_term(self, text: str) -> Term:
        """The constant, or "" if the statement must be read from tokens."""
        if len(text) > MAX_TOKEN:
            return Term("")
        is_exact = text[0] == "<" and "\\" not in text
        if is_exact or (text[0] == text[-1] == '"' and not _NEEDS_CARE.search(text)):
            term = Term(text)
        elif text[0] in _STARTS_NUMBER:
            term = self._plain_number(text)
        elif _NAME.fullmatch(text) and text not in NOT_NAMES:
            term = terms.iri(self.scope.base + text)
        elif _PREFIXED_NAME.fullmatch(text) and (expansion := self.scope.expand(text[: text.index(":")])) is not None:
            term = terms.iri(expansion + text[text.index(":") + 1 :])
        else:
            term = self._any_term(text)
        self._terms[text] = term
        return term

    def _plain_number(self, text: str) -> Term:
        if _INTEGER.fullmatch(text):
            return terms.integer(int(text))
        if _DOUBLE.fullmatch(text):
            return terms.double(float(text))
        return self._any_term(text)

    def _any_term(self, text: str) -> Term:
        source = SourceText(text, self.source.file)
        try:
            term = TermReader(source, statement(source, 0), self.scope).expression()
        except ParseError:
            return Term("")
        return Term(term) if isinstance(term, str) else Term("")

    def _statement(self, position: int) -> int:
        tokens = statement(self.source, position)
        first = tokens[0]
        if first.kind == "end":
            return len(self.source.text)
        if first.kind == "at":
            self._directive(tokens, first)
        else:
            self._clause(tokens, first)
        return tokens[-1].end

    def _directive(self, tokens: list[RuleToken], first: RuleToken) -> None:
        if self.only and first.text not in ("@prefix", "@base"):
            raise self.source.error(f"expected {self.only} only, found the directive `{first.text}`", first.start)
        DirectiveReader(self.source, tokens, self.scope).directive(self.program)
        self._terms.clear()  # the prefixes and the base may have changed
        self._predicates.clear()

    def _clause(self, tokens: list[RuleToken], first: RuleToken) -> None:
        clause = ClauseReader(self.source, tokens, self.scope).clause()
        found = "facts" if isinstance(clause, Fact) else "rules"
        if self.only not in ("", found):
            raise self.source.error(f"expected {self.only} only, found a {found[:-1]}", first.start)
        if isinstance(clause, Fact):
            self.program.facts.append(clause)
            self._note_first(clause, first.start)
        else:
            self.program.rules += clause
