"""DataFrames out of a knowledge base and into one; the caller's session stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import tidelog
from tests.project.documents import ROOT, needs_spark, run_session
from tidelog.engines.spark.dataframes import NAME, frames
from tidelog.errors import InputError, UsageError
from tidelog.model.terms import LANG_STRING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FACTS = """
thing(1, 1.5e0, "true"^^<http://www.w3.org/2001/XMLSchema#boolean>, ann, <http://example.org/a>, 1) .
thing(2, -3.0e0, "false"^^<http://www.w3.org/2001/XMLSchema#boolean>, "b c", 7, 12345678901234567890) .
edge(a, b) . edge(b, c) . flag() .
"""
TYPES = ["bigint", "double", "boolean", "string", "string", "string"]
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if needs_spark(page)]
ROWS = [
    (1, 1.5, True, "ann", "http://example.org/a", "1"),
    (2, -3.0, False, "b c", "7", "12345678901234567890"),
]


@pytest.fixture(autouse=True, scope="module")
def unchanged(spark: SparkSession) -> Iterator[None]:
    """Whatever these tests do, the session has the settings it had, and works."""
    before = spark.conf.getAll, dict(spark.sparkContext.getConf().getAll())
    yield
    assert (spark.conf.getAll, dict(spark.sparkContext.getConf().getAll())) == before
    assert spark.range(3).count() == 3


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open(tmp_path_factory.mktemp("data") / "x.kb") as kb:
        kb.apply(add=FACTS, add_rules="reach(?x, ?y) :- edge(?x, ?y) .")
        kb.apply(remove="edge(b, c) .")
        yield kb


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def types(frame: DataFrame) -> list[str]:
    return [kind for _, kind in frame.dtypes]


def test_a_relation_on_disk(spark: SparkSession, on_disk: tidelog.KnowledgeBase) -> None:
    frame = on_disk.to_spark(spark, "thing")
    assert (types(frame), rows(frame)) == (TYPES, ROWS)


def test_of_an_older_version_and_one_kind(spark: SparkSession, on_disk: tidelog.KnowledgeBase) -> None:
    assert rows(on_disk.at(1).to_spark(spark, "reach", kind="derived")) == [("a", "b"), ("b", "c")]


def test_a_session_that_does_not_know_the_source_is_told(
    spark: SparkSession, on_disk: tidelog.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "NAME", "unheard_of")
    monkeypatch.setattr(frames, "register", lambda _: monkeypatch.setattr(frames, "NAME", NAME))
    assert on_disk.to_spark(spark, "edge").columns == ["arg1", "arg2"]


def test_a_relation_in_memory(spark: SparkSession) -> None:
    with tidelog.open() as kb:
        kb.apply(add=FACTS)
        frame = kb.to_spark(spark, "thing", kind="explicit")
        assert (types(frame), rows(frame)) == (TYPES, ROWS)


def test_what_has_no_columns_or_is_not_there(spark: SparkSession, on_disk: tidelog.KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="there is no relation nothing; there are: edge, flag, reach, thing"):
        on_disk.to_spark(spark, "nothing")
    with pytest.raises(UsageError, match="flag has no facts with arguments"):
        on_disk.to_spark(spark, "flag")


def test_answers(spark: SparkSession, on_disk: tidelog.KnowledgeBase) -> None:
    frame = on_disk.query("thing(?n, ?x, ?b, ?a, ?i, ?big)").to_spark(spark)
    assert frame.columns == ["n", "x", "b", "a", "i", "big"]
    assert (types(frame), rows(frame)) == (TYPES, ROWS)
    assert types(on_disk.query("edge(?x, ?x)").to_spark(spark)) == ["string"]
    assert rows(on_disk.all_facts().of("edge").to_spark(spark)) == [("edge", "a", "b")]


def test_loading_frames(spark: SparkSession) -> None:
    triples = spark.createDataFrame(pa.table({"o": ["Bob B."], "S": ["ann"], "p": ["http://example.org/name"]}))
    edges = spark.createDataFrame(pa.table({"x": ["a", "b"], "n": [1, 2]}))
    with tidelog.open() as kb:
        kb.load(triples, message="triples")
        kb.load(edges, relation="edge")
        kb.apply(add={"other": edges}, remove=triples)
        assert set(kb.facts("edge")) == set(kb.facts("other")) == {("a", 1), ("b", 2)}
        assert len(kb.facts("triple")) == 0
        with pytest.raises(UsageError, match="whose rows are these\\? The columns are x, n"):
            kb.load(edges)


class ConnectFrame:
    """A DataFrame of Spark Connect has every attribute: those it does not know are columns."""

    __module__ = "pyspark.sql.connect.dataframe"
    columns = ("x",)
    schema = SimpleNamespace(fields=[SimpleNamespace(metadata={"tidelog": "terms"})])

    def __getattr__(self, name: str) -> object:
        return name

    def toArrow(self) -> pa.Table:  # noqa: N802
        return pa.table({"x": ['"a b"@en']})


def test_a_frame_of_connect_is_no_graph() -> None:
    with tidelog.open() as kb:
        kb.load(ConnectFrame(), relation="p")
        kb.apply(add={"q": ConnectFrame()})
        assert list(kb.facts("p")) == list(kb.facts("q")) == [(tidelog.Literal("a b", LANG_STRING, "en"),)]
        with pytest.raises(UsageError, match="The columns are x"):
            kb.apply(add=ConnectFrame())


TABLE = pa.table({"object": [1, 2], "subject": ["a", "b"], "predicate": ["age", "age"]})


@pytest.mark.parametrize("kind", ["arrow", "pandas", "delta"])
def test_other_tables(kind: str, tmp_path: Path) -> None:
    """As triples by the names of their columns, as the rows of a relation, alone or by name."""
    from deltalake import DeltaTable, write_deltalake

    write_deltalake(tmp_path / "ages", TABLE)
    table = {"arrow": TABLE, "pandas": TABLE.to_pandas(), "delta": DeltaTable(tmp_path / "ages")}[kind]
    with tidelog.open() as kb:
        kb.load(table)
        kb.load(table, relation="age")
        kb.apply(add=[table, {"again": table}])
        assert set(kb.facts("triple")) == {("a", "age", 1), ("b", "age", 2)}
        assert set(kb.facts("age")) == set(kb.facts("again")) == {(1, "a", "age"), (2, "b", "age")}


def test_directories(tmp_path: Path) -> None:
    """Parts of a file, Delta tables, and several of these; what is not data has a name that says so."""
    from deltalake import write_deltalake

    write_deltalake(tmp_path / "all" / "ages", TABLE)
    parts = tmp_path / "all" / "edge.csv"
    parts.mkdir()
    for i, text in enumerate(["a,b\n", "b,c\n"]):
        (parts / f"part-{i}.csv").write_text(text)
    (parts / "_SUCCESS").touch()
    with tidelog.open() as kb:
        kb.load(tmp_path / "all")
        kb.apply(add={"link": parts, "more": tmp_path / "all" / "ages"})
        kb.load(parts, relation="arc")
        sizes = {p: len(kb.facts(p)) for p in kb.status().relations}
        assert sizes == {"ages": 2, "edge": 2, "link": 2, "more": 2, "arc": 2}
        (tmp_path / "none").mkdir()
        with pytest.raises(InputError, match="there are no data files in this directory"):
            kb.load(tmp_path / "none")
        program = tmp_path / "x.rls"
        program.write_text("p(a) .")
        with pytest.raises(UsageError, match="is a program, whose facts say what they are"):
            kb.load(program, relation="q")


def test_a_table_with_deletion_vectors_is_refused(tmp_path: Path) -> None:
    """Its files have rows that are no longer rows."""
    from deltalake import write_deltalake

    write_deltalake(tmp_path / "ages", TABLE, configuration={"delta.enableDeletionVectors": "true"})
    with tidelog.open() as kb, pytest.raises(InputError, match="deletion vectors are not read"):
        kb.load(tmp_path / "ages")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_that_use_spark_run(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = run_session(page)
    assert results.attempted > 10 and results.failed == 0
