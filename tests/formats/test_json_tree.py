"""JSON documents as relations of three columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.errors import InputError
from tidelog.formats import read
from tidelog.formats.json_tree import read_json
from tidelog.model.terms import plain


def rows(tmp_path: Path, text: str) -> set[tuple[str, ...]]:
    path = tmp_path / "doc.json"
    path.write_text(text, encoding="utf-8")
    return {tuple(map(plain, row)) for batch in read(path) for row in batch.rows()}


def test_a_document(tmp_path: Path) -> None:
    assert rows(tmp_path, '{"name": "Ann", "ages": [7, null]}') == {
        ("0", "type", "object"), ("0", "name", "1"), ("1", "type", "string"), ("1", "value", "Ann"), ("0", "ages", "2"),
        ("2", "type", "array"), ("2", "0", "3"), ("3", "type", "number"), ("3", "value", "7"), ("2", "1", "4"),
        ("4", "type", "null"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"), [("true", "true"), ("1.5", "1.5"), ('"a"', "a"), ("12345678901234567890", "")]
)
def test_a_single_value(text: str, value: str, tmp_path: Path) -> None:
    assert ("0", "value", value or text) in rows(tmp_path, text)


def test_a_byte_order_mark_and_compression(tmp_path: Path) -> None:
    assert rows(tmp_path, "\ufeff[]") == {("0", "type", "array")}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a": 1,\n "b" 2}', "FILE:2:6: not JSON: Expecting ':' delimiter"),
        ("", "FILE:1:1: not JSON: Expecting value"),
        ("[NaN]", "FILE: not JSON: NaN is no JSON number"),
        ("[" * 100_000, "FILE: not JSON: maximum recursion depth"),
    ],
)
def test_what_is_no_json(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_json(path, "doc")
    assert str(caught.value).startswith(error.replace("FILE", str(path)))
