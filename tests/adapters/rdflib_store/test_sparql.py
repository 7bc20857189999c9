"""Queries and updates that the store answers itself, against rdflib's own on a copy; and those it leaves to rdflib."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdflib import RDF, Graph, Literal, Namespace, URIRef, Variable
from rdflib.compare import isomorphic
from rdflib.plugins.sparql import prepareQuery

import tidelog
from tidelog.adapters.rdflib_store import TidelogStore

EX = Namespace("http://example.org/")
FOLDER = Path(__file__).parent
DATA = """
@prefix ex: <http://example.org/> .
ex:ann a ex:Person ; ex:age 42 ; ex:name "Ann"@en ; ex:knows ex:bob ; ex:mail "ann@example.org" .
ex:bob a ex:Person ; ex:age 31 ; ex:name "Bob" ; ex:knows ex:cid .
ex:cid a ex:Person, ex:Child ; ex:age 7 .
"""
RULES = "@prefix ex: <http://example.org/> . [?y, ex:knows, ?x] :- [?x, ex:knows, ?y], [?y, rdf:type, ex:Child] ."


def lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture
def graph() -> Graph:
    """Of three kinds of triples: explicit, derived, and not committed yet."""
    kb = tidelog.open()
    kb.apply(add_rules=RULES)
    graph = Graph(store=TidelogStore(kb=kb))
    graph.parse(data=DATA, format="turtle").commit()
    graph.add((EX.bob, EX.mail, Literal("bob@example.org")))
    return graph


def copy(graph: Graph) -> Graph:
    other = Graph()
    other.bind("ex", EX)
    other += graph
    return other


@pytest.mark.parametrize("query", lines("queries.txt"))
def test_the_same_answers(query: str, graph: Graph) -> None:
    ours, theirs = graph.query(query), copy(graph).query(query)
    assert ours.type == theirs.type or {ours.type, theirs.type} == {"CONSTRUCT", "DESCRIBE"}
    if ours.type == "SELECT":
        assert list(map(str, ours.vars or [])) == list(map(str, theirs.vars or [])) or "*" in query
        rows = [sorted((sorted(b.items()) for b in r.bindings), key=repr) for r in (ours, theirs)]
        assert rows[0] == rows[1]
        assert len(ours) == len(theirs)
    elif ours.type == "ASK":
        assert ours.askAnswer == theirs.askAnswer
        assert bool(ours) == bool(theirs)
    else:
        assert ours.graph is not None and theirs.graph is not None
        assert isomorphic(ours.graph, theirs.graph)


@pytest.mark.parametrize("update", lines("updates.txt"))
def test_the_same_changes(update: str, graph: Graph) -> None:
    explicit = TidelogStore()
    mine = Graph(store=explicit).parse(data=DATA, format="turtle")
    theirs = copy(mine)
    mine.update(update)
    theirs.update(update)
    assert isomorphic(mine, theirs)
    mine.commit()
    assert explicit.kb.version == 1
    assert isomorphic(explicit.kb.to_rdflib(), theirs)


def test_an_update_belongs_to_the_transaction(graph: Graph) -> None:
    store = graph.store
    assert isinstance(store, TidelogStore)
    before, version = set(graph), store.kb.version
    graph.update(
        "DELETE { ?s ?p ?o } INSERT { ex:new a ex:Child ; ex:knows ex:ann . ex:ann ex:knows ex:new } WHERE { ?s ?p ?o }"
    )
    assert store.kb.version == version
    assert set(graph) == {
        (EX.new, RDF.type, EX.Child),
        (EX.new, EX.knows, EX.ann),
        (EX.ann, EX.knows, EX.new),
    }
    graph.rollback()
    assert set(graph) == before - {(EX.bob, EX.mail, Literal("bob@example.org"))}


def test_with_autocommit_an_update_is_a_version() -> None:
    graph = Graph(store=TidelogStore(autocommit=True))
    graph.update("INSERT DATA { <urn:a> <urn:b> 1 , 2 , 3 }")
    assert isinstance(graph.store, TidelogStore)
    assert (graph.store.kb.version, len(graph)) == (1, 3)


def test_what_is_prepared_or_bound_is_left_to_rdflib(graph: Graph) -> None:
    prepared = prepareQuery("SELECT ?n { ?s ex:age ?n }", initNs={"ex": EX})
    assert {row[0] for row in graph.query(prepared)} == {Literal(n) for n in (42, 31, 7)}  # type: ignore[index]
    bound = graph.query("SELECT ?n { ?s ex:age ?n }", initBindings={"s": EX.ann})
    assert [b[Variable("n")] for b in bound.bindings] == [Literal(42)]


def test_the_store_answers_itself(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TidelogStore, "triples", None)
    assert len(graph.query("SELECT ?s { ?s a ex:Person }")) == 3
    graph.update("INSERT DATA { ex:eve a ex:Person }")
    assert len(graph.query("SELECT ?s { ?s a ex:Person }")) == 4


def test_a_wrong_query_says_where(graph: Graph) -> None:
    with pytest.raises(tidelog.ParseError, match="1:"):
        graph.query("SELECT ?s { ?s a ex:Person ")
    with pytest.raises(tidelog.TidelogError, match="SERVICE"):
        graph.query("SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }")
    with pytest.raises(tidelog.UsageError, match="LOAD"):
        graph.update("LOAD <http://example.org/data.ttl>")
    assert isinstance(next(iter(graph))[0], URIRef)
