"""Spark engines to try: every number of shards, and from "everything in files" to "little enough for the driver"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.spark.cluster.cluster import Cluster, InProcess
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.settings import Settings

SHARDS = (1, 2, 3, 7)
SMALLS = (0, 5, tuning.DRIVER_FACTS)
SETTINGS = Settings(memory_budget=1 << 33, threads=1)


@contextmanager
def spark_engine(shards: int, small: int, cluster: Cluster | None = None) -> Iterator[SparkEngine]:
    """An engine with a scratch directory of its own, which is empty when it is closed."""
    with TemporaryDirectory(prefix="tidelog-") as scratch:
        engine = SparkEngine(cluster or InProcess(), Dictionary(), Path(scratch), shards, small, SETTINGS)
        try:
            yield engine
        finally:
            engine.close()
        assert not list(Path(scratch).iterdir())
