"""The examples of docs/deploy.md that need no cluster of their own: `spark-submit`, and Spark Connect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

import tidelog
from tests.project.documents import ROOT
from tidelog.engines.spark.cluster.java import find_java
from tidelog.generate import lubm

PATIENCE = 300  # seconds

LOAD = """
import sys
import tidelog
from pyspark.sql import SparkSession

remote = sys.argv[4:]
builder = SparkSession.builder
spark = builder.remote(remote[0]).getOrCreate() if remote else builder.getOrCreate()
before = spark.conf.get("spark.sql.adaptive.enabled"), spark.conf.get("spark.sql.shuffle.partitions")
with tidelog.open(sys.argv[1]) as kb:
    change = kb.load(*sys.argv[2:4], engine="spark")
    gone = sorted(kb.facts("triple", kind="explicit"), key=str)[::50]
    kb.apply(remove={"triple": gone}, engine="spark", algorithm="dred")
    print("digest", change.engine, kb.digest())
assert before == (spark.conf.get("spark.sql.adaptive.enabled"), spark.conf.get("spark.sql.shuffle.partitions"))
assert spark.range(3).count() == 3, "the session is not ours to stop"
spark.stop()
"""


@pytest.fixture(scope="module")
def university(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("university")
    lubm.write(1, folder)
    (folder / "load.py").write_text(LOAD)
    return folder


def files_of(university: Path) -> list[str]:
    return [str(university / "university-data.nt"), str(university / lubm.RULES)]


@pytest.fixture(scope="module")
def expected(university: Path) -> str:
    with tidelog.open() as kb:
        kb.load(*files_of(university))
        kb.apply(remove={"triple": sorted(kb.facts("triple", kind="explicit"), key=str)[::50]})
        return f"digest spark {kb.digest()}"


def said(command: list[str]) -> str:
    java = find_java()
    assert java is not None
    environment = {
        **os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(java.home),
        "PYTHONPATH": str(ROOT / "src"),
    }  # fmt: skip
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_spark_submit(university: Path, expected: str, tmp_path: Path) -> None:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    program = [str(university / "load.py"), str(tmp_path / "kb"), *files_of(university)]
    assert expected in said([str(submit), "--master", "local[2]", "--conf", "spark.ui.enabled=false", *program])


def test_connect(university: Path, expected: str, tmp_path: Path) -> None:
    """A server in a process of its own, on loopback; the client uses only the DataFrame API."""
    program = [str(university / "load.py"), str(tmp_path / "kb"), *files_of(university), "local[2]"]
    assert expected in said([sys.executable, *program])
