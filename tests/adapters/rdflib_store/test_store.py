"""The store behaves as rdflib expects of any store: compared with rdflib's own, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest
from rdflib import RDF, RDFS, XSD, BNode, Dataset, Graph, Literal, Namespace, URIRef, Variable
from rdflib.compare import isomorphic
from rdflib.store import NO_STORE, VALID_STORE, Store
from rdflib.term import Node

import tidelog
from tidelog.adapters import rdflib_store
from tidelog.adapters.rdflib_store import TidelogStore

EX = Namespace("http://example.org/")
SUBCLASSES = "[?x, rdf:type, ?d] :- [?x, rdf:type, ?c], [?c, rdfs:subClassOf, ?d] ."
Triple = tuple[Node, Node, Node]

TERMS: list[Node] = [
    EX.a,
    URIRef("name"),
    URIRef("urn:x-y:z"),
    BNode("b0"),
    BNode("N73f7783300c14ff3be08f869953c878b"),
    Literal("plain"),
    Literal(""),
    Literal('quotes " and \\ and \n lines \r and \t tabs'),
    Literal("héllo ☃ 𝄞"),
    Literal("Dresden", lang="de"),
    Literal("Dresden", lang="de-DE"),
    Literal(42),
    Literal(-7.5),
    Literal("1.50", datatype=XSD.decimal),
    Literal(True),
    Literal("042", datatype=XSD.integer, normalize=False),
    Literal("not a number", datatype=XSD.integer),
    Literal("2026-11-16T01:02:03Z", datatype=XSD.dateTime, normalize=False),
    Literal("x", datatype=EX.own),
    Literal("<p>text</p>", datatype=RDF.HTML, normalize=False),
]


@pytest.fixture
def graph() -> Graph:
    rdflib_store.register()
    return Graph(store="tidelog")


@pytest.mark.parametrize("node", TERMS, ids=repr)
def test_terms_come_back_as_they_were(node: Node, graph: Graph) -> None:
    graph.add((EX.s, EX.p, node))
    ((_, _, found),) = list(graph)
    assert (type(found), found) == (type(node), node)
    assert str(found) == str(node)
    assert (EX.s, EX.p, node) in graph
    assert list(graph.subjects(EX.p, node)) == [EX.s]
    graph.remove((None, None, node))
    assert len(graph) == 0


def test_typed_and_plain_strings_are_one_term(graph: Graph) -> None:
    graph.add((EX.s, EX.p, Literal("x", datatype=XSD.string)))
    assert list(graph.objects()) == [Literal("x")]
    assert (EX.s, EX.p, Literal("x", datatype=XSD.string)) in graph


NODES = [URIRef("a"), URIRef("b"), BNode("c"), Literal("d"), Literal(1)]


def random_steps(seed: int) -> Iterator[Callable[[Graph], object]]:
    """Adds, removes by pattern, sets, commits and reads, the same for any graph."""
    random = Random(f"graph {seed}")

    def some(wild: float) -> tuple[Node | None, ...]:
        return tuple(None if random.random() < wild else random.choice(NODES[: 3 + 2 * (i == 2)]) for i in range(3))

    for _ in range(40):
        kind, full, pattern = random.randrange(7), some(0), some(0.5)
        many = [some(0) for _ in range(5)]
        if kind <= 1:
            yield lambda g, t=full: g.add(t)  # type: ignore[misc]
        elif kind == 2:
            yield lambda g, m=many: g.addN((*t, g) for t in m)  # type: ignore[misc]
        elif kind == 3:
            yield lambda g, t=pattern: g.remove(t)  # type: ignore[misc]
        elif kind == 4:
            yield lambda g, t=full: g.set(t)  # type: ignore[misc]
        elif kind == 5:
            yield lambda g, t=pattern: sorted(g.triples(t))  # type: ignore[misc]
        else:
            yield lambda g: g.commit() and None


@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_like_the_store_of_rdflib(seed: int, autocommit: bool) -> None:
    ours, theirs = Graph(store=TidelogStore(autocommit=autocommit)), Graph()
    for step in random_steps(seed):
        mine, others = step(ours), step(theirs)
        if isinstance(others, list):
            assert mine == others
        assert set(ours) == set(theirs)
        assert len(ours) == len(theirs)


def test_every_pattern(graph: Graph) -> None:
    other = Graph()
    triples: list[Triple] = [(s, p, o) for s in NODES[:3] for p in NODES[:2] for o in NODES[1:]]
    for each in (graph, other):
        each.addN((*t, each) for t in triples)
    places = [None, *NODES[:3]]
    for pattern in product(places, places, places):
        assert sorted(graph.triples(pattern)) == sorted(other.triples(pattern))
    choices = (NODES[0], [NODES[0], NODES[1]], None)
    assert sorted(graph.triples_choices(choices)) == sorted(other.triples_choices(choices))  # type: ignore[arg-type]


def test_a_graph_may_be_changed_while_it_is_read(graph: Graph) -> None:
    graph.addN((EX[f"s{i}"], EX.p, Literal(i), graph) for i in range(100))
    for s, p, o in graph:
        graph.remove((s, p, o))
        graph.add((s, EX.q, o))
    assert len(graph) == len(list(graph.triples((None, EX.q, None)))) == 100


def test_what_is_derived_is_read_and_not_removed() -> None:
    kb = tidelog.open()
    kb.apply(add_rules=SUBCLASSES)
    graph = Graph(store=TidelogStore(kb=kb))
    graph.add((EX.rex, RDF.type, EX.Dog)).add((EX.Dog, RDFS.subClassOf, EX.Animal))
    assert (EX.rex, RDF.type, EX.Animal) in graph
    assert len(graph) == 3
    with pytest.raises(tidelog.UsageError, match=r"is derived and cannot be removed itself; kb.repair\("):
        graph.remove((EX.rex, RDF.type, EX.Animal))
    graph.remove((EX.rex, None, None))
    assert set(graph) == {(EX.Dog, RDFS.subClassOf, EX.Animal)}
    graph.remove((EX.nothing, RDF.type, EX.Animal))


def test_a_transaction_is_one_version_and_nobody_else_sees_it_before() -> None:
    kb = tidelog.open()
    kb.apply(add_rules=SUBCLASSES)
    graph = Graph(store=TidelogStore(kb=kb))
    graph.add((EX.rex, RDF.type, EX.Dog))
    assert len(graph) == 1
    graph.add((EX.Dog, RDFS.subClassOf, EX.Animal))
    assert (len(graph), kb.version, len(kb.facts("triple"))) == (3, 1, 0)
    graph.commit()
    assert (len(graph), kb.version, len(kb.facts("triple"))) == (3, 2, 3)
    graph.commit()
    assert kb.version == 2
    graph.remove((None, None, None))
    assert len(graph) == 0
    graph.rollback()
    assert len(graph) == 3


def test_changes_of_the_knowledge_base_itself_are_seen() -> None:
    kb = tidelog.open()
    graph = Graph(store=TidelogStore(kb=kb))
    graph.add((EX.rex, RDF.type, EX.Dog))
    assert len(graph) == 1
    kb.apply(add="[dog, likes, bone] .")
    assert len(graph) == 2
    graph.commit()
    assert (kb.version, len(kb.facts("triple"))) == (2, 2)


def test_a_commit_that_is_refused_changes_nothing() -> None:
    kb = tidelog.open()
    kb.apply(add_rules=":- [?x, likes, ?x] .")
    graph = Graph(store=TidelogStore(kb=kb))
    graph.add((URIRef("rex"), URIRef("likes"), URIRef("rex")))
    with pytest.raises(tidelog.ConstraintError):
        graph.commit()
    graph.rollback()
    assert (len(graph), kb.version) == (0, 1)


def test_on_disk(tmp_path: Path, graph: Graph) -> None:
    path = str(tmp_path / "x.kb")
    assert graph.open(path) == NO_STORE
    with pytest.raises(tidelog.StoreError, match="closed"):
        len(graph)
    assert graph.open(path, create=True) == VALID_STORE
    graph.bind("ex", EX)
    graph.add((EX.a, EX.p, Literal(1))).commit()
    graph.close()
    with tidelog.open(path) as kb:
        assert dict(kb.prefixes) == {"ex": str(EX)}
        assert list(kb.query("ex:p[?x, ?n]")) == [(str(EX.a), 1)]
    again = Graph(store="tidelog")
    assert again.open(path) == VALID_STORE
    assert again.namespace_manager.store.namespace("ex") == URIRef(EX)
    assert set(again) == {(EX.a, EX.p, Literal(1))}
    again.add((EX.b, EX.p, Literal(2)))
    with pytest.warns(UserWarning, match="1 changes were not committed and are lost"):
        again.close()
    again.open(path)
    again.add((EX.b, EX.p, Literal(2)))
    again.close(commit_pending_transaction=True)
    again.open(path)
    assert len(again) == 2
    with pytest.raises(tidelog.UsageError, match="deletes no knowledge base"):
        again.destroy(path)
    again.close()


def test_what_has_no_place_in_it(graph: Graph) -> None:
    for wrong in ((EX.s, EX.p, Variable("x")), (EX.s, EX.p, Graph())):
        with pytest.raises(tidelog.InputError, match="cannot stand in a triple"):
            graph.add(wrong)
    with pytest.raises(AssertionError, match="context aware"):
        Dataset(store="tidelog")
    with pytest.raises(tidelog.UsageError, match="quoted"):
        graph.store.add((EX.s, EX.p, EX.o), graph, quoted=True)


def test_prefixes_are_bound_as_elsewhere(graph: Graph) -> None:
    other = Graph()
    for each in (graph, other):
        each.bind("ex", EX)
        each.bind("ex2", EX, override=False)
        each.bind("ex", "http://other.example/")
        each.bind("z", EX, replace=True)
    assert dict(graph.namespaces()) == dict(other.namespaces())


def test_parsing_and_writing(graph: Graph) -> None:
    text = "@prefix ex: <http://example.org/> . ex:a ex:p (1 2.5 'x'@en), [ ex:q true ; ex:r 'lines\\n' ] ."
    graph.parse(data=text, format="turtle")
    assert isomorphic(graph, Graph().parse(data=text, format="turtle"))
    for form in ("turtle", "nt", "xml"):
        again = Graph(store=TidelogStore()).parse(data=graph.serialize(format=form), format=form)
        assert isomorphic(graph, again)


def test_copies_to_and_from_rdflib() -> None:
    source = Graph()
    source.bind("ex", EX)
    for number, node in enumerate(TERMS):
        source.add((EX[f"s{number}"], EX.p, node))
    kb = tidelog.open()
    assert len(kb.load(source, message="a graph").added) == len(TERMS)
    assert set(kb.to_rdflib()) == set(source)
    kb.apply(add_rules=f"@prefix ex: <{EX}> . [?x, ex:q, ?y] :- [?x, ex:p, ?y] .")
    assert len(kb.to_rdflib()) == 2 * len(TERMS)
    assert set(kb.to_rdflib("explicit")) == set(source)
    assert {p for _, p, _ in kb.to_rdflib("derived")} == {EX.q}
    with pytest.raises(tidelog.UsageError, match="cannot load int"):
        kb.load(7)


def test_events_are_sent(graph: Graph) -> None:
    from rdflib.store import TripleAddedEvent, TripleRemovedEvent

    seen: list[str] = []
    for event in (TripleAddedEvent, TripleRemovedEvent):
        graph.store.dispatcher.subscribe(event, lambda e: seen.append(type(e).__name__))  # type: ignore[no-untyped-call]
    graph.add((EX.s, EX.p, EX.o))
    graph.remove((EX.s, EX.p, EX.o))
    assert seen == ["TripleAddedEvent", "TripleRemovedEvent"]
    assert isinstance(graph.store, Store)
