"""The engine on real Spark: united histories by several algorithms. `python -m tests.engines.spark` replays more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engines.spark.engines import spark_engine
from tests.engines.spark.replaying import replay_in_turns
from tests.engines.spark.united import batches, united
from tidelog.engines.spark.cluster.cluster import SparkCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(20, 40)
STATES = 3


@pytest.mark.parametrize(("shards", "first"), [(2, 0), (3, 4)])
def test_united_histories(spark: SparkSession, shards: int, first: int) -> None:
    seeds = next(batches(SEEDS, 6))
    with spark_engine(shards, 5, SparkCluster(spark)) as engine:
        replay_in_turns(engine, united(seeds)[:STATES], first, f"united({seeds})")
        assert engine.driver.jobs > 10


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_many_united_histories(spark: SparkSession, shards: int) -> None:
    for number, seeds in enumerate(list(batches(range(1000 * shards, 1000 * shards + 150), 25))[:4]):
        with spark_engine(shards, 10 * (number % 2), SparkCluster(spark)) as engine:
            replay_in_turns(engine, united(seeds), number, f"united({seeds})")
