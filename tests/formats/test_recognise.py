"""Files with a byte order mark, with another content than their name says, and with odd names."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import tidelog
from tidelog import formats
from tidelog.errors import InputError
from tidelog.formats.files import file_name, relation_of_file

TURTLE = "@prefix e: <http://e/> .\ne:a e:b e:c .\n"
XML = (
    '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e/">'
    '<r:Description r:about="http://e/a"><b r:resource="http://e/c"/></r:Description></r:RDF>'
)
JSON = '{"@id": "http://e/a", "http://e/b": {"@id": "http://e/c"}}'
SPOC = [("triple", "<http://e/a>", "<http://e/b>", "<http://e/c>")]
LINE = "<http://e/a> <http://e/b> <http://e/c> .\n"


def facts(*sources: Path, **options: str) -> list[tuple[str, ...]]:
    with tidelog.open() as kb:
        kb.load(*sources, **options)  # type: ignore[arg-type]
        return sorted((fact.predicate, *fact.args) for fact in kb._state.E)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.ttl", TURTLE, SPOC),
        ("a.turtle", TURTLE, SPOC),
        ("a.trig", TURTLE, SPOC),
        ("a.nt", LINE, SPOC),
        ("a.nq", LINE, SPOC),
        ("a.n3", TURTLE, SPOC),
        ("a.n3.gz", TURTLE, SPOC),
        ("a.rdf", XML, SPOC),
        ("a.jsonld", JSON, SPOC),
        ("p.csv", "a,b\n", [("p", "<a>", "<b>")]),
        ("p.facts", 'a\t"b\n', [("p", "<a>", '"\\"b"')]),
        ("p.rls", "p(a, b) .", [("p", "<a>", "<b>")]),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_is_ignored(
    name: str, content: str, expected: list[tuple[str, ...]], mark: str, tmp_path: Path
) -> None:
    text = (mark + content).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert facts(tmp_path / name) == expected


@pytest.mark.parametrize("name", ["a.ttl", "a.csv", "a.tsv", "a.trig", "a.jsonld"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused(name: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(("\ufeff" + TURTLE).encode(encoding))
    with pytest.raises(InputError, match=r"is UTF-16 text; convert the file to UTF-8$"):
        facts(tmp_path / name)


SAME = [
    TURTLE,
    "# a comment\n\n" + TURTLE,
    "PREFIX e: <http://e/>\ne:a e:b e:c .",
    "@base <http://e/> . <a> <b> <c> .",
    LINE,
    XML,
    f'<?xml version="1.0"?>\n<!-- x -->\n{XML}',
    f'<!DOCTYPE r:RDF [<!ENTITY a "b">]>{XML}',
    JSON,
    f" [ {JSON} ]",
]


@pytest.mark.parametrize("content", SAME)
@pytest.mark.parametrize("name", ["a.owl", "a.rdf", "a.xml", "a.ttl", "a.jsonld"])
def test_rdf_is_recognised_by_its_content(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert facts(tmp_path / name) == SPOC
    assert tidelog.ontology(tmp_path / name).facts


@pytest.mark.parametrize("content", ["", "\n# nothing\n"])
def test_an_empty_ontology(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(content)
    assert facts(tmp_path / "a.ttl") == []


@pytest.mark.parametrize(
    ("content", "language"),
    [
        ("Prefix(:=<http://e/>)\nOntology(<http://e/o>)", "OWL in functional syntax"),
        ("# x\nOntology(<http://e/o>)", "OWL in functional syntax"),
        ("Prefix: : <http://e/>\nOntology: <http://e/o>", "OWL in Manchester syntax"),
        ("format-version: 1.2\n[Term]\nid: X:1", "an ontology in OBO format"),
        ('<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML"),
        ("<!DOCTYPE html>\n<html lang='en'><body/></html>", "a web page"),
    ],
)
@pytest.mark.parametrize("name", ["a.owl", "a.ttl"])
def test_other_languages_are_named(name: str, content: str, language: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    for read in (facts, tidelog.ontology):
        with pytest.raises(InputError) as caught:
            read(tmp_path / name)
        expected = f"{tmp_path / name}: this is {language}, which is not read; convert it to RDF/XML or Turtle"
        assert str(caught.value) == expected


NAMES = [
    ("parent.csv", "parent"),
    ("a.b.csv.gz", "a.b"),
    ("full-time.tsv", "full-time"),
    ("my file.csv", "my_file"),
    ("Sales (2024).csv", "Sales_2024"),
    ("2024 sales.csv", "_2024_sales"),
    (" .csv", "_file"),
    ("(1).csv", "_1"),
    ("été ça.csv", "été_ça"),
    ("http%3A%2F%2Fe%2Fp.csv", "http://e/p"),
    ("a%20b.csv", "a b"),
    ("100%.csv", "100%"),
    ("-.csv", "-"),
]


@pytest.mark.parametrize(("name", "relation"), NAMES)
def test_the_relation_of_a_file(name: str, relation: str, tmp_path: Path) -> None:
    assert relation_of_file(Path(name)) == relation
    (tmp_path / name).write_bytes(b"")
    assert formats.read(tmp_path / name).options.predicate == relation


@pytest.mark.parametrize("relation", ["p", "a b", "a\tb", "100%", "a%20b", "é", "{a}", "http://e/ü", "..", "a|b"])
def test_the_relation_of_an_export(relation: str) -> None:
    assert relation_of_file(Path(f"{file_name(relation)}.csv")) == relation


def test_a_relation_with_an_odd_name_can_be_queried(tmp_path: Path) -> None:
    (tmp_path / "Sales (2024).csv").write_text("ann,7")
    with tidelog.open() as kb:
        change = kb.load(tmp_path / "Sales (2024).csv")
        name = "the relation is called Sales_2024; relation=… (--relation) gives another name"
        assert change.notes == (f"{tmp_path / 'Sales (2024).csv'}: {name}",)
        assert list(kb.query("Sales_2024(?who, ?n)")) == [("ann", 7)]
        assert kb.load(tmp_path / "Sales (2024).csv", relation="sale").notes == ()
        assert list(kb.query("sale(?who, ?n)")) == [("ann", 7)]
