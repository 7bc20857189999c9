"""Tables as people have them: headers, other delimiters, dates, partitions in folders, and notes about what is odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import tidelog
from tidelog import formats
from tidelog.errors import InputError, TidelogError, UsageError
from tidelog.formats.delimited import guess, typed
from tidelog.model.terms import XSD

PEOPLE = "name;born\nann;1984-02-29\nbob;2001-12-31\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def rows(kb: tidelog.KnowledgeBase, relation: str) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row)) for row in kb.facts(relation))


def test_header_delimiter_and_types(tmp_path: Path) -> None:
    path = write(tmp_path / "people.csv", PEOPLE)
    with tidelog.open(tmp_path / "x.kb") as kb:
        assert kb.load(path, header=True, delimiter=";", types=True).notes == ()
    with tidelog.open(tmp_path / "x.kb") as kb:
        assert kb.columns == {"people": ["name", "born"]}
        born = tidelog.Literal("1984-02-29", f"{XSD}date")
        assert list(kb.query("people(ann, ?day)")) == [(born,)]
        assert rows(kb, "people") == [("ann", "1984-02-29"), ("bob", "2001-12-31")]
        assert kb.facts("people").to_arrow().column_names == ["name", "born"]
        assert list(kb.facts("people").to_pandas().columns) == ["name", "born"]
        kb.export(tmp_path / "out.csv", header=True)
        assert (tmp_path / "out.csv").read_text().splitlines()[0] == "name,born"
        kb.export(tmp_path / "out.parquet")
        kb.export(tmp_path / "plain.csv")
        assert (tmp_path / "plain.csv").read_text().splitlines()[0].startswith("ann,")
    with tidelog.open() as kb:
        kb.load(tmp_path / "out.parquet", relation="people")
        assert kb.columns == {"people": ["name", "born"]}
        kb.load(tmp_path / "out.csv", relation="again", header=True)
        assert kb.columns["again"] == ["name", "born"]


def test_a_format_for_a_file_without_ending(tmp_path: Path) -> None:
    path = write(tmp_path / "data.txt", "a|b\n")
    with tidelog.open() as kb:
        kb.load(path, delimiter="|")
        kb.load(path, delimiter="|", format="csv", relation="other")
        assert rows(kb, "data") == rows(kb, "other") == [("a", "b")]
        kb.load(write(tmp_path / "t.dl", "a\tb\n"), format="tsv")
        kb.load(write(tmp_path / "t2.txt", "a\tb\n"), delimiter="\\t")
        assert rows(kb, "t") == rows(kb, "t2") == [("a", "b")]
        kb.load(write(tmp_path / "x.txt", "<a> <b> <c> ."), format="turtle")
        assert rows(kb, "triple") == [("a", "b", "c")]
        with pytest.raises(UsageError, match="unknown format 'word'; known are"):
            kb.load(path, format="word")
        with pytest.raises(UsageError, match="load does not know headers; files are read by: format, header"):
            kb.load(path, headers=True)  # type: ignore[call-arg]


TYPED = {
    "date": ["2024-02-29", "2024-02-29Z", " 2024-01-01 ", "-0044-03-15", "2000-02-29"],
    "dateTime": ["2024-02-29T12:30:00", "2024-02-29 12:30:00.5", "2024-02-29T12:30:00+02:00"],
    "time": ["12:30:00", "23:59:59.9Z"],
    "boolean": ["true", "FALSE"],
    "double": ["1e3", "-.5E-3", "NaN", "-INF"],
    "": [
        *("2023-02-29", "2024-13-01", "1900-02-29", "2024-1-1", "2024-02-30T12:30:00", "2024-02-29T24:30:00"),
        *("12:60:00", "12:30", "42", "1.50", "ann", "a b", "truer"),
    ],
}


@pytest.mark.parametrize(("cell", "kind"), [(cell, kind) for kind, cells in TYPED.items() for cell in cells])
def test_types_of_cells(cell: str, kind: str, tmp_path: Path) -> None:
    term = typed(cell)
    if not kind:
        assert term == guess(cell)
    else:
        assert term.endswith(f"^^<{XSD}{kind}>")
    path = write(tmp_path / "p.csv", f"{cell},x\n")
    assert [b.rows()[0][0] for b in formats.read(path, parameters={"types": True})] == [term]
    assert [b.rows()[0][0] for b in formats.read(path)] == [guess(cell)]


def test_names_of_tables_in_memory() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"who": ["ann"], "age": [42]})
    with tidelog.open() as kb:
        kb.apply(add={"a": frame, "b": pa.table({"x": ["ann"]}), "c": [("ann", 1)], "d": pandas.DataFrame([[1, 2]])})
        assert kb.columns == {"a": ["who", "age"], "b": ["x"]}
        assert kb.facts("c").names == ("arg1", "arg2")
        kb.load(pandas.DataFrame({"subject": ["s"], "predicate": ["p"], "object": ["o"]}))
        assert "triple" not in kb.columns
        pandas.testing.assert_frame_equal(kb.facts("a").to_pandas(), frame)
        change = kb.apply(add={"a": frame.rename(columns={"who": "name"})})
        assert change.notes == (
            "a: its columns stay who, age; this data calls them name, age",
            "a(ann, 42) is explicit already",
        )


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        (
            "p.csv",
            "name,age\nann,42\n",
            "the first row (name, age) looks like a header, and it is a fact; header=True leaves it out",
        ),
        ("p.csv", "a;b\nc;d\n", "its rows have one column with ';' inside; separate them with delimiter=';'"),
        ("p.csv", "a\tb\n", "its rows have one column with '\\t' inside; separate them with delimiter='\\t'"),
        ("p.tsv", "a,b\nc,d", "its rows have one column with ',' inside; separate them with delimiter=','"),
        ("p.csv", "ann,42\nbob,7\n", ""),
        ("p.csv", "ann,bob\ncid,dan\n", ""),
        ("p.csv", "a,a\n1,2\n", ""),
        ("p.csv", "one line; with a semicolon\nand none\n", ""),
        ("p.csv", "", ""),
        ("p.csv", "name,age\n", ""),
    ],
)
def test_notes(name: str, text: str, note: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    with tidelog.open() as kb:
        assert kb.load(path).notes == ((f"{path}: {note}",) if note else ())


def test_partitions_are_columns(tmp_path: Path) -> None:
    for year, month, amount in ((2023, "12", 1), (2024, "01", 2), (2024, "02", 3)):
        folder = tmp_path / "sales" / f"year={year}" / f"month={month}"
        write(folder / "part-0.csv", f"shop,amount\nann,{amount}\n")
        (tmp_path / "bulk.parquet" / f"day=a%20b{month}").mkdir(parents=True)
        table = pa.table({"shop": ["ann"], "amount": [amount]})
        parquet.write_table(table, tmp_path / "bulk.parquet" / f"day=a%20b{month}" / "part-0.parquet")
    with tidelog.open() as kb:
        kb.load(tmp_path / "sales", header=True)
        kb.load(tmp_path / "bulk.parquet")
        kb.load(tmp_path / "sales", header=True, relation="sold")
        kb.load(tmp_path / "sales")
        assert ("ann", 3, 2024, 2) in set(kb.facts("sales"))
        assert kb.columns == {
            "sales": ["shop", "amount", "year", "month"],
            "sold": ["shop", "amount", "year", "month"],
            "bulk": ["shop", "amount", "day"],
        }
        assert sorted(map(str, (row[2] for row in kb.facts("bulk")))) == ["a b01", "a b02", "a b12"]
        assert len(kb.facts("sold")) == 3
        assert len(kb.facts("sales")) == 6


def test_partitions_of_other_files(tmp_path: Path) -> None:
    write(tmp_path / "g" / "year=2024" / "a.nt", "<a> <b> <c> .\n")
    write(tmp_path / "edge" / "k=v" / "part.csv", "a,b\n")
    with tidelog.open() as kb:
        kb.load(tmp_path / "g", tmp_path / "edge")
        assert rows(kb, "triple") == [("a", "b", "c")]
        assert rows(kb, "edge") == [("a", "b", "v")]
        assert kb.columns == {"edge": ["arg1", "arg2", "k"]}
    write(tmp_path / "edge" / "k=__HIVE_DEFAULT_PARTITION__" / "part.csv", "a,b\n")
    with tidelog.open() as kb, pytest.raises(InputError, match="the column k has no value here; leave this folder out"):
        kb.load(tmp_path / "edge")


ODD: list[tuple[str, bytes, list[tuple[Any, ...]] | str]] = [
    ("a.csv", b"a,b\r\nc,d\r\n", [("a", "b"), ("c", "d")]),
    ("a.csv", b"a,b,\nc,d,\n", [("a", "b", ""), ("c", "d", "")]),
    ("a.csv", b"", []),
    ("a.nt", b"", []),
    ("a.ttl", b"", []),
    ("a.csv.gz", b"PK\x03\x04abc", "a.csv.gz: this is a zip archive; unpack it and load the files in it"),
    ("a.csv", b"PK\x03\x04\x14\0", "a.csv: this is a zip archive; unpack it and load the files in it"),
    (
        "a.nt.gz",
        b"\x1f\x8b\x08\0\0\0",
        "a.nt.gz: not a complete gzip file: Compressed file ended before the end-of-stream marker was reached",
    ),
    ("a.rdf", b"", "a.rdf:1:1: no element found"),
    ("a.parquet", b"", "a.parquet: not a readable Parquet file: Parquet file size is 0 bytes"),
]


@pytest.mark.parametrize(("name", "content", "expected"), ODD)
def test_odd_files(name: str, content: bytes, expected: list[tuple[Any, ...]] | str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with tidelog.open() as kb:
        if isinstance(expected, list):
            kb.load(tmp_path / name)
            assert sorted(kb.facts("a")) == expected
            return
        with pytest.raises(TidelogError) as caught:
            kb.load(tmp_path / name)
    message = str(caught.value).replace(f"{tmp_path}/", "").partition("\n")[0]
    assert message == expected or message.startswith(expected.removesuffix("..."))
