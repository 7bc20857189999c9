"""`spark.read.format("tidelog")` shows what the knowledge base shows, whatever the options; and names what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidelog
from tidelog.errors import TidelogError, UsageError
from tidelog.spark.options import read_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FACTS = """
edge(a, b) . edge(b, c) . edge(c, d) . reach(d, d) .
age(ann, 42) . age(bob, 7) .
[ann, knows, _:someone] . [ann, name, "Ann"@en] . [bob, name, "B\\"b"] . [bob, height, 1.5e0] .
flag() .
"""
RULES = """
reach(?x, ?y) :- edge(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
"""


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions, the second with files of its own, the third in the catalog."""
    path = tmp_path_factory.mktemp("data") / "family.kb"
    with tidelog.open(path) as kb:
        kb.apply(add=FACTS, add_rules=RULES)
        kb.apply(add={"wide": [(i, i % 7, f"n{i}", i * i, i % 3) for i in range(25_000)]})
        kb.apply(remove="edge(b, c) .", add='edge(b, d) . [ann, name, "Anna"] .')
    return path


def load(spark: SparkSession, path: Path, **options: object) -> DataFrame:
    return spark.read.format("tidelog").options(**options).load(str(path))  # type: ignore[arg-type]


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def texts(facts: tidelog.Answers) -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in facts}


NAMED = [("subject", "predicate", "object"), ("arg1", "arg2")]


def test_triples_are_what_is_read_unless_something_else_is_said(spark: SparkSession, family: Path) -> None:
    frame = load(spark, family)
    assert frame.columns == [*NAMED[0], "explicit"]
    assert rows(frame) == [
        ("ann", "knows", "someone", True),
        ("ann", "name", "Ann", True),
        ("ann", "name", "Anna", True),
        ("bob", "height", "1.5", True),
        ("bob", "name", 'B"b', True),
    ]


REACH = {
    1: ["ab", "ac", "ad", "bc", "bd", "cd", "dd"],
    3: ["ab", "ad", "bd", "cd", "dd"],
}
# options -> rows as arguments, whether explicit, and what changed
CASES: list[tuple[Mapping[str, object], list[str]]] = [
    ({}, [f"{r} {r == 'dd'}" for r in REACH[3]]),
    ({"kind": "derived"}, [f"{r} False" for r in REACH[3] if r != "dd"]),
    ({"kind": "explicit"}, ["dd True"]),
    ({"asOf": 1, "partitions": 3}, [f"{r} {r == 'dd'}" for r in REACH[1]]),
    ({"changesSince": 1}, ["ac False removed", "bc False removed"]),
    ({"changesSince": 0, "asOf": 1, "kind": "explicit"}, ["dd True added"]),
    ({"changesSince": 3}, []),
]


@pytest.mark.parametrize(("options", "expected"), CASES)
def test_kinds_versions_and_changes(
    spark: SparkSession, family: Path, options: Mapping[str, object], expected: list[str]
) -> None:
    found = rows(load(spark, family, relation="reach", **options))
    assert [" ".join((f"{first}{second}", *map(str, more))) for first, second, *more in found] == expected


def test_partitions_together_are_everything_once(spark: SparkSession, family: Path) -> None:
    """More rows than a block, in as many partitions as asked for, cut by keys of several columns."""
    frame = load(spark, family, relation="wide", partitions=5, columns="i,seven,name,square,three")
    assert frame.rdd.getNumPartitions() == 5
    found = frame.select("i", "seven", "name", "square", "three").collect()
    with tidelog.open(family, read_only=True) as kb:
        assert len(found) == 25_000
        assert {tuple(row) for row in found} == texts(kb.facts("wide"))


def test_a_schema_chooses_columns_and_types(spark: SparkSession, family: Path) -> None:
    reader = spark.read.format("tidelog").option("relation", "age")
    assert rows(reader.schema("arg2 bigint").load(str(family))) == [(7,), (42,)]
    assert rows(reader.schema("arg2 double, explicit boolean").load(str(family))) == [(7.0, True), (42.0, True)]


def test_exact_terms_come_back_as_they_were(spark: SparkSession, family: Path) -> None:
    frame = load(spark, family, terms="ntriples").drop("explicit")
    with tidelog.open(family, read_only=True) as kb, tidelog.open() as copy:
        copy.load(frame)
        assert set(copy.facts("triple")) == set(kb.facts("triple"))


def test_one_predicate_and_filters(spark: SparkSession, family: Path) -> None:
    """Spark filters again what was filtered before, so the rows must be the same with and without."""
    expected = [("bob", "name", 'B"b', True)]
    assert rows(load(spark, family, predicate="height")) == [("bob", "height", "1.5", True)]
    switch = "spark.sql.python.filterPushdown.enabled"
    before = spark.conf.get(switch)
    spark.conf.set(switch, "true")
    try:
        frame = load(spark, family, pushdown="true")
        assert rows(frame.where("predicate = 'name' and subject = 'bob'")) == expected
        assert rows(frame.where("predicate = 'no'")) == []
        exact = load(spark, family, pushdown="true", terms="ntriples").where("subject = '<bob>'")
        assert [row[1] for row in rows(exact)] == ["<height>", "<name>"]
    finally:
        spark.conf.set(switch, before)


def test_a_fact_without_arguments_is_a_row(spark: SparkSession, family: Path) -> None:
    assert rows(load(spark, family, relation="flag")) == [(True,)]


def test_the_version_is_the_one_of_when_the_frame_was_made(spark: SparkSession, tmp_path: Path) -> None:
    with tidelog.open(tmp_path / "x.kb") as kb:
        kb.apply(add="p(a) .")
        frame = load(spark, tmp_path / "x.kb", relation="p")
        kb.apply(add="p(b) .", remove="p(a) .")
        kb.compact()
    assert rows(frame) == [("a", True)]


BAD = [
    ({"relation": "nothing"}, "there is no relation nothing; there are: age, edge, flag, reach, triple, wide"),
    ({"asOf": "9"}, "there is no version 9"),
    ({"changesSince": "2", "asOf": "1"}, "changesSince=2 is after the version that is read, 1"),
    ({"changesSince": "1", "kind": "derived"}, 'changes are those of "all" or of "explicit" facts'),
    ({"columns": "one"}, "columns names 1, but triple has 3"),
    ({"relation": "age", "predicate": "name"}, "the option predicate is for triple; the relation read is age"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_what_is_wrong_is_said(family: Path, options: dict[str, str], message: str) -> None:
    """Planning needs no session; Spark puts the message into an AnalysisException."""
    from tidelog.spark.datasource import Source

    with pytest.raises(TidelogError) as error:
        source = Source({"path": str(family), **options})
        source.reader(source.schema()).partitions()
    assert message in str(error.value)


def test_spark_shows_the_message(spark: SparkSession, family: Path) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="there is no relation nothing; there are"):
        load(spark, family, relation="nothing").collect()


OPTIONS = [
    ({}, "name the directory of a knowledge base"),
    ({"path": "x", "kind": "some"}, "kind is 'some'"),
    ({"path": "x", "asOf": "yesterday"}, "asOf is a whole number, not 'yesterday'"),
    ({"path": "x", "terms": "turtle"}, "terms is one of plain, ntriples, not 'turtle'"),
    ({"path": "x", "version": "1"}, "unknown option 'version'; known are: path, relation"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS)
def test_wrong_options(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_options(options)
    assert message in str(error.value)


SCHEMAS = [("arg3 string", "there is no column 'arg3'"), ("arg1 binary", "column arg1 cannot be read as binary")]


@pytest.mark.parametrize(("schema", "message"), SCHEMAS)
def test_wrong_schemas(spark: SparkSession, family: Path, schema: str, message: str) -> None:
    from pyspark.sql.types import _parse_datatype_string

    from tidelog.spark.datasource import Source

    asked = _parse_datatype_string(schema)
    with pytest.raises(UsageError) as error:
        Source({"path": str(family), "relation": "age"}).reader(asked)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_a_value_that_is_not_of_the_type_is_named(spark: SparkSession, family: Path) -> None:
    from pyspark.errors import PySparkException

    frame = spark.read.format("tidelog").option("relation", "age").schema("arg1 bigint").load(str(family))
    with pytest.raises(PySparkException, match="column arg1 is not all of type int64"):
        frame.collect()


def test_registering_by_hand(spark: SparkSession, family: Path) -> None:
    from tidelog.spark import register

    register(spark)
    assert load(spark, family, relation="age").count() == 2
