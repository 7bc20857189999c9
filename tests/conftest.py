"""Options and fixtures of the whole suite: `--long` runs the long tiers of the random and seeded tests.

All tests share one Spark session, in one process: a session takes seconds to start.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="many more random programs and histories; every seeded fault")


@pytest.fixture
def long_tier(request: pytest.FixtureRequest) -> None:
    """A test that asks for this runs only with `--long`."""
    if not request.config.getoption("long"):
        pytest.skip("runs with --long")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests that use the Spark session into one group: `--dist loadgroup` runs a group in one process."""
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
