"""`tidelog load -` reads standard input."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import tidelog as library
from tests.project.test_cli import Command


def test_standard_input(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "name,age\nann,42\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert tidelog("init", "a.kb").code == 0
    loaded = tidelog("load", "a.kb", "-", "--format", "csv", "--header", "--relation", "person", "--show", "1")
    assert loaded.out.startswith("+ person(ann, 42) .\n")
    assert not loaded.err
    with library.open(Path("a.kb"), read_only=True) as kb:
        assert kb.columns == {"person": ["name", "age"]}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<a> <b> c .")))
    wrong = tidelog("load", "a.kb", "-", "--format", "ntriples")
    assert wrong.code == 1
    assert "stdin:1:9: expected an object" in wrong.err
