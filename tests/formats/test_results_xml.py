"""Answers in XML are well formed whatever is in them, and say what kind of term each is."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import tidelog
from tidelog.cli import main

FACTS = 'p(ann, "a<b&c"@en) . p(_:b, "x\\u0001y\\n\\"") . p("2020-01-01"^^xsd:date, 3) .'
XML = "{http://www.w3.org/2005/sparql-results#}"


def answered(path: Path, query: str, capsys: pytest.CaptureFixture[str]) -> ElementTree.Element:
    assert main(["query", str(path), query, "--format", "xml"]) == 0
    return ElementTree.fromstring(capsys.readouterr().out)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with tidelog.open(tmp_path / "x.kb") as kb:
        kb.apply(add=FACTS)
    return tmp_path / "x.kb"


def test_terms(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = answered(path, "p(?x, ?y)", capsys)
    assert [v.get("name") for v in results.iter(f"{XML}variable")] == ["x", "y"]
    found = {
        tuple((b.get("name"), t.tag[len(XML) :], t.text) for b in r for t in b) for r in results.iter(f"{XML}result")
    }
    assert found == {
        (("x", "uri", "ann"), ("y", "literal", "a<b&c")),
        (("x", "bnode", "b"), ("y", "literal", 'x\\u0001y\n"')),
        (("x", "literal", "2020-01-01"), ("y", "literal", "3")),
    }
    kinds = {tuple(literal.attrib.values()) for literal in results.iter(f"{XML}literal")}
    schema = "http://www.w3.org/2001/XMLSchema#"
    assert kinds == {("en",), (), (f"{schema}date",), (f"{schema}integer",)}


@pytest.mark.parametrize(("query", "answer"), [("p(ann, _)", "true"), ("p(_, ann)", "false")])
def test_without_variables(path: Path, query: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answered(path, query, capsys).findtext(f"{XML}boolean") == answer
