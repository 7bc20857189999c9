"""Repairs of facts of random histories against trying every set of explicit facts.

Each proposal works and is minimal, and of the least size all are found. `--long` takes more histories.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from random import Random

import pytest

import tidelog
from tests.oracle.histories import State, random_history, strata_of
from tests.oracle.ways import facts_of
from tests.reference.engine import model_of
from tidelog.explain.repair.proposals import Repairs
from tidelog.model.terms import Fact

HISTORIES, LONG = 14, 1_000
MOST_EXPLICIT = 14  # facts, so that every small set of them can be tried
LEAST = 2  # size up to which all sets are tried


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(LONG if metafunc.config.getoption("long") else HISTORIES))


def small_states(seed: int) -> Iterator[State]:
    """Some states of a history, with as many explicit facts as can be tried."""
    random = Random(f"repair {seed}")
    for state in random_history(seed).states[::5]:
        facts = frozenset(random.sample(sorted(state.facts), min(MOST_EXPLICIT, len(state.facts))))
        yield State.of(facts, state.rules)


def holds_without(state: State, fact: Fact, removed: frozenset[Fact]) -> bool:
    return fact in model_of(strata_of(state.rules), state.facts - removed)


def subsets(facts: frozenset[Fact], sizes: range) -> Iterator[frozenset[Fact]]:
    return map(frozenset, chain.from_iterable(combinations(sorted(facts), size) for size in sizes))


def check(state: State, fact: Fact, found: Repairs) -> None:
    for repair in found:
        removed = frozenset(repair.facts)
        assert removed <= state.facts
        assert not holds_without(state, fact, removed)
        assert all(holds_without(state, fact, s) for s in subsets(removed, range(len(removed))))
        lost = state.model - model_of(strata_of(state.rules), state.facts - removed)
        assert facts_of(repair.effect.removed) == lost
    sets = {frozenset(r.facts) for r in found}
    assert len(sets) == len(found)
    for size in range(1, LEAST + 1):
        working = {s for s in subsets(state.facts, range(size, size + 1)) if not holds_without(state, fact, s)}
        if working:
            assert working == {s for s in sets if len(s) == size}
            break
    else:
        assert all(len(s) > LEAST for s in sets)


def test_random_facts(seed: int) -> None:
    random = Random(f"repaired {seed}")
    for state in small_states(seed):
        with tidelog.open() as kb:
            kb.apply(add=sorted(state.facts), add_rules=list(state.rules))
            derived, explicit = sorted(state.model - state.facts), sorted(state.facts)
            for fact in (
                *random.sample(derived, min(2, len(derived))),
                *random.sample(explicit, min(1, len(explicit))),
            ):
                check(state, fact, kb.repair(fact, limit=10_000, max_tries=10_000))
