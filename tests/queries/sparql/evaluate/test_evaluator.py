"""What queries mean: the cases of `queries.txt`, forms other than SELECT, and what a query may not leave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import rdflib

import tidelog
from tidelog.errors import UsageError
from tidelog.model.terms import BlankNode, to_term
from tidelog.queries.sparql import Solutions
from tidelog.queries.sparql.evaluate.expressions import SIMPLE

GRAPH = """
    [ann, age, 42] . [bob, age, 7] . [cid, age, 8] . [cid, name, "Cid"] .
    [cid, knows, bob] . [bob, knows, ann] . [ann, knows, dan] . [dan, knows, ann] . [_:b, part, inner] .
"""
TEXT = (Path(__file__).parent / "queries.txt").read_text(encoding="utf-8")
CASES = [re.split(r"\n(?:-->\n)?", case.rstrip("\n")) for case in re.split(r"^== ", TEXT, flags=re.MULTILINE)[1:]]


@pytest.fixture(scope="module")
def kb() -> Iterator[tidelog.KnowledgeBase]:
    with tidelog.open() as kb:
        kb.apply(add=GRAPH)
        yield kb


def rows(kb: tidelog.KnowledgeBase, query: str, kind: str = "all") -> list[tuple[object, ...]]:
    found = kb.sparql(query, kind)  # type: ignore[arg-type]
    assert isinstance(found, Solutions)
    return list(found)


def cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value is None else "_" if isinstance(value, BlankNode) else str(value)


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_query(kb: tidelog.KnowledgeBase, case: list[str]) -> None:
    name, query, *expected = case
    found = [" | ".join(map(cell, row)).rstrip() for row in rows(kb, query)]
    if expected == ["-->"]:  # nothing follows it
        expected = []
    assert found == expected if name.endswith("...") else sorted(found) == sorted(expected)


def test_ask(kb: tidelog.KnowledgeBase) -> None:
    assert kb.sparql("ASK { ?x <age> 42 }") is True
    assert kb.sparql("ASK { ?x <age> 43 }") is False


def test_construct_makes_new_blank_nodes_for_each_solution(kb: tidelog.KnowledgeBase) -> None:
    graph = kb.sparql('CONSTRUCT { _:p <of> ?x . _:p <age> ?a . "no" <is> ?x . ?x ?nobody 1 } { ?x <age> ?a }')
    assert isinstance(graph, rdflib.Graph)
    assert len(graph) == 6
    assert len(set(graph.subjects())) == 3
    assert {str(o) for o in graph.objects(None, rdflib.URIRef("of"))} == {"ann", "bob", "cid"}


def test_construct_where(kb: tidelog.KnowledgeBase) -> None:
    graph = kb.sparql("CONSTRUCT WHERE { ?x <name> ?n }")
    assert isinstance(graph, rdflib.Graph)
    assert [tuple(map(to_term, triple)) for triple in graph] == [("<cid>", "<name>", '"Cid"')]


def test_describe_follows_blank_nodes() -> None:
    with tidelog.open() as kb:
        kb.apply(add="[x, has, _:a] . [_:a, has, _:b] . [_:b, has, _:a] . [_:b, is, y] . [y, is, z] . [_:c, is, x] .")
        graph = kb.sparql("DESCRIBE <x>")
        assert isinstance(graph, rdflib.Graph)
        assert sorted(str(o) for o in graph.objects() if isinstance(o, rdflib.URIRef)) == ["y"]
        assert len(graph) == 4
        found = kb.sparql("DESCRIBE ?w { ?w <is> <z> }")
        assert isinstance(found, rdflib.Graph)
        assert len(found) == 1


def test_names_and_texts(kb: tidelog.KnowledgeBase) -> None:
    found = kb.sparql('SELECT ?x (STRLEN(?n) AS ?l) ?no { ?x <name> ?n BIND ("new" AS ?y) }')
    assert isinstance(found, Solutions)
    assert found.names == ("x", "l", "no")
    ((x, length, no),) = zip(*(column.to_pylist() for column in next(found.term_blocks())), strict=True)
    assert (x, length, no) == (b"<cid>", b'"3"^^<http://www.w3.org/2001/XMLSchema#integer>', None)
    assert found.to_arrow().to_pydict() == {"x": ["cid"], "l": [3], "no": [None]}


def test_a_query_adds_nothing_to_the_dictionary(kb: tidelog.KnowledgeBase) -> None:
    before = len(kb._engine.dictionary)
    rows(kb, 'SELECT * { VALUES ?v { "new" } ?x <newer> ?y BIND (CONCAT(?v, "est") AS ?z) }')
    rows(kb, 'SELECT (CONCAT("n", "ew") AS ?z) (COUNT(*) AS ?n) { ?x <knows> ?y FILTER (?y != <newest>) }')
    assert len(kb._engine.dictionary) == before


def test_a_term_that_was_unknown_is_found_once_there_is_a_fact() -> None:
    with tidelog.open() as kb:
        query = "SELECT ?x { ?x <likes> <tea> }"
        assert rows(kb, query) == []
        kb.apply(add="[ann, likes, tea] .")
        assert rows(kb, query) == [("ann",)]


def test_kinds() -> None:
    with tidelog.open() as kb:
        kb.apply(add="[ann, knows, bob] .", add_rules="[?y, knows, ?x] :- [?x, knows, ?y] .")
        query = "SELECT ?x { ?x <knows> ?y }"
        assert sorted(rows(kb, query)) == [("ann",), ("bob",)]
        assert rows(kb, query, "explicit") == [("ann",)]
        assert rows(kb, query, "derived") == [("bob",)]


def test_equal_names_are_all_seen() -> None:
    with tidelog.open(equality="rewriting") as kb:
        kb.apply(add="[ann, knows, bob] . [ann, <http://www.w3.org/2002/07/owl#sameAs>, anna] .")
        assert sorted(rows(kb, "SELECT ?x { ?x <knows> ?y }")) == [("ann",), ("anna",)]
        kb.apply(add="[bob, knows, cid] .")
        assert sorted(rows(kb, "SELECT ?x { ?x <knows> <cid> }")) == [("bob",)]


def test_prefixes_of_the_knowledge_base_are_known() -> None:
    with tidelog.open() as kb:
        kb.apply(add="@prefix e: <http://e.org/> . [e:a, e:p, e:b] .")
        assert rows(kb, "SELECT ?x { ?x e:p e:b }") == [("http://e.org/a",)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM <http://e.org/g> { ?x ?p ?y }",
        "SELECT * FROM NAMED <http://e.org/g> { ?x ?p ?y }",
        "SELECT * { SERVICE <http://e.org/sparql> { ?x ?p ?y } }",
        "ASK { SERVICE SILENT ?s { ?x ?p ?y } }",
    ],
)
def test_the_outside_is_refused(kb: tidelog.KnowledgeBase, query: str) -> None:
    with pytest.raises(UsageError, match=r"(FROM|SERVICE) is refused"):
        kb.sparql(query)


def test_every_built_in_has_an_implementation() -> None:
    from tidelog.queries.limits import QueryBudget
    from tidelog.queries.sparql.evaluate.expressions import Functions
    from tidelog.queries.sparql.syntax.pattern_grammar import BUILT_INS
    from tidelog.settings import Limits

    with tidelog.open() as kb:
        own = Functions(QueryBudget.start(kb._engine.budget, Limits()))._own
    known = {*SIMPLE, *own, "IF", "URI", "ISURI"}
    assert BUILT_INS.keys() <= known
