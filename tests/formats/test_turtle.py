"""Turtle is written for people, and every graph is read back exactly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import tidelog
from tidelog import formats
from tidelog.errors import InputError
from tidelog.formats import turtle
from tidelog.model.terms import RDF_TYPE, XSD, Term, literal

PREFIXES = {
    "ex": "http://e/",
    "obo": "http://o/GO_",
    "": "http://d#",
    "foaf": "http://mine/",
    "bad name": "http://bad/",
}
EXAMPLE = """\
@prefix : <http://d#> .
@prefix ex: <http://e/> .
@prefix foaf: <http://mine/> .
@prefix obo: <http://o/GO_> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .

<ann> <parent> <bob> .

ex:ann a ex:Person, skos:Concept ;
    :knows <http://e/a.>, <http://e/b/c>, ex:bob, <http://e/~x>, ex:é ;
    ex: obo:0008150 ;
    foaf:name <http://xmlns.com/foaf/0.1/name> .

_:b ex:age -1.50, "042"^^<http://t>, "1"^^ex:int, 1.0E0, 42, "a\\n\\"b\\""@en-gb, true .
"""
I, D, DBL, B = (f"^^<{XSD}{name}>" for name in ("integer", "decimal", "double", "boolean"))
TRIPLES = [
    ("<http://e/ann>", RDF_TYPE, "<http://www.w3.org/2004/02/skos/core#Concept>"),
    ("<ann>", "<parent>", "<bob>"),
    ("<http://e/ann>", "<http://d#knows>", "<http://e/bob>"),
    ("<http://e/ann>", "<http://d#knows>", "<http://e/é>"),
    ("<http://e/ann>", "<http://d#knows>", "<http://e/a.>"),
    ("<http://e/ann>", "<http://d#knows>", "<http://e/b/c>"),
    ("<http://e/ann>", "<http://d#knows>", "<http://e/~x>"),
    ("<http://e/ann>", "<http://mine/name>", "<http://xmlns.com/foaf/0.1/name>"),
    ("<http://e/ann>", "<http://e/>", "<http://o/GO_0008150>"),
    ("_:b", "<http://e/age>", f'"42"{I}'),
    ("_:b", "<http://e/age>", '"042"^^<http://t>'),
    ("_:b", "<http://e/age>", f'"-1.50"{D}'),
    ("_:b", "<http://e/age>", f'"1.0E0"{DBL}'),
    ("_:b", "<http://e/age>", f'"true"{B}'),
    ("_:b", "<http://e/age>", '"1"^^<http://e/int>'),
    ("_:b", "<http://e/age>", '"a\\n\\"b\\""@en-gb'),
    ("<http://e/ann>", RDF_TYPE, "<http://e/Person>"),
]


def written(rows: Sequence[tuple[str, ...]], prefixes: dict[str, str], path: Path) -> str:
    terms = [tuple(map(Term, row)) for row in rows]
    assert formats.write(path, "triple", formats.blocks_of(terms), prefixes=prefixes) == len(rows)
    return path.read_text(encoding="utf-8")


def test_the_layout(tmp_path: Path) -> None:
    text = written(TRIPLES, PREFIXES, tmp_path / "a.ttl")
    assert text == EXAMPLE


IRIS = [
    *(
        "http://e/a",
        "http://e/",
        "http://e/a-b",
        "http://e/-a",
        "http://e/.a",
        "http://e/a.b",
        "http://e/a.",
        "http://e",
    ),
    *(
        "http://e/1",
        "http://e/a:b",
        "http://e/%20",
        "http://e/a%2",
        "http://e/(x)",
        "http://e/a'b",
        "http://e/é",
        "urn:x:y",
    ),
    *(
        "http://o/GO_1",
        "http://o/GO_",
        "http://d#",
        "http://d#a#b",
        "http://e/\u00b7x",
        "http://e/x\u00b7",
        "http://e/ª",
    ),
    *(
        "rel",
        "a/b",
        "",
        "#x",
        "http://e/²",
        "http://e/x?q=1&r=2",
        "http://e/\U0001f600",
        "http://bad/x",
        "http://e/_",
        "a,b;c",
    ),
]
TEXTS = [
    "",
    "a",
    'q"u"o',
    "\\",
    "\n",
    "\r\n",
    "\t",
    "'",
    '"""',
    "é\U0001f600",
    "\\u0041",
    "<a>",
    "@en",
    "\x00\x01\x7f",
    "\ufeff",
]
TYPES = ["integer", "decimal", "double", "boolean", "float", "date", "string"]
NUMBERS = [
    "1",
    "+1",
    "-0",
    "007",
    "1.",
    ".5",
    "1.5",
    "-.5e3",
    "1e3",
    "1E-3",
    "1.0e0",
    "INF",
    "NaN",
    "true",
    "1 ",
    "",
    "0x1",
    "TRUE",
]


