"""A history in which the algorithms take turns: on Spark it is jobs that cost, and each step is made once."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.histories import State
from tests.oracle.replay import EMPTY, compare, is_recursive
from tests.oracle.ways import changed
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.engines.spark.sharded.engine import SparkEngine

NAMES = tuple(ALGORITHMS)


def replay_in_turns(engine: SparkEngine, states: Sequence[State], first: int, where: str) -> None:
    """The first step, from nothing, adds the whole program. `first` is who begins."""
    before, I = EMPTY, engine.fact_set(())
    kept: object = None
    for number, after in enumerate(states):
        name = _next(first + number, before, after)
        outcome = ALGORITHMS[name](changed(engine, before, after, I, kept))
        compare(f"{where}, state {number}, {name}", before, after, outcome.I, outcome.added, outcome.removed)
        before, I, kept = after, outcome.I, outcome.algorithm_state


def _next(turn: int, before: State, after: State) -> str:
    """Counting leaves its turn to the next where rules are recursive."""
    name = NAMES[turn % len(NAMES)]
    is_refused = name == "counting" and (is_recursive(before) or is_recursive(after))
    return NAMES[(turn + 1) % len(NAMES)] if is_refused else name
