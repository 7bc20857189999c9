"""After every step of a random history: the least model, and the counts that counting everything again gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import pytest

from tests.algorithms.counting.recount import derivations, iterations
from tests.oracle.histories import State, random_history
from tests.oracle.ways import changed
from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Engine
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import counting, recursive_counting
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.semi_naive import rematerialise
from tidelog.algorithms.update import Outcome
from tidelog.engines.local.engine import LocalEngine
from tidelog.errors import UsageError
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)

HISTORIES, LONG, CHUNK = 24, 4_000, 4
EMPTY = State(frozenset(), (), frozenset())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = LONG if metafunc.config.getoption("long") else HISTORIES
    if "seeds" in metafunc.fixturenames:
        chunks = [range(start, start + CHUNK) for start in range(0, count, CHUNK)]
        metafunc.parametrize("seeds", chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


class Replay(Protocol):
    def __call__(self, engine: Engine[F], states: Sequence[State], where: str) -> None: ...


def replay(run: Replay, seed: int, states: Sequence[State]) -> None:
    """Most histories on the local engine, some on the reference engine."""
    if seed % 4:
        run(LocalEngine(), states, f"random_history({seed})")
    else:
        run(ReferenceEngine(), states, f"random_history({seed})")


def is_recursive(rules: Sequence[Rule]) -> bool:
    return any(stratum.recursive for stratum in stratify(rules))


def without_recursion(states: Sequence[State]) -> Iterator[State]:
    """The same history with only as many of its rules, the oldest first, as are not recursive."""
    rules: list[Rule] = []
    for state in states:
        keys = {rule.key for rule in state.rules}
        rules = [rule for rule in rules if rule.key in keys]
        for rule in state.rules:
            if rule not in rules and not is_recursive([*rules, rule]):
                rules.append(rule)
        yield State.of(state.facts, tuple(rules))


def check(outcome: Outcome[F], before: State, after: State, where: str) -> None:
    assert frozenset(outcome.I) == after.model, where
    assert frozenset(outcome.added) == after.model - before.model, where
    assert frozenset(outcome.removed) == before.model - after.model, where


def test_counting(seeds: range) -> None:
    for seed in seeds:
        replay(count_history, seed, list(without_recursion(random_history(seed).states)))


def count_history(engine: Engine[F], states: Sequence[State], where: str) -> None:
    kept, before, I = None, EMPTY, engine.fact_set(())
    for number, after in enumerate(states):
        outcome = counting.counting(changed(engine, before, after, I, kept))
        check(outcome, before, after, f"{where}, state {number}")
        kept = outcome.algorithm_state
        assert isinstance(kept, counting.DerivationCounts)
        assert dict(kept.counts) == derivations(after.rules, after.facts, after.model), f"{where}, state {number}"
        if number % 4 == 2:
            kept = None  # as if another algorithm had made this step
        before, I = after, outcome.I


def test_counting_where_rules_are_not_recursive(seeds: range) -> None:
    for seed in seeds:
        replay(count_in_part, seed, random_history(seed).states)


def count_in_part(engine: Engine[F], states: Sequence[State], where: str) -> None:
    kept, before, I = None, EMPTY, engine.fact_set(())
    for number, after in enumerate(states):
        outcome = ALGORITHMS["counting+bf"](changed(engine, before, after, I, kept))
        check(outcome, before, after, f"{where}, state {number}")
        kept = outcome.algorithm_state
        assert isinstance(kept, counting.DerivationCounts)
        assert {r.key for r in kept.rules} <= {r.key for s in stratify(after.rules) if not s.recursive for r in s.rules}
        assert dict(kept.counts) == derivations(kept.rules, after.facts, after.model), f"{where}, state {number}"
        before, I = after, outcome.I


def test_counting_is_right_or_refused(seeds: range) -> None:
    for seed in seeds:
        replay(refuse_history, seed, random_history(seed).states)


def refuse_history(engine: Engine[F], states: Sequence[State], where: str) -> None:
    before, I = EMPTY, engine.fact_set(())
    for number, after in enumerate(states):
        change = changed(engine, before, after, I)
        if is_recursive(before.rules) or is_recursive(after.rules):
            with pytest.raises(UsageError, match="counting cannot maintain recursive rules"):
                counting.counting(change)
            outcome = rematerialise(change)
        else:
            outcome = counting.counting(change)
        check(outcome, before, after, f"{where}, state {number}")
        before, I = after, outcome.I


def test_recursive_counting(seeds: range) -> None:
    for seed in seeds:
        replay(count_iterations, seed, random_history(seed).states)


def count_iterations(engine: Engine[F], states: Sequence[State], where: str) -> None:
    kept, before, I = None, EMPTY, engine.fact_set(())
    for number, after in enumerate(states):
        outcome = recursive_counting.recursive_counting(changed(engine, before, after, I, kept))
        check(outcome, before, after, f"{where}, state {number}")
        kept = outcome.algorithm_state
        assert isinstance(kept, recursive_counting.IterationCounts)
        found = [[dict(i.T) for i in counters.iterations] for counters in kept.layers]
        assert found == iterations([c.rules for c in kept.layers], after.facts), f"{where}, state {number}"
        before, I = after, outcome.I
