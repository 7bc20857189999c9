"""SPARQL 1.1 Update: a request as one change of explicit facts.

Operations are carried out in order, each on what holds after those before it, consequences included; what comes out is
the net change, which the caller makes at once. Facts are looked up among all that holds, and only explicit ones can be
deleted: one that rules derive stays for as long as they do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tidelog import formats
from tidelog.algorithms.layers import Program
from tidelog.attempt import attempt
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.equality.modes import mode_of
from tidelog.errors import InputError, UsageError
from tidelog.inputs import Input
from tidelog.model.facts import Fact
from tidelog.model.terms import Term, is_blank, is_iri, is_literal, to_term
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import UNIT, Node, Pattern, Project, Triple
from tidelog.sparql.forms import Source, select
from tidelog.sparql.update_grammar import Clear, Load, Modify, Operation, parse_update
from tidelog.state import State

Solution = dict[Variable, Term | None]


def read_update(
    engine: LocalEngine, state: State, text: str, allow: Iterable[str | os.PathLike[str]] = ()
) -> tuple[Input, Input]:
    """The facts that a request adds and removes; `allow` are the files, and folders of files, that LOAD may read."""
    request = _Request(engine, state, [Path(path).resolve() for path in allow])
    for operation in parse_update(text, state.prefixes):
        request.run(operation)
    return Input(facts=list(request.plus)), Input(facts=list(request.minus))


class _Request:
    """The net change so far, and the state that the next pattern is matched in."""

    def __init__(self, engine: LocalEngine, before: State, allowed: Sequence[Path]) -> None:
        self.engine = engine
        self.before = before
        self.plus = self.minus = engine.collect(())
        self._allowed = allowed
        self._state, self._stale = _unconstrained(before), False
        self._labels = (Term(f"_:u{before.version + 1}x{n}") for n in count())

    def run(self, operation: Operation) -> None:
        nothing = self.engine.collect(())
        match operation:
            case Modify(pattern, delete, insert):
                solutions = list(self._solutions(pattern, (*delete, *insert)))
                gone, new = (self._instances(template, solutions) for template in (delete, insert))
                self._change(self.engine.collect(gone), self.engine.collect(filter(_is_rdf, new)))
            case Clear():
                self._change((self.before.E | self.plus).only(TRIPLE), nothing)
            case Load(iri, silent):
                with suppress(*(InputError, UsageError) if silent else ()):
                    self._change(nothing, self.engine.load(formats.read(self._file(iri))))

    def _change(self, deleted: LocalFacts, inserted: LocalFacts) -> None:
        """First what is deleted goes, then what is inserted comes."""
        if len(deleted) or len(inserted):
            self.plus, self.minus = (self.plus - deleted) | inserted, (self.minus | deleted) - inserted
            self._stale = True

    def _solutions(self, pattern: Pattern, template: Sequence[Triple]) -> Iterator[Solution]:
        if pattern == UNIT:
            return iter([{}])
        variables = tuple(dict.fromkeys(v for triple in template for v in triple.variables()))
        found = select(self._source(), Project(pattern, variables), variables)
        return ({v: None if x is None else to_term(x) for v, x in zip(variables, row, strict=True)} for row in found)

    def _source(self) -> Source:
        """What holds after the operations so far."""
        if self._stale:
            plus, minus = Input(facts=list(self.plus)), Input(facts=list(self.minus))
            self._state, self._stale = attempt(self.engine, self._state, plus, minus, (), "auto").after, False
        I = mode_of(self._state.options).facts(self.engine, self._state.I, self._state.I)
        return Source(self.engine, I, self._state.prefixes)

    def _instances(self, template: Sequence[Triple], solutions: Iterable[Solution]) -> Iterator[Fact]:
        """A triple with an unbound variable has none; blank nodes are new ones for each solution."""
        for solution in solutions:
            fresh: dict[Term, Term] = {}
            for triple in template:
                nodes = (triple.subject, triple.predicate, triple.object)
                args = [self._instance(node, solution, fresh) for node in nodes]
                if None not in args:
                    yield Fact(TRIPLE, tuple(arg for arg in args if arg is not None))

    def _instance(self, node: Node, solution: Solution, fresh: dict[Term, Term]) -> Term | None:
        if isinstance(node, Variable):
            return solution.get(node)
        if not is_blank(node):
            return node
        if node not in fresh:
            fresh[node] = next(label for label in self._labels if self.engine.dictionary.lookup(label) is None)
        return fresh[node]

    def _file(self, iri: str) -> Path:
        """The file that LOAD names, if the caller allows it."""
        parts = urlsplit(iri)
        if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
            raise UsageError(f"LOAD <{iri}> is refused: it reads files only, and nothing from the network")
        path = Path(unquote(parts.path)).resolve()
        if not any(path.is_relative_to(allowed) for allowed in self._allowed):
            raise UsageError(f"LOAD <{iri}> is refused: say which files and folders it may read, allow=[{path.name!r}]")
        if not formats.is_rdf(formats.format_name(path, None)):
            raise UsageError(f"LOAD <{iri}> is refused: it takes RDF; other formats are read by kb.load")
        return path


def _unconstrained(state: State) -> State:
    """What is between operations need not meet the constraints; the change as a whole is checked later."""
    rules = tuple(rule for rule in state.program.after if not rule.is_constraint)
    return replace(state, program=Program(rules, rules), kept=None)


def _is_rdf(fact: Fact) -> bool:
    subject, predicate, _ = fact.args
    return not is_literal(subject) and is_iri(predicate)
