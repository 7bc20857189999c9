"""`spark.read.format("tidelog")` shows what the knowledge base shows, whatever the options; and names what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidelog
from tidelog.engines.spark.dataframes.datasource import read_options
from tidelog.errors import InputError, TidelogError, UsageError

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


def read_here(path: Path, **options: object) -> list[tuple[object, ...]]:
    """The rows as the executors would give them, one after the other, without Spark."""
    from tidelog.engines.spark.dataframes.datasource import TidelogDataSource

    source = TidelogDataSource({"path": str(path), **{name: str(value) for name, value in options.items()}})
    reader = source.reader(source.schema())
    tables = [batch.to_pylist() for part in reader.partitions() for batch in reader.read(part)]
    return sorted(tuple(row.values()) for table in tables for row in table)


def texts(facts: tidelog.Answers) -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in facts}


def test_triples_are_what_is_read_unless_something_else_is_said(spark: SparkSession, family: Path) -> None:
    frame = load(spark, family)
    assert frame.columns == ["subject", "predicate", "object", "explicit"]
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


def lines(found: list[tuple[object, ...]]) -> list[str]:
    return [" ".join((f"{first}{second}", *map(str, more))) for first, second, *more in found]


@pytest.mark.parametrize(("options", "expected"), CASES)
def test_kinds_versions_and_changes(family: Path, options: Mapping[str, object], expected: list[str]) -> None:
    assert lines(read_here(family, relation="reach", **options)) == expected


def test_they_are_the_same_on_spark(spark: SparkSession, family: Path) -> None:
    for options, expected in CASES[3:5]:
        assert lines(rows(load(spark, family, relation="reach", **options))) == expected


def test_partitions_together_are_everything_once(spark: SparkSession, family: Path) -> None:
    """More rows than a block, cut by keys of several columns."""
    from pyspark.sql.functions import spark_partition_id

    frame = load(spark, family, relation="wide", partitions=5, columns="i,seven,name,square,three").drop("explicit")
    found = frame.withColumn("part", spark_partition_id()).collect()
    assert len({row.part for row in found}) == 5
    with tidelog.open(family, read_only=True) as kb:
        assert len(found) == 25_000
        assert {tuple(row[:-1]) for row in found} == texts(kb.facts("wide"))


def test_a_schema_chooses_columns_and_types(spark: SparkSession, family: Path) -> None:
    reader = spark.read.format("tidelog").option("relation", "age")
    frame = reader.schema("arg2 double, explicit boolean").load(str(family))
    assert rows(frame) == [(7.0, True), (42.0, True)]


def test_exact_terms_come_back_as_they_were(spark: SparkSession, family: Path) -> None:
    frame = load(spark, family, terms="ntriples").drop("explicit")
    with tidelog.open(family, read_only=True) as kb, tidelog.open() as copy:
        copy.load(frame)
        assert set(copy.facts("triple")) == set(kb.facts("triple"))


def test_one_predicate(family: Path) -> None:
    assert read_here(family, predicate="height") == [("bob", "height", "1.5", True)]
    assert read_here(family, predicate="nobody") == []


def test_filters_are_pushed_down_where_the_session_has_that_turned_on(spark: SparkSession, family: Path) -> None:
    switch = "spark.sql.python.filterPushdown.enabled"
    before = spark.conf.get(switch)
    spark.conf.set(switch, "true")
    try:
        frame = load(spark, family, pushdown="true")
        assert rows(frame.where("predicate = 'name' and subject = 'bob'")) == [("bob", "name", 'B"b', True)]
    finally:
        spark.conf.set(switch, str(before))


PUSHED = [
    ("plain", "predicate", "name", 3),
    ("plain", "predicate", "nobody", 0),
    ("plain", "subject", "bob", 5),  # "bob" may be the text of several terms
    ("ntriples", "subject", "<bob>", 2),
    ("ntriples", "predicate", "<name>", 3),
    ("ntriples", "object", '"Anna"', 1),
    ("ntriples", "explicit", "x", 5),
]


@pytest.mark.parametrize(("terms", "column", "value", "expected"), PUSHED)
def test_a_filter_leaves_out_what_it_can(family: Path, terms: str, column: str, value: str, expected: int) -> None:
    from pyspark.sql.datasource import EqualTo, IsNotNull

    from tidelog.engines.spark.dataframes.datasource import TidelogDataSource

    source = TidelogDataSource({"path": str(family), "terms": terms, "pushdown": "true"})
    reader = source.reader(source.schema())
    filters = [IsNotNull((column,)), EqualTo((column,), value)]
    assert list(reader.pushFilters(filters)) == filters  # Spark looks again
    assert sum(batch.num_rows for part in reader.partitions() for batch in reader.read(part)) == expected


def test_a_fact_without_arguments_is_a_row(family: Path) -> None:
    assert read_here(family, relation="flag") == [(True,)]


def test_equal_terms_are_shown_under_all_their_names(tmp_path: Path) -> None:
    """With equality by rewriting what is stored is about representatives only."""
    with tidelog.open(tmp_path / "x.kb", equality="rewriting") as kb:
        kb.apply(add="[ann, <http://www.w3.org/2002/07/owl#sameAs>, anna] .")
        kb.apply(add="[ann, knows, cid] .")
        expected = texts(kb.facts("triple"))
        assert ("anna", "knows", "cid") in expected
        assert {row[:3] for row in read_here(tmp_path / "x.kb", partitions=3)} == expected
        changed = read_here(tmp_path / "x.kb", changesSince=1)
        assert {row[:3] for row in changed if row[4] == "added"} == {
            tuple(map(str, r[1:])) for r in kb.diff(1, 2).added
        }


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
    with pytest.raises(TidelogError) as error:
        read_here(family, **options)
    assert message in str(error.value)


def test_spark_shows_the_message(spark: SparkSession, family: Path) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="there is no relation nothing; there are"):
        load(spark, family, relation="nothing")


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

    from tidelog.engines.spark.dataframes.datasource import TidelogDataSource

    asked = _parse_datatype_string(schema)
    with pytest.raises(UsageError) as error:
        TidelogDataSource({"path": str(family), "relation": "age"}).reader(asked)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_a_value_that_is_not_of_the_type_is_named(spark: SparkSession, family: Path) -> None:
    from pyspark.sql.types import LongType, StructType

    from tidelog.engines.spark.dataframes.datasource import TidelogDataSource

    reader = TidelogDataSource({"path": str(family), "relation": "age"}).reader(StructType().add("arg1", LongType()))
    with pytest.raises(InputError, match="column arg1 is not all of type int64"):
        list(reader.read(reader.partitions()[0]))
