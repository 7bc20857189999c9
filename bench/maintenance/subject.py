"""An open knowledge base to be changed: everything that the maintenance benchmarks ask of tidelog is in this file.

Changes start from fact sets, so that reading input is no part of a measurement. Nothing is committed: states are
immutable, and each algorithm starts from the same one.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from types import FrameType

import numpy as np

from bench.case import Case
from bench.measure import MeasurementError
from tidelog import knowledge_base
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import Outcome, RuleChange, Update
from tidelog.changes.result import Change
from tidelog.changes.state import State
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import TidelogError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.knowledge_base.snapshot import Snapshot
from tidelog.model.terms import Fact
from tidelog.rules.syntax import Rule

COUNTING = ("counting", "counting+bf", "recursive-counting")  # they go on from counts that they keep


@dataclass(frozen=True)
class Step:
    """Explicit facts and rules that go, and that come."""

    remove: LocalFacts
    add: LocalFacts
    remove_rules: tuple[Rule, ...] = ()
    add_rules: tuple[Rule, ...] = ()

    @property
    def back(self) -> Step:
        return Step(self.add, self.remove, self.add_rules, self.remove_rules)


@dataclass(frozen=True)
class Done:
    """A step that an algorithm made."""

    state: State
    outcome: Outcome[LocalFacts]
    work: Work
    seconds: float


class Subject:
    """A closed knowledge base; `closure` says what closing it took."""

    def __init__(self, kb: KnowledgeBase, closure: Change) -> None:
        self.kb = kb
        self.closure = closure
        self.start = kb._state
        self.nothing = kb._engine.fact_set(())
        self._states: dict[str, State] = {}
        self.counting: dict[str, float] = {}  # seconds that taking the counts took

    @classmethod
    def of(cls, case: Case) -> Subject:
        kb = knowledge_base.open()
        if case.data is None:
            return cls(kb, kb.load(case.program_path, engine="local"))
        kb.load(case.data_path, engine="local")
        return cls(kb, kb.apply(add_rules=case.program_path.read_text(), engine="local"))

    @property
    def explicit(self) -> int:
        return len(self.start.E)

    @property
    def facts(self) -> int:
        return len(self.start.I)

    def removal(self, facts: LocalFacts) -> Step:
        return Step(facts, self.nothing)

    def collect(self, facts: Sequence[Fact]) -> LocalFacts:
        return self.kb._engine.fact_set(facts)

    def without(self, rule: Rule) -> Step:
        return Step(self.nothing, self.nothing, remove_rules=(rule,))

    def samples(self, predicate: str, sizes: Sequence[int], seed: int) -> list[LocalFacts]:
        """Random explicit facts, each set with those of the sets before it."""
        columns = self.start.E.columns(predicate)
        order = np.random.default_rng(seed).permutation(len(columns[0]))
        return [self._rows(predicate, columns, order[:size]) for size in sizes]

    def _rows(self, predicate: str, columns: Sequence[np.ndarray], rows: np.ndarray) -> LocalFacts:
        gathered = FactBuilder(self.kb._engine.dictionary, self.kb._engine.budget)
        gathered.add_columns(predicate, [column[rows] for column in columns], len(rows))
        return gathered.facts()

    def supported(self, rule: Rule) -> int:
        """How many facts the rule derives."""
        return len(self.kb._engine.derive([all_from(rule, self.start.I)], Work()))

    def state(self, algorithm: str) -> State:
        """The state from which an algorithm starts: with its counts, if it keeps any."""
        if algorithm not in COUNTING:
            return self.start
        if algorithm not in self._states:
            done = self.change(algorithm, self.start, Step(self.nothing, self.nothing))
            self._states[algorithm] = done.state
            self.counting[algorithm] = done.seconds
        return self._states[algorithm]

    def change(self, algorithm: str, state: State, step: Step) -> Done:
        """What the algorithm makes of a state. Its time includes making the new explicit facts, as in a commit."""
        program = state.program
        if step.remove_rules or step.add_rules:
            gone = {rule.key for rule in step.remove_rules}
            program = RuleChange(program.after, (*(r for r in program.after if r.key not in gone), *step.add_rules))
        remove, add = _as_new(step.remove), _as_new(step.add)
        work, start = Work(), perf_counter()
        explicit = (state.E - remove) | add
        update = Update(self.kb._engine, program, explicit, state.I, remove, add, work, state.algorithm_state)
        outcome = ALGORITHMS[algorithm](update)
        seconds = perf_counter() - start
        settled = program if program is state.program else RuleChange(program.after, program.after)
        after = replace(state, E=explicit, I=outcome.I, program=settled, algorithm_state=outcome.algorithm_state)
        return Done(after, outcome, work, seconds)

    def single_changes(self, algorithm: str, facts: Sequence[Fact], seconds: float) -> Iterator[tuple[float, float]]:
        """Each fact removed and added again through the public interface: how long both took, until time is over.

        The first change is made twice: an algorithm that counts has to take its counts.
        """
        end = perf_counter() + seconds
        try:
            for number, fact in enumerate((facts[0], *facts)):
                both = self._timed(algorithm, remove=fact), self._timed(algorithm, add=fact)
                if number:
                    yield both
                if perf_counter() > end:
                    return
        finally:
            self.kb._held = Snapshot(self.kb._engine, self.start)

    def _timed(self, algorithm: str, add: Fact | None = None, remove: Fact | None = None) -> float:
        start = perf_counter()
        self.kb.apply(add=add, remove=remove, algorithm=algorithm, engine="local")
        return perf_counter() - start

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Whatever keeps a change from its end is a `MeasurementError`; one that takes longer than this is stopped."""
        try:
            with _alarm(seconds):
                yield
        except TidelogError as error:
            raise MeasurementError(_first_sentence(str(error))) from None
        except MemoryError:
            raise MeasurementError("out of memory") from None
        except MeasurementError:
            self._settle()
            raise

    def _settle(self) -> None:
        """What still runs on threads must not disturb the next measurement."""
        self.kb._engine.close()


def _as_new(facts: LocalFacts) -> LocalFacts:
    """The same facts as a change would bring them: not as the algorithm before has left them, sorted and indexed."""
    return facts if facts.coded is None else facts.of_coded(facts.coded)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise MeasurementError(f"more than {seconds:.0f} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _first_sentence(message: str) -> str:
    return re.split(r"[:.]\s", message, maxsplit=1)[0]
