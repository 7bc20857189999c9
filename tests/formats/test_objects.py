"""Python rows, Arrow, pandas, rdflib and Parquet as facts."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tidelog import formats
from tidelog.errors import InputError
from tidelog.model.terms import IRI, XSD, BlankNode, Literal, Name, String, Term

VALUES: list[tuple[object, str]] = [
    ("ann", "<ann>"),
    ("http://e/a", "<http://e/a>"),
    ("a b", '"a b"'),
    ("42", '"42"'),
    (42, f'"42"^^<{XSD}integer>'),
    (2**70, f'"{2**70}"^^<{XSD}integer>'),
    (1.5, f'"1.5"^^<{XSD}double>'),
    (float("nan"), f'"NaN"^^<{XSD}double>'),
    (True, f'"true"^^<{XSD}boolean>'),
    (Name("ann"), "<ann>"),
    (String("ann"), '"ann"'),
    (IRI("http://e/a"), "<http://e/a>"),
    (BlankNode("b"), "_:b"),
    (Literal("x", language="en-GB"), '"x"@en-gb'),
    (Literal("x", f"{XSD}token"), f'"x"^^<{XSD}token>'),
    (date(2024, 2, 29), f'"2024-02-29"^^<{XSD}date>'),
    (datetime(2024, 2, 29, 12, 30, tzinfo=UTC), f'"2024-02-29T12:30:00+00:00"^^<{XSD}dateTime>'),
    (Decimal("1.50"), f'"1.50"^^<{XSD}decimal>'),
    (np.int64(7), f'"7"^^<{XSD}integer>'),
    (np.float32(0.5), f'"0.5"^^<{XSD}double>'),
]


@pytest.mark.parametrize(("value", "term"), VALUES)
def test_value(value: object, term: str) -> None:
    assert formats.from_rows("p", [(value,)]).rows() == [(term,)]


def test_rows() -> None:
    batch = formats.from_rows("parent", [("ann", "bob"), ["bob", "ann"]])
    assert batch.predicate == "parent"
    assert len(batch) == 2
    assert len(batch.terms) == 2
    assert batch.rows() == [("<ann>", "<bob>"), ("<bob>", "<ann>")]
    assert len(formats.from_rows("p", [])) == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "b"), ("c",)], "p: row 2 has 1 values, the first has 2"),
        (["ann"], "p: row 1 is 'ann'; a row is a tuple or list of values"),
        ([7], "p: row 1 is 7; a row is a tuple or list of values"),
        ([(None,)], "cannot make a term of None (NoneType)"),
    ],
)
def test_wrong_rows(rows: list[tuple[object, ...]], message: str) -> None:
    with pytest.raises(InputError) as caught:
        formats.from_rows("p", rows)
    assert str(caught.value).startswith(message)


TABLE = pa.table(
    {
        "name": ["ann", "bob", "ann"],
        "age": pa.array([1, 2, 1], pa.int16()),
        "weight": [1.5, 2.0, 1.5],
        "member": [True, False, True],
        "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
        "raw": pa.array([b"r", b"s", b"r"]),
    }
)
ROW = ("<ann>", f'"1"^^<{XSD}integer>', f'"1.5"^^<{XSD}double>', f'"true"^^<{XSD}boolean>', "<x>", "<r>")


def test_arrow() -> None:
    batch = formats.from_arrow("p", TABLE)
    assert batch.rows()[0] == batch.rows()[2] == ROW
    assert len(batch) == 3
    assert len(set(batch.terms.to_pylist())) == len(batch.terms)
    assert formats.from_arrow("p", TABLE.slice(1, 1)).rows() == [batch.rows()[1]]
    assert len(formats.from_arrow("p", TABLE.slice(0, 0))) == 0


def test_arrow_nulls_are_refused() -> None:
    with pytest.raises(InputError, match="p: column 'a' has no value in row 2; drop such rows or fill them"):
        formats.from_arrow("p", pa.table({"a": ["x", None]}))
    with pytest.raises(InputError, match="p: binary values must be UTF-8 text"):
        formats.from_arrow("p", pa.table({"a": [b"\xff"]}))


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["ann", "bob"], "b": [1, 2]})
    assert formats.from_pandas("p", frame).rows() == formats.from_rows("p", [("ann", 1), ("bob", 2)]).rows()
    mixed = pandas.DataFrame({"a": ["ann", 7]})
    assert formats.from_pandas("p", mixed).rows() == [("<ann>",), (f'"7"^^<{XSD}integer>',)]


def test_rdflib() -> None:
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph()
    graph.parse(data='<http://e/a> <http://e/b> "x"@en, 5, "y", _:z .', format="turtle")
    batch = formats.from_rdflib(graph)
    objects = {row[2] for row in batch.rows()}
    assert batch.predicate == "triple"
    assert {'"x"@en', f'"5"^^<{XSD}integer>', '"y"'} < objects
    assert len(objects) == 4
    assert len(formats.from_rdflib(rdflib.Graph()).codes) == 3


def test_parquet(tmp_path: Path) -> None:
    parquet.write_table(TABLE, tmp_path / "p.parquet", row_group_size=2)
    batches = list(formats.read(tmp_path / "p.parquet"))
    assert [row for batch in batches for row in batch.rows()] == formats.from_arrow("p", TABLE).rows()
    assert {batch.predicate for batch in batches} == {"p"}
    chosen = formats.read(tmp_path / "p.parquet", parameters={"format": ("any", *["skip"] * 5)})
    assert [row for batch in chosen for row in batch.rows()] == [("<ann>",), ("<bob>",), ("<ann>",)]
    with pytest.raises(InputError, match="expected 1 columns, found 6: name, age, weight, member, kind, raw"):
        list(formats.read(tmp_path / "p.parquet", parameters={"format": "any"}))


def test_parquet_columns_of_terms_are_checked(tmp_path: Path) -> None:
    formats.write(tmp_path / "a.parquet", "p", formats.blocks_of([(Term('"042"^^<t>'), Term("_:b"))]))
    assert [b.rows() for b in formats.read(tmp_path / "a.parquet")] == [[('"042"^^<t>', "_:b")]]
    formats.write(tmp_path / "b.parquet", "p", formats.blocks_of([(Term("nonsense"),)]))
    with pytest.raises(InputError, match="'nonsense' is not a term"):
        list(formats.read(tmp_path / "b.parquet"))
