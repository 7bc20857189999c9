"""Text to rules, facts and directives: Nemo's language, with RDFox's triple atoms.

The text is read statement by statement. Most statements of a large file are plain facts, so those are recognised by one
regular expression; whatever it does not match goes through the tokens, which also give the exact place of an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidelog.model import terms
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.clause_reader import ClauseReader
from tidelog.rules.directives import DirectiveReader
from tidelog.rules.operators import CONDITIONS
from tidelog.rules.scope import Scope
from tidelog.rules.syntax import Literal, Program, Rule, Variable
from tidelog.rules.tokens import NAME, Source, Token, statement

_PLAIN_ARGUMENT = rf'(?:{NAME}|"[^"\\\n\r]*+"(?!["@^])|<[^<>"\x00-\x20]*+>|-?[1-9][0-9]*+(?![\w.])|0(?![\w.]))'
_PLAIN_FACT = re.compile(rf"\s*+({NAME})\(\s*+({_PLAIN_ARGUMENT}(?:\s*+,\s*+{_PLAIN_ARGUMENT})*+)\s*+\)\s*+\.")
_ARGUMENT = re.compile(_PLAIN_ARGUMENT)


def parse_program(text: str, file: str = "<text>", parameters: Mapping[str, Term] | None = None) -> Program:
    """Read a whole program. `parameters` are values for its `@parameter` declarations."""
    return _ProgramReader(text, file, dict(parameters or {})).read()


def parse_rules(text: str, file: str = "<text>") -> list[Rule]:
    """Read rules only (and `@prefix`, `@base`)."""
    return _ProgramReader(text, file, only="rules").read().rules


def parse_facts(text: str, file: str = "<text>") -> list[Fact]:
    """Read facts only (and `@prefix`, `@base`)."""
    return _ProgramReader(text, file, only="facts").read().facts


def parse_query(
    text: str, prefixes: Mapping[str, str] | None = None
) -> tuple[tuple[Literal, ...], tuple[Variable, ...]]:
    """Read a body such as `ancestor(ann, ?x), age(?x, ?n), ?n > 30`; its named variables come in order of appearance."""
    source = Source(text, "<query>")
    tokens = statement(source, 0)
    if tokens[-1].kind == ".":
        tokens += statement(source, tokens[-1].end)
    return ClauseReader(source, tokens, Scope(dict(prefixes or {}))).query()


class _ProgramReader:
    def __init__(self, text: str, file: str, parameters: dict[str, Term] | None = None, only: str = "") -> None:
        self.source = Source(text, file)
        self.scope = Scope(parameters=parameters or {})
        self.only = only
        self.program = Program()
        self._terms: dict[str, Term] = {}

    def read(self) -> Program:
        position, end = 0, len(self.source.text)
        while position < end:
            if self.only != "rules" and not self.scope.base:
                position = self._plain_facts(position)
            position = self._statement(position)
        return self.program

    def _plain_facts(self, position: int) -> int:
        """Read plain facts as long as there are any; give the place after the last."""
        text, known, facts = self.source.text, self._terms, self.program.facts
        while (match := _PLAIN_FACT.match(text, position)) and match[1].upper() not in CONDITIONS:
            args = tuple(known.get(a) or self._plain_term(a) for a in _ARGUMENT.findall(match[2]))
            if "_" in args:
                break
            facts.append(Fact(match[1], args))
            position = match.end()
        return position

    def _plain_term(self, text: str) -> Term:
        if text[0] in '"<':
            term = Term(text)
        elif text in ("true", "false"):
            term = terms.boolean(text == "true")
        elif text == "_":
            return Term("_")
        else:
            term = terms.integer(int(text)) if text[0] in "-0123456789" else terms.iri(text)
        self._terms[text] = term
        return term

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

    def _directive(self, tokens: list[Token], first: Token) -> None:
        if self.only and first.text not in ("@prefix", "@base"):
            raise self.source.error(f"expected {self.only} only, found the directive `{first.text}`", first.start)
        DirectiveReader(self.source, tokens, self.scope).directive(self.program)

    def _clause(self, tokens: list[Token], first: Token) -> None:
        clause = ClauseReader(self.source, tokens, self.scope).clause()
        found = "facts" if isinstance(clause, Fact) else "rules"
        if self.only not in ("", found):
            raise self.source.error(f"expected {self.only} only, found a {found[:-1]}", first.start)
        if isinstance(clause, Fact):
            self.program.facts.append(clause)
        else:
            self.program.rules.append(clause)
