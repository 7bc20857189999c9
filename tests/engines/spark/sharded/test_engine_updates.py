"""DynamiTE's six updates, removed and added again, over shards: the digests are those of the local engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from bench.updates.changes import Update, beforehand, updates
from tests.engines.spark.engines import SHARDS
from tidelog.changes import spark_backend
from tidelog.changes.spark_backend import SparkBackend
from tidelog.engines.spark.cluster.cluster import InProcess
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.generate import lubm

UNIVERSITIES = 3
NEW_PEOPLE = 50
TURNS = ("dred", "bf", "fp", "auto", "counting+bf", "declarative", "rematerialise")


@pytest.fixture(scope="module")
def universities(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three universities with one department each."""
    folder = tmp_path_factory.mktemp("universities")
    lubm.write(UNIVERSITIES, folder)
    path = folder / "university-data.nt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if ".Department" not in line or ".Department0." in line))
    return folder


@pytest.fixture(scope="module")
def steps(universities: Path) -> list[Update]:
    return updates(universities / "university-data.nt", UNIVERSITIES, NEW_PEOPLE, NEW_PEOPLE)


@pytest.fixture(scope="module")
def expected(universities: Path, steps: list[Update]) -> list[str]:
    return digests(tidelog.open(), universities, steps, "local")


def digests(kb: tidelog.KnowledgeBase, universities: Path, steps: list[Update], engine: str) -> list[str]:
    """After loading, and after each removal and addition."""
    found = []
    with kb:
        kb.load(universities / "university-data.nt", universities / lubm.ONTOLOGY, engine=engine)
        kb.apply(add=beforehand(steps), add_rules=tidelog.rulesets.RHODF, engine=engine)
        for number, step in enumerate(steps):
            for way in ("add", "remove") if step.new else ("remove", "add"):
                algorithm = TURNS[number % len(TURNS)]
                kb.apply(**{way: list(step.facts)}, algorithm=algorithm, engine=engine)  # type: ignore[arg-type]
                found.append(kb.digest())
    return found


@pytest.mark.parametrize("shards", SHARDS)
def test_updates(
    shards: int, universities: Path, steps: list[Update], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        spark_backend, "SparkEngine", lambda cluster, d, scratch: SparkEngine(cluster, d, scratch, shards, 1000)
    )
    kb = tidelog.open()
    kb._spark_backend = SparkBackend(kb._engine, kb._store, cluster=InProcess(2))
    assert digests(kb, universities, steps, "spark") == expected
    assert len(set(expected)) > len(steps)
