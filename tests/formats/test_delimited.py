"""CSV and its kin: cells as Nemo reads and writes them, column formats, headers, limits."""

from __future__ import annotations

import csv
import logging
import re
from pathlib import Path

import pytest

from tidelog import formats
from tidelog.formats.delimited import cell, guess
from tidelog.model.terms import XSD, Term

HERE = Path(__file__).parent
INTEGER = f"<{XSD}integer>"
TYPES = {"<int>": INTEGER, "<decimal>": f"<{XSD}decimal>", "<double>": f"<{XSD}double>", "<boolean>": f"<{XSD}boolean>"}


def table() -> list[tuple[str, str]]:
    lines = (HERE / "cells.txt").read_text(encoding="utf-8").splitlines()
    rows = [re.split(r" {2,}", line) for line in lines if line and not line.startswith("#")]
    return [(_plain(text), _plain(term)) for text, term in rows]


def _plain(text: str) -> str:
    for short, full in TYPES.items():
        text = text.replace(short, full)
    return text.replace(r"\s", " ")


def read_rows(path: Path, **parameters: object) -> list[tuple[Term, ...]]:
    return [row for batch in formats.read(path, parameters=parameters) for row in batch.rows()]


@pytest.mark.parametrize(("text", "term"), table())
def test_cell(text: str, term: str) -> None:
    assert guess(text) == term


def test_bulk_and_single_cells_agree(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[str(i), text] for i, (text, _) in enumerate(table())])
    assert [row[1] for row in read_rows(path)] == [term for _, term in table()]


def test_written_cells_are_read_back(tmp_path: Path) -> None:
    rows = [(guess(text), Term('"x"')) for text, _ in table()]
    rows += [(Term('"tab\there \\n \\r \\\\ \\" ; é"'), Term('"1e-10"^^<http://e/t>'))]
    for name, parameters in (("a.csv", {}), ("a.tsv.gz", {}), ("a.dsv", {"delimiter": ";"})):
        assert formats.write(tmp_path / name, "p", formats.blocks_of(rows), parameters=parameters) == len(rows)
        assert read_rows(tmp_path / name, **parameters) == rows


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("<ann>", "ann"),
        ("<http://e/a>", "http://e/a"),
        ("_:b0", "_:b0"),
        (f'"5"^^{INTEGER}', "5"),
        ('"a b"', '"a b"'),
        ('"a\\nb"', '"a\\nb"'),
        ('"x"@en', '"x"@en'),
        (f'"1.5"^^<{XSD}decimal>', f'"1.5"^^<{XSD}decimal>'),
        (f'"1.0"^^<{XSD}double>', f'"1"^^<{XSD}double>'),
        (f'"-0.0"^^<{XSD}double>', f'"-0"^^<{XSD}double>'),
        (f'"1e+20"^^<{XSD}double>', f'"100000000000000000000"^^<{XSD}double>'),
        (f'"1e-10"^^<{XSD}double>', f'"0.0000000001"^^<{XSD}double>'),
        (f'"INF"^^<{XSD}double>', f'"INF"^^<{XSD}double>'),
        (f'"1.50"^^<{XSD}double>', f'"1.50"^^<{XSD}double>'),
        (f'"five"^^<{XSD}double>', f'"five"^^<{XSD}double>'),
    ],
)
def test_term_as_cell(term: str, text: str) -> None:
    assert cell(Term(term)) == text


def test_quoting_of_cells(tmp_path: Path) -> None:
    rows = [(Term("<a,b>"), Term('"c"')), (Term("<'x'>"), Term('""'))]
    formats.write(tmp_path / "p.csv", "p", formats.blocks_of(rows))
    assert (tmp_path / "p.csv").read_text() == '"a,b","""c"""\n\'x\',""""""\n'


