"""SPARQL 1.1 Update: a request as one change of explicit facts.

Operations run in order. Each sees the explicit and derived facts after the operations before it. The result is the net
change, which the caller applies as one change. Patterns match all facts, but only explicit facts are deleted: a fact
that rules derive stays as long as the rules derive it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog import formats, tuning
from tidelog.algorithms.equality.policy import mode_of
from tidelog.algorithms.update import RuleChange
from tidelog.changes.apply import state_after
from tidelog.changes.inputs import Input
from tidelog.changes.request import ChangeRequest
from tidelog.changes.state import State
from tidelog.dictionary.batch import Batch, compact_batch
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import InputError, UsageError
from tidelog.model.terms import TRIPLE, Fact, Term, is_blank
from tidelog.queries.sparql.execute import Dataset, select
from tidelog.queries.sparql.prepared import Prepared
from tidelog.queries.sparql.syntax.algebra import UNIT, Node, Pattern, Project, Triple
from tidelog.queries.sparql.syntax.update_grammar import Clear, Load, Modify, Operation, parse_update
from tidelog.rules.syntax import Variable

Bindings = tuple[int, Mapping[Variable, pa.Array]]


def read_update(
    engine: LocalEngine, state: State, text: str, allow: Iterable[str | os.PathLike[str]] = ()
) -> tuple[Input, Input]:
    """The facts that a request adds and removes. `allow` lists the files and folders that LOAD may read."""
    request = _Request(engine, state, [Path(path).resolve() for path in allow])
    for operation in parse_update(text, state.prefixes):
        request.run(operation)
    return request.net()


class _Request:
    """The net change so far, and the state in which the next pattern is matched."""

    def __init__(self, engine: LocalEngine, before: State, allowed: Sequence[Path]) -> None:
        self.engine = engine
        self.before = before
        self.plus = self.minus = engine.fact_set(())
        self._allowed = allowed
        self._state, self._stale = _unconstrained(before), False
        self._labels = (Term(f"_:u{before.version + 1}x{n}") for n in count())

    def net(self) -> tuple[Input, Input]:
        """The facts to add and the facts to remove. No fact is in both."""
        return self._input(self.plus), self._input(self.minus)

    def _input(self, facts: LocalFacts) -> Input:
        if len(facts) <= tuning.SINGLY_UPDATED_FACTS:
            return Input(facts=list(facts))
        columns = [self.engine.dictionary.decode_array(column) for column in facts.columns(TRIPLE)]
        return Input(batches=[[_batch(columns)]])

    def run(self, operation: Operation) -> None:
        nothing = self.engine.fact_set(())
        match operation:
            case Modify(pattern, delete, insert):
                blocks = list(self._solutions(pattern, (*delete, *insert)))
                inserted = map(formats.only_rdf, self._instances(insert, blocks))
                self._change(self._collected(self._instances(delete, blocks)), self._collected(inserted))
            case Clear():
                self._change((self.before.E | self.plus).of_predicate(TRIPLE), nothing)
            case Load(iri, silent):
                with suppress(*(InputError, UsageError) if silent else ()):
                    self._change(nothing, self.engine.load(formats.read(self._file(iri))))

    def _collected(self, blocks: Iterable[Sequence[pa.Array]]) -> LocalFacts:
        """Columns of triples as facts. A few facts are built one by one, which is faster."""
        found = list(blocks)
        if sum(len(columns[0]) for columns in found) > tuning.SINGLY_UPDATED_FACTS:
            return self.engine.load(map(_batch, found))
        rows = (row for columns in found for row in zip(*(c.to_pylist() for c in columns), strict=True))
        return self.engine.fact_set(Fact(TRIPLE, tuple(Term(text.decode()) for text in row)) for row in rows)

    def _change(self, deleted: LocalFacts, inserted: LocalFacts) -> None:
        """Delete facts, then insert facts."""
        if len(deleted) or len(inserted):
            self.plus, self.minus = (self.plus - deleted) | inserted, (self.minus | deleted) - inserted
            self._stale = True

    def _solutions(self, pattern: Pattern, template: Sequence[Triple]) -> Iterator[Bindings]:
        """Yield blocks of solutions: their number, and the values of the variables in the template."""
        variables = tuple(dict.fromkeys(v for triple in template for v in triple.variables()))
        if pattern == UNIT:
            yield 1, {}
            return
        found = select(self._dataset(), Prepared(Project(pattern, variables), variables), variables)
        if not variables:
            yield len(found), {}
            return
        for block in found.term_blocks():
            yield len(block[0]), dict(zip(variables, block, strict=True))

    def _dataset(self) -> Dataset:
        """The facts after the operations so far."""
        if self._stale:
            request = ChangeRequest(*self.net())
            self._state, self._stale = state_after(self.engine, self._state, request), False
        I = mode_of(self._state.options).facts(self.engine, self._state.I, self._state.I)
        return Dataset(self.engine, I, self._state.prefixes)

    def _instances(self, template: Sequence[Triple], blocks: Iterable[Bindings]) -> Iterator[list[pa.Array]]:
        """Yield columns of triples, without triples that have an unbound variable. Blank nodes are new per solution."""
        for rows, values in blocks:
            columns: dict[Node, pa.Array] = dict(values.items())
            for triple in template:
                nodes = (triple.subject, triple.predicate, triple.object)
                columns |= {node: self._column(node, rows) for node in nodes if node not in columns}
                yield _bound([columns[node] for node in nodes])

    def _column(self, node: Node, rows: int) -> pa.Array:
        if isinstance(node, Variable):
            return pa.nulls(rows, pa.binary())  # the pattern does not bind it
        if is_blank(node):
            return pa.array([self._fresh().encode() for _ in range(rows)], pa.binary())
        return pa.repeat(pa.scalar(node.encode(), pa.binary()), rows)

    def _fresh(self) -> Term:
        return next(label for label in self._labels if self.engine.dictionary.lookup(label) is None)

    def _file(self, iri: str) -> Path:
        """The file that LOAD names, if the caller allows it."""
        parts = urlsplit(iri)
        if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
            raise UsageError(f"LOAD <{iri}> is refused: it reads files only, and nothing from the network")
        path = Path(unquote(parts.path)).resolve()
        if not any(path.is_relative_to(allowed) for allowed in self._allowed):
            allowed = f"--allow {path.name}, allow=[{path.name!r}]"
            raise UsageError(f"LOAD <{iri}> is refused; say which files and folders it may read ({allowed})")
        if not formats.is_rdf(formats.format_name(path, None)):
            raise UsageError(f"LOAD <{iri}> is refused: it takes RDF; other formats are read by kb.load")
        return path


def _unconstrained(state: State) -> State:
    """The state without constraints. They are checked for the whole change, not between operations."""
    rules = tuple(rule for rule in state.program.after if not rule.is_constraint)
    return replace(state, program=RuleChange(rules, rules), algorithm_state=None)


def _bound(columns: list[pa.Array]) -> list[pa.Array]:
    """The rows without nulls."""
    if not any(column.null_count for column in columns):
        return columns
    subject, predicate, object_ = (pc.is_valid(column) for column in columns)
    kept = pc.and_(pc.and_(subject, predicate), object_)
    return [column.filter(kept) for column in columns]


def _batch(columns: Sequence[pa.Array]) -> Batch:
    rows = len(columns[0])
    codes = np.arange(rows * len(columns), dtype=np.int32).reshape(len(columns), rows)
    return compact_batch(TRIPLE, pa.concat_arrays([column.cast(pa.binary()) for column in columns]), list(codes))
