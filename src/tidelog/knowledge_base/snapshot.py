"""One version, and the engine that reads it. A question takes one snapshot and so sees exactly one version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tidelog.algorithms.equality.policy import MODES, OFF, Mode, mode_of
from tidelog.changes.state import State
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.model.terms import TRIPLE
from tidelog.queries.answers import Answers, marks
from tidelog.queries.datalog import Kind, check_kind


class Snapshot:
    """An immutable version of a knowledge base. The dictionary of its facts is that of the engine."""

    __slots__ = ("_named", "engine", "state")

    def __init__(self, engine: LocalEngine, state: State) -> None:
        self.engine = engine
        self.state = state
        self._named: LocalFacts | None = None

    @property
    def equality(self) -> Mode:
        return mode_of(self.state.options)

    def of_kind(self, kind: Kind, predicate: str | None = None) -> LocalFacts:
        """All facts, the explicit or the derived ones; of one predicate, if it is given."""
        check_kind(kind)
        state = self.state
        E, some = (S if predicate is None else S.of_predicate(predicate) for S in (state.E, state.I))
        if kind == "explicit":
            return E
        I = self.equality.facts(self.engine, state.I, some)
        return I if kind == "all" else I - E

    def triples(self, kind: Kind) -> LocalFacts:
        """The facts that SPARQL sees: under all names, if one name stands for others."""
        if kind == "explicit":
            return self.state.E
        if kind != "all" or self.equality is MODES[OFF]:
            return self.state.I if kind == "all" else self.of_kind(kind, TRIPLE)
        if self._named is None:
            self._named = self.of_kind(kind, TRIPLE)
        return self._named

    def answers(self, facts: LocalFacts, name: str) -> Answers:
        """The facts of one predicate as rows."""
        arity = facts.arities().get(name) or self.state.arities.get(name, 0)
        names, length, E = self.state.columns_of(name, arity), facts.predicates().get(name, 0), self.state.E
        asserted = partial(marks, facts.of_predicate(name), E)
        return Answers(names, lambda: facts.columns(name), length, self.engine.dictionary, asserted)

    def apart(self) -> Snapshot:
        """The same version with a dictionary of its own: reading it adds no terms to that of this snapshot."""
        dictionary, state = self.engine.dictionary.copy(), self.state
        E, I = state.E.with_dictionary(dictionary), state.I.with_dictionary(dictionary)
        own = State(E, I, state.program, state.arities, state.prefixes, state.version, None, state.options)
        return Snapshot(LocalEngine(self.engine.settings, dictionary), own)


@dataclass(frozen=True, slots=True)
class UnreadVersion:
    """A version that the first reader has to prepare. `described` has its rules, prefixes and options."""

    engine: LocalEngine
    described: State
    prepare: Callable[[], Snapshot]
