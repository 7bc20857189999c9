"""What a W3C test expects, read from its files, and what came out, written in the same format and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox
import rdflib

from tests.queries.sparql.bags import Cell, Row, same
from tidelog.model.terms import STRING, TRIPLE, TRUE, Fact, Term, integer, literal, plain, to_term
from tidelog.queries.sparql import Solutions
from tidelog.queries.sparql.solutions import text_of

FORMATS = {".srx": "xml", ".srj": "json", ".tsv": "tsv", ".csv": "csv"}
_RESULT = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_PARSED = {"xml": ox.QueryResultsFormat.XML, "json": ox.QueryResultsFormat.JSON, "tsv": ox.QueryResultsFormat.TSV}


@dataclass(frozen=True)
class Rows:
    """Rows of terms, or of plain texts where the format is CSV, by the names of their columns."""

    names: tuple[str, ...]
    rows: list[Row]

    def in_order_of(self, names: Iterable[str]) -> list[Row]:
        places = [self.names.index(name) for name in names]
        return [tuple(row[i] for i in places) for row in self.rows]


def read_results(text: str, format: str) -> Rows | bool:
    if format == "csv":
        return _read_csv(text)
    found = ox.parse_query_results(text, format=_PARSED[format])
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    assert isinstance(found, ox.QuerySolutions)
    names = tuple(v.value for v in found.variables)
    return Rows(names, [tuple(None if t is None else term(t) for t in solution) for solution in found])


def _read_csv(text: str) -> Rows:
    """Plain texts; those that start like a blank node are taken for one, as the names of those are free."""
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    cells = [tuple(Term(c if c.startswith("_:") else f"={c}") for c in row) for row in rows]
    return Rows(tuple(names), list(cells))


def term(node: object) -> Term:
    """A node of pyoxigraph as a term."""
    if isinstance(node, ox.Literal):
        return literal(node.value, node.datatype.value or STRING, node.language or "")
    return Term(str(node))


def graph(path: Path, base: str) -> list[Row]:
    triples = ox.parse(path=str(path), base_iri=base)
    return [(term(t.subject), term(t.predicate), term(t.object)) for t in triples]


def facts(paths: Iterable[Path], base: str) -> Iterator[Fact]:
    """The triples of files as facts; blank nodes of different files stay different."""
    for i, path in enumerate(paths):
        for row in graph(path, base):
            yield Fact(TRIPLE, tuple(Term(f"{t}.{i}") if t and t[0] == "_" else Term(t or "") for t in row))


def agrees(found: Solutions | bool | rdflib.Graph, expected: Path, base: str, *, ordered: bool, lax: bool) -> bool:
    """Whether an answer is the expected one after a way through our writer of the format."""
    format = FORMATS.get(expected.suffix, "json")
    theirs = _expected(expected, base)
    if isinstance(found, rdflib.Graph) or isinstance(theirs, list):
        rows = [tuple(map(to_term, triple)) for triple in found] if isinstance(found, rdflib.Graph) else None
        return rows is not None and isinstance(theirs, list) and same(rows, theirs)
    ours = read_results(text_of(found, format), format)
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if set(ours.names) != set(theirs.names):
        return False
    left, right = ours.in_order_of(theirs.names), theirs.rows
    return same(set(left), set(right)) if lax else same(left, right, ordered=ordered)


def _expected(path: Path, base: str) -> Rows | bool | list[Row]:
    """Rows, a truth value, or a graph, which may stand for one of the others."""
    if path.suffix in FORMATS:
        return read_results(path.read_text(encoding="utf-8"), FORMATS[path.suffix])
    triples = graph(path, base)
    return _result_set(triples) if any(o == f"<{_RESULT}ResultSet>" for _, _, o in triples) else triples


def _result_set(triples: list[Row]) -> Rows | bool:
    """Rows, or a truth value, in the vocabulary that the first suites use."""
    said: dict[tuple[Cell, str], list[Term]] = {}
    for subject, predicate, object_ in triples:
        assert predicate
        assert object_
        said.setdefault((subject, predicate[1 + len(_RESULT) : -1]), []).append(object_)
    root = next(s for s, p, o in triples if o == f"<{_RESULT}ResultSet>")
    if answer := said.get((root, "boolean")):
        return answer[0] == TRUE
    solutions = said.get((root, "solution"), [])
    solutions.sort(key=lambda s: int(plain(said.get((s, "index"), [integer(0)])[0])))
    names = tuple(map(plain, said.get((root, "resultVariable"), [])))
    rows = [
        {plain(said[b, "variable"][0]): said[b, "value"][0] for b in said.get((s, "binding"), [])} for s in solutions
    ]
    return Rows(names, [tuple(map(row.get, names)) for row in rows])
