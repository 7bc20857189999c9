"""The options of `tidelog run`: parameters, folders of imports and exports, standard input, bad lines."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.project.test_cli import Command

PROGRAM = """
@parameter $least = 2 .
@parameter $name .
@import n :- csv{resource="n.csv"} .
big(?x, $name) :- n(?x), ?x >= $least .
@export big :- csv{} .
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.rls"
    path.write_text(PROGRAM)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "n.csv").write_text("1\n2\n3\n")
    return path


def test_parameters_and_folders(program: Path, tmp_path: Path, tidelog: Command) -> None:
    folders = ("--import-dir", str(tmp_path / "data"), "--export-dir", str(tmp_path / "out"))
    ran = tidelog("run", str(program), "--param", "name=ann", "--param", "least=3", *folders)
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "out" / "big.csv").read_text() == "3,ann\n"
    ran = tidelog("run", str(program), "--param", 'name="Ann B"', "--overwrite", *folders)
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "out" / "big.csv").read_text() == '2,"""Ann B"""\n3,"""Ann B"""\n'


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (
            [],
            1,
            "parameter `$name` has no value; write `@parameter $name = … .`, or run the program with --param name=",
        ),
        (["--param", "name=a", "--param", "nam=b"], 2, "has no `@parameter $nam`; it declares: least, name"),
        (["--param", "name"], 2, "--param name: expected NAME=VALUE, such as --param limit=10"),
        (["--param", "name=Ann B"], 1, "--param name:1:5: expected the end of the term, found `B`"),
        (["--param", "name=?x"], 1, "--param name:1:1: a value cannot hold the variable ?x"),
    ],
)
def test_wrong_parameters(arguments: list[str], code: int, error: str, program: Path, tidelog: Command) -> None:
    ran = tidelog("run", str(program), *arguments)
    assert ran.code == code
    assert error in ran.err


def test_a_program_on_standard_input(tmp_path: Path, tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "n.csv").write_text("7\n")
    text = '@import n :- csv{resource="n.csv"} . m(?x + 1) :- n(?x) .'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ran = tidelog("run", "-", "--import-dir", str(tmp_path), "--query", "m(?x)")
    assert (ran.code, ran.out) == (0, "?x\n 8\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"p(a")))
    ran = tidelog("run", "-")
    assert (ran.code, ran.err.splitlines()[0]) == (
        1,
        "error: <stdin>:1:4: expected `,` or `)`, found the end of the text",
    )


def test_rows_without_enough_columns(tmp_path: Path, tidelog: Command) -> None:
    """Nemo leaves such rows out; here that is a choice."""
    (tmp_path / "n.csv").write_text("title\n23,42\n1337\n")
    path = tmp_path / "p.rls"
    path.write_text('@import n :- csv{resource="n.csv"} . m(?x, ?y) :- n(?x, ?y) .')
    ran = tidelog("run", str(path))
    assert (ran.code, ran.err) == (1, f"error: {tmp_path}/n.csv:1: expected 2 cells, found 1: 'title'\n")
    ran = tidelog("run", str(path), "--bad-lines", "skip", "--query", "m(?x, ?y)")
    assert (ran.code, ran.out) == (0, "?x  ?y\n23  42\n")
    assert "warning: 2 lines of the imported files could not be read and were skipped\n" in ran.err
