"""Ingest on Spark: what it gives in this process it gives there, ids and all."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest

import tidelog
from tests.engines.spark.ingest.ingested import Outcome, here, loaded, outcome
from tests.engines.spark.ingest.test_ingest import BAD, NT, data, sources_of
from tidelog import formats
from tidelog.changes.inputs import Input
from tidelog.dictionary import Dictionary
from tidelog.engines.spark.cluster.cluster import SparkCluster
from tidelog.engines.spark.ingest.ingest import IngestSource
from tidelog.errors import InputError
from tidelog.formats import FrameSource, RemoteSource, SparkFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["data"]  # a fixture


def frame_of(spark: SparkSession) -> DataFrame:
    """Rows of many types, in several partitions."""
    day = datetime.date(2024, 2, 29)
    rows = [(f"n{i % 7}", i % 5, i / 2, decimal.Decimal(i), day, i % 2 == 0, f"two words {i}") for i in range(40)]
    return spark.createDataFrame(rows, "s string, n long, x double, d decimal(9,2), t date, b boolean, w string")


def source_of(predicate: str, frame: DataFrame) -> FrameSource:
    return FrameSource(predicate, cast(SparkFrame, frame))


def on_spark(
    spark: SparkSession, sources: list[IngestSource], scratch: Path, dictionary: Dictionary | None = None
) -> Outcome:
    return outcome(SparkCluster(spark), sources, scratch, dictionary, split_size=1000)


def test_all_kinds_and_a_second_load(spark: SparkSession, data: Path) -> None:
    sources: list[IngestSource] = [*sources_of(data), source_of("row", frame_of(spark).repartition(3))]
    dictionary = Dictionary()
    found = on_spark(spark, sources, data.parent / "scratch", dictionary)
    expected = here([*sources_of(data), source_of("row", frame_of(spark))], data.parent / "other", 1)
    assert (found.terms(), found.shards()) == (expected.terms(), expected.shards())
    assert found.facts() == loaded(sources)
    before = found.terms()
    (data / "more.nt").write_text("<http://e/a> <http://e/knows> <http://e/new> .\n")
    second = on_spark(spark, [formats.read(data / "more.nt")], data.parent / "scratch", dictionary)
    assert second.terms() == [*before, "<http://e/new>"]
    assert second.facts() == loaded([formats.read(data / "more.nt")])


def test_a_bad_line_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text(NT + BAD)
    source = formats.read(tmp_path / "bad.nt")
    with pytest.raises(InputError) as expected:
        list(source)
    with pytest.raises(InputError) as found:
        on_spark(spark, [source], tmp_path / "scratch")
    assert str(found.value) == str(expected.value)


def test_a_data_frame_without_a_value(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("a", "b"), ("a", None)], "x string, y string")
    with pytest.raises(InputError, match="edge: column 'y' has no value; drop such rows"):
        on_spark(spark, [source_of("edge", frame)], tmp_path / "scratch")


def test_columns_marked_as_terms(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"t": ['"x"@en', "<a>", "_:b"]})
    marked = spark.createDataFrame(table).select("t")
    marked = marked.withMetadata("t", {"tidelog": "terms"})
    found = on_spark(spark, [source_of("t", marked)], tmp_path / "scratch")
    assert {str(f.args[0]) for f in found.facts()} == {'"x"@en', "<a>", "_:b"}


def named(path: Path) -> RemoteSource:
    return RemoteSource(f"file://{path}")


REMOTE = ("plain.nt", "unended.nt", "crlf.nt", "quads.nq", "zipped.nt.gz", "some.ttl", "measured.parquet", "age.csv")


def test_files_that_only_spark_reads(spark: SparkSession, data: Path) -> None:
    there = on_spark(spark, [named(data / name) for name in REMOTE], data.parent / "scratch")
    expected = here([formats.read(data / name) for name in REMOTE], data.parent / "other", 1)
    assert there.facts() == expected.facts()
    assert there.terms() == expected.terms()


@pytest.mark.parametrize("name", ["bad.nt", "bad.ttl"])
def test_a_bad_line_is_named_there_too(name: str, spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(NT + BAD if name == "bad.nt" else "<a> <b> ;;; <c")
    with pytest.raises(InputError) as expected:
        list(formats.read(path))
    with pytest.raises(InputError) as found:
        on_spark(spark, [named(path)], tmp_path / "scratch")
    assert str(found.value).replace("file://", "").replace("file:", "") == str(expected.value)


@pytest.fixture
def small_blocks(spark: SparkSession) -> Iterator[None]:
    name = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(name)
    spark.conf.set(name, "200")
    yield
    spark.conf.set(name, str(before))


@pytest.mark.usefixtures("small_blocks")
def test_bad_lines_are_counted_there_too(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text(NT + BAD)
    out = tmp_path / "out.jsonl"
    found = outcome(
        SparkCluster(spark), [named(tmp_path / "bad.nt")], tmp_path / "scratch", bad_lines="quarantine", quarantine=out
    )
    lines = (NT + BAD).splitlines()
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert found.ingested.bad == len(records) == 3
    assert len({f.args for f in found.facts()}) == sum(found.counts().values()) == 9
    assert [r["text"] for r in records] == [lines[r["line"] - 1] for r in records]


def test_a_knowledge_base_loads_what_only_spark_reads(spark: SparkSession, data: Path) -> None:
    """The same as the local engine loads; the address of a local file stands for one of a cluster."""
    path = data / "zipped.nt.gz"
    with tidelog.open() as expected, tidelog.open() as kb:
        expected.load(path)
        change = kb.load(Input(batches=[named(path)]))
        assert (change.engine, kb.digest()) == ("spark", expected.digest())


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3a://bucket/a.nt", "s3a://bucket/a.nt: this Spark cannot read s3a://; add the package"),
        ("noscheme://bucket/*.ttl", r"noscheme://bucket/\*.ttl: this Spark cannot read noscheme://; add the package"),
        ("hdfs://127.0.0.1:1/a.nt", "hdfs://127.0.0.1:1/a.nt: Spark cannot read it: .*Call From .* Connection refused"),
    ],
)
def test_an_address_that_spark_cannot_read_is_one_sentence(spark: SparkSession, url: str, message: str) -> None:
    with tidelog.open() as kb, pytest.raises(InputError, match=message):
        kb.load(url)
