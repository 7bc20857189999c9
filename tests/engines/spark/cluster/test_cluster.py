"""On a real standalone cluster: load, materialise, update; then with an executor killed, and with speculation.

Every time the digest must be that of the local engine. `local[2]` would show nothing of it: there a lost task is never
run again, and no second attempt runs beside the first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import pytest

import tidelog
from tests.engines.spark.cluster.standalone import Standalone, kill, standalone
from tests.project.documents import ROOT
from tidelog.generate import lubm

PATIENCE = 300  # seconds
pytestmark = pytest.mark.xdist_group("cluster")  # one of them is enough
SPECULATION = (
    *("spark.speculation=true", "spark.speculation.interval=50ms", "spark.speculation.multiplier=1.01"),
    *("spark.speculation.quantile=0.1", "spark.speculation.minTaskRuntime=0ms"),
)


@pytest.fixture(scope="module")
def university(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("university")
    lubm.write(1, folder)
    return folder


@pytest.fixture(scope="module")
def expected(university: Path) -> str:
    """What the driver program says at its end, from the local engine."""
    with tidelog.open() as kb:
        kb.load(university / "university-data.nt", university / lubm.RULES)
        change = kb.apply(remove={"triple": sorted(kb.facts("triple", kind="explicit"), key=str)[::50]})
        return f"done spark {len(change.removed)} {kb.digest()}"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_load_and_update(cluster: Standalone, university: Path, expected: str, tmp_path: Path) -> None:
    assert drive(cluster.master, tmp_path / "kb", university)[-1] == expected


def test_an_executor_is_killed_in_the_middle(
    cluster: Standalone, university: Path, expected: str, tmp_path: Path
) -> None:
    killed: list[int] = []

    def harm(stage: str) -> None:
        if stage == "materialise":
            killed.append(cluster.executors()[0])
            Timer(1.0, kill, killed).start()

    assert drive(cluster.master, tmp_path / "kb", university, harm)[-1] == expected
    assert killed and killed[0] not in cluster.executors()


def test_with_speculation(cluster: Standalone, university: Path, expected: str, tmp_path: Path) -> None:
    assert drive(cluster.master, tmp_path / "kb", university, settings=SPECULATION)[-1] == expected


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("stage", ["parse", "sort", "materialise", "commit"])
def test_the_driver_is_killed(cluster: Standalone, university: Path, expected: str, tmp_path: Path, stage: str) -> None:
    """Nothing of the version is seen; the load can be run again."""
    path = tmp_path / "kb"
    drive(cluster.master, path, university, dies_at=stage)
    with tidelog.open(path, read_only=True) as kb:
        assert (kb.version, len(kb.all_facts())) == (0, 0)
    assert drive(cluster.master, path, university)[-1] == expected
    assert not list((path / "scratch").iterdir())


def drive(
    master: str,
    path: Path,
    university: Path,
    harm: Callable[[str], None] = lambda _: None,
    *,
    settings: tuple[str, ...] = (),
    dies_at: str = "",
) -> list[str]:
    """The lines that a driver program prints; `harm` is done while it waits at each stage."""
    files = str(university / "university-data.nt"), str(university / lubm.RULES)
    small = "spark.executor.memory=512m", "spark.driver.memory=1g", "spark.task.maxFailures=8"
    program = [sys.executable, "-m", "tests.engines.spark.cluster.driving"]
    command = [*program, master, str(path), *files, *small, *settings]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(ROOT / "src")}
    lines: list[str] = []
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        ending = Timer(PATIENCE, process.kill)
        ending.start()
        try:
            for line in process.stdout:
                lines.append(line.strip())
                if lines[-1] == dies_at:
                    kill(process.pid)
                    break
                harm(lines[-1])
                if not line.startswith("done"):
                    process.stdin.write("\n")
                    process.stdin.flush()
        finally:
            ending.cancel()
    return lines
