"""The engine on shards makes every step of random histories as the reference engine does, by every algorithm.

All in this process, so that Spark's own time is not paid: see `test_engine_spark` for the real thing.
`python -m tests.engines.spark` replays any part of the histories on either.
"""

from __future__ import annotations

import pytest

from tests.engines.spark.engines import SHARDS, SMALLS, spark_engine
from tests.engines.spark.united import batches, united
from tests.oracle.histories import random_history
from tests.oracle.programs import random_program
from tests.oracle.replay import replay
from tests.oracle.test_random_verbs import outcome
from tests.reference.engine import ReferenceEngine, least_model

QUICK = [(1, 7, 0), (3, 2, 5), (7, 3, 0)]  # seed, shards, rows for the driver
LONG = 1_000
BATCH = 10


@pytest.mark.parametrize(("seed", "shards", "small"), QUICK)
def test_every_algorithm_makes_every_step(seed: int, shards: int, small: int) -> None:
    with spark_engine(shards, small) as engine:
        replay(engine, random_history(seed).states, f"random_history({seed}), {shards} shards, small={small}")


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("start", range(0, LONG, 5 * BATCH))
def test_many_histories(start: int) -> None:
    for number, seeds in enumerate(batches(range(start, start + 5 * BATCH), BATCH)):
        shards, small = SHARDS[number % 4], SMALLS[number % 3]
        with spark_engine(shards, small) as engine:
            replay(engine, united(seeds), f"united({seeds}), {shards} shards, small={small}")


@pytest.mark.parametrize("shards", SHARDS)
def test_verbs_and_their_counts_agree(shards: int) -> None:
    """Not only what is derived, but how many matches there are, in all and of each fact."""
    for seed in range(shards, shards + 12, 4):
        program = random_program(seed)
        facts = sorted(least_model(program.rules, program.facts))
        for number, rule in enumerate(program.rules):
            expected = outcome(ReferenceEngine(), rule, facts, f"{seed} {number}")
            with spark_engine(shards, 5 * (number % 2)) as engine:
                found = outcome(engine, rule, facts, f"{seed} {number}")
            assert found == expected, f"random_program({seed}), rule {number}: {rule}"
