"""One Spark session for all tests of this directory, in one process: a session takes seconds to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`--dist loadgroup` runs what has the same group in the same process: all that uses the session."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from tidelog.engines.spark.cluster.session import new_session

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = new_session("local[2]")
    yield session
    session.stop()