def test_an_empty_cell_alone_is_quoted(tmp_path: Path) -> None:
    formats.write(
        tmp_path / "p.csv", "p", formats.blocks_of([(Term('""'),), (Term('"x"'),)]), parameters={"format": "string"}
    )
    assert (tmp_path / "p.csv").read_text() == '""\nx\n'


CELLS = "1,1,1,1\n007,007,007,007\n1.5,1.5,1.5,1.5\nann,ann,ann,ann\n,,,\n 5 , 5 , 5 , 5 \nINF,INF,INF,INF\n"


@pytest.mark.parametrize(
    ("format_", "expected"),
    [
        ("string", ['"1"', '"007"', '"1.5"', '"ann"', '""', '" 5 "', '"INF"']),
        ("int", [f'"1"^^{INTEGER}', f'"7"^^{INTEGER}']),
        ("double", [f'"{d}"^^<{XSD}double>' for d in ("1.0", "7.0", "1.5")]),
    ],
)
def test_column_format(format_: str, expected: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "p.csv").write_text(CELLS)
    with caplog.at_level(logging.WARNING, "tidelog.formats"):
        assert [r[0] for r in read_rows(tmp_path / "p.csv", format=("skip", "skip", format_, "skip"))] == expected
    left_out = 7 - len(expected)
    assert [r.getMessage().partition(": ")[2] for r in caplog.records] == (
        [f"{left_out} rows do not fit the column formats and were left out"] if left_out else []
    )


def test_export_leaves_out_what_does_not_fit(tmp_path: Path) -> None:
    rows = [(Term('"x"'), Term(f'"1"^^{INTEGER}')), (Term("<a>"), Term(f'"1"^^{INTEGER}')), (Term('"y"'), Term('"2"'))]
    parameters = {"format": ("string", "int")}
    assert formats.write(tmp_path / "p.csv", "p", formats.blocks_of(rows), parameters=parameters) == 1
    assert (tmp_path / "p.csv").read_text() == "x,1\n"


def test_parameters(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("name|age\nann|1\n\nbob|2\ncid|3\n")
    terms = {
        "delimiter": Term('"|"'),
        "ignore_headers": Term("<true>"),
        "limit": 2,
        "format": (Term("<any>"), Term("<skip>")),
    }
    assert read_rows(tmp_path / "p.csv", **terms) == [("<ann>",), ("<bob>",)]
    assert len(read_rows(tmp_path / "p.csv", delimiter="|", limit=0)) == 0


def test_without_quoting(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text('"a\tb"\n')
    assert read_rows(tmp_path / "p.tsv", quoting=False, format=("string", "string")) == [('"\\"a"', '"b\\""')]


@pytest.mark.parametrize("text", ["", "\n", "\n\n"])
def test_empty_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text)
    assert read_rows(tmp_path / "p.csv") == []


def test_the_predicate_is_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "parent.csv").write_text("ann,bob\n")
    assert [b.predicate for b in formats.read(tmp_path / "parent.csv")] == ["parent"]


def test_as_nemo_reads_and_writes(tmp_path: Path) -> None:
    """Nemo itself, on every cell of the table but those where we differ on purpose."""
    nemo = pytest.importorskip("nmo_python")
    differs = {'"with "quote"', "<not an iri>", '"open'}
    cells = [text for text, _ in table() if text not in differs]
    with (tmp_path / "p.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[f"n{i}", text] for i, text in enumerate(cells)])
    program = f'@import p :- csv{{resource="{tmp_path}/p.csv"}} . q(?x, ?y) :- p(?x, ?y) . @export q :- csv{{}} .'
    engine = nemo.NemoEngine(nemo.load_string(program))
    engine.reason()
    engine.write_result("q", nemo.NemoOutputManager(str(tmp_path), overwrite=True))
    formats.write(tmp_path / "ours.csv", "q", formats.blocks_of(read_rows(tmp_path / "p.csv")))
    theirs, ours = ((tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("q.csv", "ours.csv"))
    assert sorted(ours) == sorted(theirs)