def random_rows(random: Random) -> list[tuple[str, ...]]:
    def iri() -> str:
        return f"<{random.choice(IRIS)}>"

    def anything() -> str:
        kind = random.randrange(5)
        if kind < 2:
            return iri() if kind else random.choice(["_:b", "_:1", "_:a.b", "_:x-"])
        if kind == 2:
            return literal(random.choice(NUMBERS), XSD + random.choice(TYPES))
        if kind == 3:
            return literal(random.choice(TEXTS), language=random.choice(["en", "en-gb", "x-1"]))
        return literal(random.choice(TEXTS), random.choice(["http://e/t", "http://t.", f"{XSD}string"]))

    subjects = [random.choice([iri(), "_:b", "_:c"]) for _ in range(5)]
    predicates = [iri() for _ in range(4)] + [RDF_TYPE]
    return list(
        {(random.choice(subjects), random.choice(predicates), anything()): 0 for _ in range(random.randrange(30))}
    )


def blanks_kept(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows without labels of blank nodes: files have their own."""
    return sorted(tuple("_:" if term[0] == "_" else term for term in row) for row in rows)


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_are_read_back(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    monkeypatch.setattr(turtle, "PAGE", random.choice([1, 3, 1000]))
    monkeypatch.setattr(formats.files, "_ROWS", random.choice([1, 2, 1000]))
    rows = sorted(random_rows(random))
    text = written(rows, random.choice([PREFIXES, {}]), tmp_path / "a.ttl")
    found = [row for batch in formats.read(tmp_path / "a.ttl") for row in batch.rows()]
    assert blanks_kept(found) == blanks_kept(rows), text


def test_pages_do_not_split_a_subject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turtle, "PAGE", 4)
    monkeypatch.setattr(formats.files, "_ROWS", 2)
    rows = [(f"<http://e/s{i}>", "<http://e/p>", f"<http://e/o{j}>") for i in range(10) for j in range(3)]
    text = written(rows, {"ex": "http://e/"}, tmp_path / "a.ttl")
    assert text.count("ex:s") == 10
    assert text.startswith("@prefix ex: <http://e/> .\n\nex:s0 ex:p ex:o0, ex:o1, ex:o2 .\n\nex:s1")
    assert len(rows) == sum(map(len, formats.read(tmp_path / "a.ttl")))


def test_named_graphs_are_refused(tmp_path: Path) -> None:
    rows = [tuple(map(Term, ("<g>", "<a>", "<b>", "<c>")))]
    with pytest.raises(InputError, match="q has named graphs, which turtle cannot hold; write trig or nquads"):
        formats.write(tmp_path / "a.ttl", "q", formats.blocks_of(rows))
    default = [tuple(map(Term, ("<tag:nemo:defaultgraph>", "<a>", "<b>", "<c>")))]
    assert formats.write(tmp_path / "a.ttl", "q", formats.blocks_of(default)) == 1


def test_an_export_uses_the_prefixes_of_the_knowledge_base(tmp_path: Path) -> None:
    with tidelog.open() as kb:
        kb.apply(add='@prefix ex: <http://e/> . [ex:ann, ex:knows, ex:bob] . [ex:ann, foaf:name, "Ann"] .')
        kb.export(tmp_path / "a.ttl")
    lines = (tmp_path / "a.ttl").read_text().splitlines()
    assert lines == [
        "@prefix ex: <http://e/> .",
        "@prefix foaf: <http://xmlns.com/foaf/0.1/> .",
        "",
        "ex:ann ex:knows ex:bob ;",
        '    foaf:name "Ann" .',
    ]
