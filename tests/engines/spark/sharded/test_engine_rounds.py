"""Many rounds: the two hundredth costs what the second did, and files go when nothing reads them any more."""

from __future__ import annotations

import gc
from itertools import pairwise

import pytest

from tests.engines.spark.engines import spark_engine
from tidelog.algebra.engine import Work
from tidelog.algebra.fixpoint import fixpoint
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.engines.spark.sharded.facts import SparkFacts
from tidelog.model.terms import Fact, iri
from tidelog.rules.parsing.parser import parse_rules

ROUNDS = 200
RULES = parse_rules("reached(?y) :- reached(?x), next(?x, ?y) .")


def chain(length: int) -> list[Fact]:
    names = [iri(f"n{i}") for i in range(length + 1)]
    return [Fact("reached", (names[0],)), *(Fact("next", pair) for pair in pairwise(names))]


class Watched:
    """An engine that notes, after every round, what its tasks have read and how many files there are."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine
        self.read: list[int] = []
        self.jobs: list[int] = []
        self.files: list[int] = []

    def derive_pivoted(self, *args: object) -> SparkFacts:
        derived = self.engine.derive_pivoted(*args)  # type: ignore[arg-type]
        driver = self.engine.driver
        self.read.append(driver.rows_read)
        self.jobs.append(driver.jobs)
        self.files.append(len(list(driver.scratch.iterdir())))
        return derived


@pytest.mark.parametrize(("small", "shards"), [(0, 2), (20, 3), (5, 7)])
def test_rounds_do_not_slow_down(small: int, shards: int) -> None:
    with spark_engine(shards, small) as engine:
        facts = engine.fact_set(chain(ROUNDS))
        watched, work = Watched(engine), Work()
        everything, added = fixpoint(watched, RULES, engine.fact_set(()), facts, work)  # type: ignore[arg-type]
        assert len(everything) == 2 * ROUNDS + 1
        assert work.rounds == ROUNDS + 1 and work.derivations == ROUNDS
        early, late = _between(watched.read, 20, 100), _between(watched.read, 120, 200)
        assert late <= 1.5 * early, "rows read by rounds 120 to 200, and by rounds 20 to 100"
        assert _between(watched.jobs, 120, 200) <= _between(watched.jobs, 20, 100) + 8
        assert max(watched.files) <= 4 * shards * ROUNDS
        del everything, added, facts
        gc.collect()
        assert not [p for p in engine.driver.scratch.iterdir() if p.suffix == ".shard"]


def _between(totals: list[int], first: int, last: int) -> int:
    return totals[last] - totals[first]
