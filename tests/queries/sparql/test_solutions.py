"""Answers in every format: what is written is read back by others as the same terms."""

from __future__ import annotations

import csv
import io
import json

import pyoxigraph as ox
import pytest
import rdflib

import tidelog
from tests.queries.sparql.bags import Row, same
from tests.queries.sparql.expected import Rows, read_results, term
from tidelog.errors import UsageError
from tidelog.formats.results import WRITERS
from tidelog.model.terms import DECIMAL, DOUBLE, INTEGER, TRIPLE, Fact, Term, iri, literal, string, to_term
from tidelog.queries.sparql import Solutions
from tidelog.queries.sparql.solutions import GRAPH_FORMATS, text_of

TRICKY = [
    "",
    " a ",
    "a,b",
    'say "hi"',
    "tab\there",
    "two\nlines",
    "a\\nb",
    "<&>'",
    "ünï😀",
    "]]>",
    "_:b",
    "<x>",
    "a\r\nb",
]
TERMS = [
    *(string(text) for text in TRICKY),
    *(literal(text, language="en-gb") for text in TRICKY),
    *(literal(text, "http://example.org/a&b") for text in TRICKY),
    *(literal("1", INTEGER), literal("01", INTEGER), literal("-1.50", DECIMAL), literal("1e3", DOUBLE)),
    *(literal("NaN", DOUBLE), literal("INF", DOUBLE), literal("x", INTEGER)),
    *(iri("http://example.org/a?b=c&d=e"), Term("_:b0")),
]
NAMES = ("s", "o", "none")


@pytest.fixture(scope="module")
def kb() -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    kb.apply(
        add=[
            Fact(TRIPLE, (iri(f"http://example.org/{i}"), iri("http://example.org/p"), t)) for i, t in enumerate(TERMS)
        ]
    )
    return kb


@pytest.fixture(scope="module")
def solutions(kb: tidelog.KnowledgeBase) -> Solutions:
    found = kb.sparql("SELECT ?s ?o ?none { ?s ?p ?o }")
    assert isinstance(found, Solutions)
    return found


def expected() -> list[Row]:
    return [(iri(f"http://example.org/{i}"), t, None) for i, t in enumerate(TERMS)]


@pytest.mark.parametrize("format", ["tsv", "json"])  # its reader of XML drops blanks around texts
def test_pyoxigraph_reads_the_same_rows(solutions: Solutions, format: str) -> None:
    rows = read_results(text_of(solutions, format), format)
    assert isinstance(rows, Rows)
    assert rows.names == NAMES
    assert same(rows.rows, expected())


@pytest.mark.parametrize("format", ["json", "xml"])
def test_rdflib_reads_the_same_rows(solutions: Solutions, format: str) -> None:
    rows = rdflib.query.Result.parse(io.BytesIO(text_of(solutions, format).encode()), format=format)
    assert [str(v) for v in rows.vars or ()] == list(NAMES)
    read = [tuple(row.get(v) for v in rows.vars or ()) for row in rows.bindings]
    assert same([tuple(None if c is None else to_term(c) for c in row) for row in read], expected())


def test_csv_has_plain_values(solutions: Solutions) -> None:
    names, *rows = csv.reader(io.StringIO(text_of(solutions, "csv"), newline=""))
    assert tuple(names) == NAMES
    found = {row[0]: row[1:] for row in rows}
    for i, text in enumerate(TRICKY):
        assert found[f"http://example.org/{i}"] == [text, ""]
        assert found[f"http://example.org/{i + len(TRICKY)}"] == [text, ""]
    assert found[f"http://example.org/{len(TERMS) - 1}"] == ["_:b0", ""]


@pytest.mark.parametrize("answer", [True, False])
def test_truth_values(kb: tidelog.KnowledgeBase, answer: bool) -> None:
    found = kb.sparql("ASK { }" if answer else "ASK { FILTER(false) }")
    word = "true" if answer else "false"
    assert text_of(found, "csv") == text_of(found, "tsv") == f"{word}\n"
    assert json.loads(text_of(found, "json")) == {"head": {}, "boolean": answer}
    assert f"<boolean>{word}</boolean>" in text_of(found, "xml")
    assert read_results(text_of(found, "xml"), "xml") is answer


@pytest.mark.parametrize("format", WRITERS)
def test_no_rows_and_no_columns(kb: tidelog.KnowledgeBase, format: str) -> None:
    none = read_results(text_of(kb.sparql("SELECT ?x { ?x <no> ?y }"), format), format)
    assert none == Rows(("x",), [])


def test_rows_without_columns_are_counted(kb: tidelog.KnowledgeBase) -> None:
    rows = json.loads(text_of(kb.sparql("SELECT * { }"), "json"))
    assert rows == {"head": {"vars": []}, "results": {"bindings": [{}]}}


@pytest.mark.parametrize("format", GRAPH_FORMATS)
def test_graphs(format: str) -> None:
    with tidelog.open() as kb:
        kb.apply(add='[<http://example.org/a>, <http://example.org/p>, "x"@en] . [_:b, <http://example.org/p>, 1] .')
        text = text_of(kb.sparql("CONSTRUCT WHERE { ?s ?p ?o }"), format)
    reader = {"ttl": ox.RdfFormat.TURTLE, "nt": ox.RdfFormat.N_TRIPLES, "rdf": ox.RdfFormat.RDF_XML}
    found = ox.parse(text.encode(), reader.get(format, ox.RdfFormat.JSON_LD))
    rows = [(term(t.subject), term(t.predicate), term(t.object)) for t in found]
    predicate = iri("http://example.org/p")
    wanted: list[Row] = [(Term("_:b"), predicate, literal("1", INTEGER))]
    assert same(rows, [*wanted, (iri("http://example.org/a"), predicate, literal("x", language="en"))])


def test_a_wrong_format_is_named(kb: tidelog.KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="which is a graph; choose one of: ttl, nt, rdf, jsonld"):
        text_of(kb.sparql("DESCRIBE <x>"), "csv")
    with pytest.raises(UsageError, match="which is rows or a truth value; choose one of: csv, tsv, json, xml"):
        text_of(kb.sparql("ASK {}"), "ttl")


def test_tables(kb: tidelog.KnowledgeBase) -> None:
    found = kb.sparql(
        "SELECT ?n ?t ?u { VALUES (?n ?t) { (1 'a') (2 'b') (UNDEF <http://example.org/x>) } } ORDER BY ?n"
    )
    assert isinstance(found, Solutions)
    table = found.to_arrow()
    assert table.to_pydict() == {"n": [None, 1, 2], "t": ["http://example.org/x", "a", "b"], "u": [None] * 3}
    assert str(table.schema.field("n").type) == "int64"
    assert list(found.to_pandas().columns) == ["n", "t", "u"]
