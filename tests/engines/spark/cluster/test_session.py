"""A session of tidelog is quiet, and this reaches no other program of this process; what goes wrong is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.documents import ROOT
from tidelog.engines.spark.cluster import session
from tidelog.errors import UsageError
from tidelog.settings import spark_timeout

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


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No JVM is started: a closed port is found out before."""
    monkeypatch.setenv("TIDELOG_SPARK_TIMEOUT", "5")
    with pytest.raises(UsageError, match=rf"^{scheme}://127.0.0.1:1: no Spark master answers there within 5 seconds"):
        session.new_session(f"{scheme}://127.0.0.1:1")


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_a_wrong_time_out(text: str) -> None:
    with pytest.raises(UsageError, match=r"TIDELOG_SPARK_TIMEOUT is .*; expected a number of seconds above zero"):
        spark_timeout({"TIDELOG_SPARK_TIMEOUT": text})


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tidelog":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
"""
LOAD = """
import tidelog
with tidelog.open() as kb:
    try:
        kb.load("data.nt", engine="spark", master="local[1]")
    except tidelog.UsageError as error:
        print(error)
"""


@pytest.mark.xdist_group("cluster")  # not beside other sessions that start
def test_workers_that_do_not_find_tidelog(tmp_path: Path) -> None:
    (tmp_path / "data.nt").write_text("<a> <b> <c> .\n")
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(BLOCKED)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/blocked:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": str(python)}
    command = [sys.executable, "-c", LOAD]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.startswith("the Python of the Spark workers has no package tidelog: "), done.stderr[-2000:]
    assert "--archives" in done.stdout
