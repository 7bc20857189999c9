"""What executors export is what one process exports, and comes back as the same facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidelog
from tidelog import tuning
from tidelog.engines.spark.cluster.cluster import FrameInput, InProcess, Message, Stage
from tidelog.engines.spark.dataframes.exporting import ExportSource, export
from tidelog.errors import InputError, TidelogError, UsageError
from tidelog.queries.datalog import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

MANY = 3000  # facts, more than one task writes
FACTS = """
@prefix ex: <http://example.org/> .
edge(a, b) . edge(b, c) . age(ann, 42) . age(bob, 1.5e0) . flag() . ex:likes(ann, "tea, hot\\n") .
[ann, knows, _:someone] . [_:someone, knows, bob] . [ann, name, "Ann"@en] . [ann, height, 1.5] . [bob, name, "B\\"b"] .
"""
RULES = """
reach(?x, ?y) :- edge(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
edge(c, a) :- edge(a, b) .
[?name, of, ?x] :- [?x, name, ?name] .
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "x.kb"
    with tidelog.open(path) as kb:
        kb.apply(add=FACTS, add_rules=RULES)
        kb.apply(add={"many": [(i, f"n{i % 100}") for i in range(MANY)]})
    return path


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "EXPORT_ONE_TASK_ROWS", MANY - 1)


@pytest.fixture
def kb(path: Path) -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open(path, read_only=True) as kb:
        yield kb


def loaded(out: Path) -> dict[str, set[tuple[object, ...]]]:
    """All that was exported, read back."""
    with tidelog.open() as copy:
        copy.load(out)
        return {p: set(copy.facts(p)) for p in copy.status().relations}


WHOLE = ["csv", "tsv", "parquet", "delta"]
KINDS: list[Kind] = ["all", "explicit", "derived"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", WHOLE)
def test_executors_write_what_one_process_writes(
    kb: tidelog.KnowledgeBase, path: Path, tmp_path: Path, format: str, kind: Kind
) -> None:
    by = ["predicate"] if format == "delta" else []
    local = kb.export(tmp_path / "local", format, kind, partition_by=by)
    spread = export(
        InProcess(3),
        ExportSource(str(path), 2, kind),
        None,
        tmp_path / "parts",
        format,
        overwrite=False,
        partition_by=by,
    )
    assert [(w.predicate, w.facts, w.left_out) for w in spread] == [(w.predicate, w.facts, w.left_out) for w in local]
    assert loaded(tmp_path / "parts") == loaded(tmp_path / "local")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("format", ["nt", "nq"])
def test_statements(kb: tidelog.KnowledgeBase, path: Path, tmp_path: Path, format: str) -> None:
    """Literals as subjects are left out and counted; a blank node in two parts is one blank node."""
    (local,) = kb.export(tmp_path / f"local.{format}")
    out = tmp_path / f"parts.{format}"
    (spread,) = export(Many(3), ExportSource(str(path), 2, "all"), None, out, None, overwrite=False)
    assert (spread.facts, spread.left_out) == (local.facts, local.left_out) == (5, 2)
    parts = [p for p in out.iterdir() if p.suffix == f".{format}"]
    texts = sorted(line for part in parts for line in part.read_text().splitlines())
    assert texts == sorted(Path(local.file).read_text().splitlines())
    blanks = {v for row in loaded(out)["triple"] for v in row if isinstance(v, tidelog.BlankNode)}
    assert len(blanks) == 1


class Many(InProcess):
    """A cluster on which every task is run twice, as speculation does; the second attempt is reported."""

    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        super().run(stages, inputs)
        return super().run(stages, inputs)


def test_parts_of_other_attempts_are_removed(path: Path, tmp_path: Path) -> None:
    (written,) = export(
        Many(2), ExportSource(str(path), 2, "all"), ["many"], tmp_path / "m.parquet", None, overwrite=False
    )
    assert written.facts == MANY
    names = sorted(p.name for p in (tmp_path / "m.parquet").iterdir())
    assert names[0] == "_SUCCESS" and len(names) == 3
    assert len(loaded(tmp_path / "m.parquet")["m"]) == MANY


class Failing(InProcess):
    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        super().run(stages, inputs)
        raise InputError("no space")


@pytest.mark.parametrize("name", ["edge.csv", "edge.delta"])
def test_an_export_that_fails_leaves_what_was_there(path: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    for before in (None, {"edge": {("a", "b"), ("b", "c"), ("c", "a")}}):
        with pytest.raises(InputError, match="no space"):
            export(Failing(), ExportSource(str(path), 2, "all"), ["edge"], out, None, overwrite=True)
        assert (loaded(out) if out.exists() else None) == before
        assert len(list(out.glob("part-*"))) == (before is not None)
        export(InProcess(), ExportSource(str(path), 2, "all"), ["edge"], out, None, overwrite=True)
    assert not list(tmp_path.glob(".*"))


def test_a_delta_table_gets_a_new_version(kb: tidelog.KnowledgeBase, path: Path, tmp_path: Path) -> None:
    """By either engine; what was there before stays in the history of the table, and its columns may change."""
    from deltalake import DeltaTable

    out = tmp_path / "x.delta"
    kb.export(out, relations=["edge"], kind="explicit")
    export(InProcess(), ExportSource(str(path), 2, "all"), ["edge"], out, None, overwrite=True)
    kb.export(out, relations=["triple"], overwrite=True, partition_by=["predicate"])
    export(InProcess(), ExportSource(str(path), 2, "derived"), ["edge"], out, None, overwrite=True)
    kb.export(out, relations=["triple"], overwrite=True, partition_by=["predicate"])
    counts = [len(DeltaTable(out, version=v).to_pyarrow_table()) for v in range(5)]
    assert counts == [2, 3, 7, 1, 7]
    assert [f.name for f in DeltaTable(out).schema().fields] == ["subject", "predicate", "object"]
    assert DeltaTable(out).metadata().partition_columns == ["predicate"]


BAD = [
    ("x.ttl", None, [], "turtle is one file, which executors cannot share"),
    ("x.csv", None, ["predicate"], "only Delta tables are partitioned"),
    ("x.delta", None, ["object"], 'executors partition by "predicate" only'),
    ("there", "csv", [], "there is already there"),
    ("kept", "csv", [], "it holds notes.txt, which no export wrote"),
]


@pytest.mark.parametrize(("name", "format", "by", "message"), BAD)
def test_what_is_refused(
    path: Path, tmp_path: Path, name: str, format: str | None, by: list[str], message: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "notes.txt").touch()
    source, overwrite = ExportSource(str(path), 2, "all"), name == "kept"
    with pytest.raises(TidelogError) as error:
        export(InProcess(), source, None, tmp_path / name, format, overwrite=overwrite, partition_by=by)
    assert message in str(error.value)


def test_in_memory_there_is_nothing_that_executors_could_open(tmp_path: Path) -> None:
    with tidelog.open() as kb, pytest.raises(UsageError, match="executors read from disk, and this is in memory"):
        kb.export(tmp_path / "x.csv", engine="spark")


def test_on_spark(spark: SparkSession, kb: tidelog.KnowledgeBase, tmp_path: Path) -> None:
    """The session that is active does the work, and Spark can read the tables without any jar."""
    from deltalake import DeltaTable

    written = kb.export(tmp_path / "out", "delta", engine="spark", relations=["many", "edge"])
    assert [(w.predicate, w.facts) for w in written] == [("many", MANY), ("edge", 3)]
    assert loaded(tmp_path / "out")["many"] == set(kb.facts("many"))
    frame = spark.read.schema("arg1 string, arg2 string").parquet(*DeltaTable(tmp_path / "out" / "edge").file_uris())
    assert sorted(map(tuple, frame.collect())) == [("<a>", "<b>"), ("<b>", "<c>"), ("<c>", "<a>")]
