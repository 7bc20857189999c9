"""Changes on Spark through the public interface: equal to the local engine's, durable, and all or nothing.

The tasks run in this process: what Spark adds is tested in `test_cluster` and `test_engine_spark`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidelog
from tests.oracle.histories import Step, random_history
from tests.oracle.ways import facts_of
from tests.project.documents import ROOT
from tidelog import tuning
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.changes import spark_backend
from tidelog.changes.choose import choose_engine
from tidelog.changes.result import Change
from tidelog.changes.spark_backend import SparkBackend
from tidelog.engines.spark.cluster.cluster import InProcess
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.errors import ConstraintError, InputError, RuleError, TidelogError, UsageError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.rules.printer import format_fact

REACH = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
EDGES = "".join(f"n{i},n{i + 1}\n" for i in range(20))
HISTORIES = 12


@pytest.fixture(autouse=True)
def everything_in_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        spark_backend, "SparkEngine", lambda cluster, d, scratch: SparkEngine(cluster, d, scratch, 3, 0)
    )


def opened(path: Path | None = None) -> KnowledgeBase:
    kb = tidelog.open(path)
    kb._spark_backend = SparkBackend(kb._engine, kb._store, cluster=InProcess(2))
    return kb


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "edge.csv").write_text(EDGES)
    (tmp_path / "reach.rls").write_text(f'@import edge :- csv{{resource="edge.csv"}} . {REACH}')
    return [tmp_path / "reach.rls"]


@pytest.mark.parametrize("written", [0, 10**9])
def test_back_and_forth(tmp_path: Path, files: list[Path], written: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load on Spark, change here, change on Spark, reopen: at each step as if all were local."""
    monkeypatch.setattr(tuning, "GATHERED_FACTS", written)
    path = tmp_path / "kb"
    with tidelog.open() as local, opened(path) as kb:
        assert kb.load(*files, engine="spark").engine == "spark"
        local.load(*files)
        assert kb.digest() == local.digest()
        for engine in ("local", "spark", "local", "spark"):
            gone = f"edge(n{kb.version}, n{kb.version + 1}) ."
            ours, theirs = kb.apply(remove=gone, engine=engine), local.apply(remove=gone)
            assert (ours.engine, sorted(ours.removed)) == (engine, sorted(theirs.removed))
            assert kb.digest() == local.digest()
        digest = local.digest()
    with tidelog.open(path) as kb:
        assert kb.digest() == digest
        assert kb.verify(recompute=True).ok
        assert [v.engine for v in kb.versions()] == ["spark", "local", "spark", "local", "spark"]
        assert len(kb.diff(1, 5).removed) == len(kb.at(1).all_facts()) - len(kb.all_facts())
        assert not list((path / "scratch").iterdir())


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_random_histories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines and algorithms take turns; every version on disk is the least model."""
    monkeypatch.setattr(tuning, "GATHERED_FACTS", 0 if seed % 2 else 10**9)
    history = random_history(seed)
    first = Step(history.states[0].facts, frozenset(), history.states[0].rules)
    names = ["auto", *ALGORITHMS]
    with opened(tmp_path / "kb") as kb:
        for number, (step, after) in enumerate(zip((first, *history.steps), history.states, strict=True), start=seed):
            name, engine = names[number % len(names)], ("spark", "local")[number % 3 == 2]
            try:
                apply(kb, step, name, engine)
            except UsageError:  # of recursive rules
                assert name == "counting"
                apply(kb, step, "auto", engine)
            assert facts_of(kb.all_facts()) == after.model, (name, engine)
            assert facts_of(kb.all_facts("explicit")) == after.facts
        assert kb.verify(recompute=True).ok


def apply(kb: KnowledgeBase, step: Step, algorithm: str, engine: str) -> None:
    kb.apply(
        add="\n".join(map(format_fact, sorted(step.add))),
        remove="\n".join(map(format_fact, sorted(step.remove))),
        add_rules=list(step.add_rules),
        remove_rules=list(step.remove_rules),
        algorithm=algorithm,
        engine=engine,
    )


def test_a_preview_commits_nothing(tmp_path: Path, files: list[Path]) -> None:
    with opened(tmp_path / "kb") as kb:
        kb.load(*files, engine="spark")
        change = kb.preview(remove="edge(n0, n1) .", engine="spark")
        assert (change.engine, len(change.removed), kb.version) == ("spark", 21, 1)


@pytest.mark.parametrize("written", [0, 10**9])
def test_a_change_tells_what_one_here_tells(
    tmp_path: Path, files: list[Path], written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "GATHERED_FACTS", written)
    told: dict[str, list[object]] = {}
    for engine in ("local", "spark"):
        with opened(tmp_path / engine) as kb:
            changes = [
                kb.load(*files, engine=engine),
                kb.preview(remove="edge(n0, n1) .", engine=engine),
                kb.apply(remove="edge(n9, n10) .", add="reach(n0, n20) .", add_rules=BACK, engine=engine),
                kb.apply(remove="reach(n0, n20) .", remove_rules=BACK, engine=engine),
            ]
            told[engine] = [said(change) for change in changes]
    assert told["spark"] == told["local"]


BACK = "back(?y, ?x) :- edge(?x, ?y) ."


def said(change: Change) -> tuple[object, ...]:
    sides = (sorted(zip(facts, facts.asserted, strict=True)) for facts in (change.added, change.removed))
    return change.version, *sides, change.added_rules, change.removed_rules


def test_in_memory(files: list[Path]) -> None:
    with opened() as kb, tidelog.open() as local:
        kb.load(*files, engine="spark")
        local.load(*files)
        assert kb.digest() == local.digest()


REFUSED = [
    ({"add_rules": ":- edge(?x, ?y), edge(?y, ?z) ."}, ConstraintError),
    ({"add": {"edge": [("a", "b", "c")]}}, InputError),
    ({"add_rules": "p(?x) :- q(?x), ~p(?x) ."}, RuleError),
    ({"remove_rules": "p(?x) :- q(?x) ."}, UsageError),
]


@pytest.mark.parametrize(("change", "error"), REFUSED)
def test_what_is_refused_changes_nothing(
    tmp_path: Path, files: list[Path], change: dict[str, object], error: type[TidelogError]
) -> None:
    with opened(tmp_path / "kb") as kb:
        kb.load(*files, engine="spark")
        before = kb.digest()
        with pytest.raises(error):
            kb.apply(**change, engine="spark")  # type: ignore[arg-type]
        assert (kb.digest(), kb.version) == (before, 1)
        kb.apply(add="edge(n30, n31) .", engine="spark")
        assert kb.version == 2


def test_files_that_disagree_about_columns(tmp_path: Path, files: list[Path]) -> None:
    (tmp_path / "p.csv").write_text("a,b\n")
    with opened(tmp_path / "kb") as kb:
        kb.apply(add="p(a) .")
        with pytest.raises(InputError, match="p has 1 arguments elsewhere, but this data gives it 2 columns"):
            kb.load(tmp_path / "p.csv", engine="spark")


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_bad_lines(tmp_path: Path, engine: str) -> None:
    data = tmp_path / "data.nt"
    data.write_text("<a> <p> <b> .\nwhat is this\n<b> <p> <c> .\n")
    with opened() as kb:
        with pytest.raises(InputError, match=r"data\.nt:2"):
            kb.load(data, engine=engine)
        assert kb.version == 0
        change = kb.load(data, engine=engine, bad_lines="quarantine", quarantine=tmp_path / "bad.jsonl")
        assert (change.bad_lines, len(change.added)) == (1, 2)
        assert '"line": 2' in (tmp_path / "bad.jsonl").read_text()
    with opened() as kb:
        assert kb.load(data, engine=engine, bad_lines="skip").bad_lines == 1


def test_equality_by_rewriting_stays_local(tmp_path: Path) -> None:
    with tidelog.open(tmp_path / "kb", equality="rewriting") as kb:
        kb._spark_backend = SparkBackend(kb._engine, kb._store, cluster=InProcess(2))
        with pytest.raises(UsageError, match="local"):
            kb.apply(add="p(a) .", engine="spark")


CHOICES = [
    (("local", 10**12, 10**9), "local"),
    (("spark", 1, 10**9), "spark"),
    (("auto", 1, 10**9), "local"),
    (("auto", 10**10, 10**9), "spark"),
    (("auto", 1, 10**9, "spark://head:7077"), "spark"),
]


@pytest.mark.parametrize(("arguments", "engine"), CHOICES)
def test_which_engine(arguments: tuple[str, int, int], engine: str) -> None:
    assert choose_engine(*arguments).engine == engine


def test_unknown_engines() -> None:
    with pytest.raises(UsageError, match="auto, local, spark"):
        choose_engine("quantum", 0, 0)


KILLED = """
import os, signal, sys
sys.path[:0] = ["src", "."]
from tests.changes.test_spark_backend import opened
from pathlib import Path
def told(stage):
    if stage == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
with opened(Path(sys.argv[1])) as kb:
    kb.load(*sys.argv[3:], engine="spark", progress=told)
"""


@pytest.mark.parametrize("stage", ["parse", "sort", "materialise", "commit", "shard the stored facts"])
def test_the_driver_is_killed(tmp_path: Path, files: list[Path], stage: str) -> None:
    """The version before is what there is, and the load can be run again."""
    path = tmp_path / "kb"
    command = [sys.executable, "-c", KILLED, str(path), stage, *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src"}, timeout=100)
    assert done.returncode == -signal.SIGKILL
    with opened(path) as kb, tidelog.open() as local:
        assert (kb.version, len(kb.all_facts())) == (0, 0)
        kb.load(*files, engine="spark")
        local.load(*files)
        assert kb.digest() == local.digest()
    assert not list((path / "scratch").iterdir())


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with tidelog.open(tmp_path / "kb") as kb:
        yield kb


def test_other_processes_see_the_new_version(readers: KnowledgeBase, tmp_path: Path, files: list[Path]) -> None:
    with opened(tmp_path / "kb") as kb:
        kb.load(*files, engine="spark")
        assert (readers.version, readers.refresh()) == (0, 1)
        assert readers.digest() == kb.digest()
