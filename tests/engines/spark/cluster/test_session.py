"""A session of ours is quiet, and what makes it so reaches no other program of this process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.project.documents import ROOT

PROGRAM = """
import os
from tidelog.engines.spark.cluster.session import new_session
spark = new_session("local[1]")
print(spark.range(3).count(), "LOG4J_CONFIGURATION_FILE" in os.environ, flush=True)
spark.sparkContext._jvm.org.apache.logging.log4j.LogManager.getLogger("loud").warn("a warning")
spark.sparkContext._jvm.org.apache.logging.log4j.LogManager.getLogger("loud").error("an error")
spark.stop()
"""
PATIENCE = 120  # seconds


@pytest.mark.xdist_group("cluster")  # not beside other sessions that start
def test_a_session_is_quiet() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout == "3 False\n", done.stderr
    told = [line for line in done.stderr.splitlines() if "incubator modules" not in line]  # the JVM itself says that
    assert len(told) == 1 and told[0].endswith("ERROR loud: an error"), done.stderr
