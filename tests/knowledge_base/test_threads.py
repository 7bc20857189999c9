"""Many threads use one knowledge base: no acknowledged change is lost, and a reader sees exactly one version."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread, get_ident
from typing import Any

import pytest
from rdflib import Graph, URIRef

import tidelog
from tests.knowledge_base.many_threads import Rush
from tidelog.adapters.rdflib_store import TidelogStore
from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.store import catalog

THREADS = 8


def rush(path: Path | None, changes: int) -> list[str]:
    with tidelog.open(path) as kb:
        found = Rush(kb, THREADS, changes // THREADS)
        found.run()
        problems = list(found.problems())
        digest = kb.digest()
        if path is not None:
            assert kb.verify(recompute=True).ok
            with tidelog.open(path, read_only=True) as again:
                assert again.digest() == digest
    return problems[:5]


@pytest.mark.parametrize(("where", "changes"), [("memory", 160), ("disk", 80)])
def test_threads(where: str, changes: int, tmp_path: Path, one_thread_per_connection: list[str]) -> None:
    assert rush(None if where == "memory" else tmp_path / "x.kb", changes) == []
    assert one_thread_per_connection == []


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_threads_for_long(where: str, tmp_path: Path, one_thread_per_connection: list[str]) -> None:
    assert rush(None if where == "memory" else tmp_path / "x.kb", 5000) == []
    assert one_thread_per_connection == []


class WatchedConnection(sqlite3.Connection):
    """Notes when two threads use it at once."""

    user: int | None = None
    problems: list[str]

    def execute(self, *args: Any) -> sqlite3.Cursor:
        return self._watched(super().execute, *args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        return self._watched(super().executemany, *args)

    def _watched(self, call: Callable[..., sqlite3.Cursor], *args: Any) -> sqlite3.Cursor:
        if self.user not in (None, get_ident()):
            self.problems.append(f"{args[0]} while another thread uses the connection")
        self.user = get_ident()
        try:
            return call(*args)
        finally:
            self.user = get_ident() if self.in_transaction else None


@pytest.fixture
def one_thread_per_connection(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was noticed on all connections that are made from now on."""
    problems: list[str] = []
    monkeypatch.setattr(WatchedConnection, "problems", problems, raising=False)
    monkeypatch.setitem(catalog._HOW, "factory", WatchedConnection)
    return problems


@pytest.fixture(params=["memory", "disk"])
def kb(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeBase]:
    with tidelog.open(None if request.param == "memory" else tmp_path / "x.kb") as kb:
        kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        yield kb


QUESTIONS: dict[str, Callable[[KnowledgeBase], object]] = {
    "query": lambda kb: sorted(kb.query("q(?x), ~r(?x)")),
    "query with an unknown name": lambda kb: sorted(kb.query("q(nobody)")),
    "sparql": lambda kb: kb.sparql("ASK { ?x ?p ?o }"),
    "facts": lambda kb: sorted(kb.facts("q")),
    "all_facts": lambda kb: sorted(kb.all_facts()),
    "explain": lambda kb: kb.explain("q(a)").tree(),
    "why_not": lambda kb: kb.why_not("q(b)").tree(),
    "preview": lambda kb: sorted(kb.preview(add="p(c) .").added),
    "predict": lambda kb: kb.predict(add="p(d) ."),
    "repair": lambda kb: str(kb.repair("q(a)")),
    "status": lambda kb: kb.status().facts,
    "digest": lambda kb: kb.digest(),
    "versions": lambda kb: [v.version for v in kb.versions()],
    "version": lambda kb: (kb.version, len(kb.rules), repr(kb)),
    "inconsistencies": lambda kb: kb.inconsistencies(),
    "to_rdflib": lambda kb: len(kb.to_rdflib()),
    "update": lambda kb: sorted(kb.update("INSERT DATA { <a> <b> <c> }", dry_run=True).added),
    "at": lambda kb: sorted(kb.at(1).all_facts()) if kb._root else None,
    "diff": lambda kb: sorted(kb.diff(0, 1).added) if kb._root else None,
    "verify": lambda kb: kb.verify().ok if kb._root else None,
    "export": lambda kb: None,
}


def test_readers_do_not_wait_for_a_writer_and_see_the_version_before(kb: KnowledgeBase) -> None:
    """The writer stands still in the middle of its change while each question is asked."""
    before = {name: ask(kb) for name, ask in QUESTIONS.items()}
    inside, go_on = Event(), Event()

    def rows() -> Iterator[tuple[str]]:
        yield ("b",)
        inside.set()
        assert go_on.wait(60)

    writer = Thread(target=lambda: kb.apply(add={"p": rows()}))
    writer.start()
    assert inside.wait(60)
    with ThreadPoolExecutor(1) as pool:
        seen = {name: pool.submit(ask, kb) for name, ask in QUESTIONS.items()}
        try:
            assert {name: future.result(timeout=60) for name, future in seen.items()} == before
        finally:
            go_on.set()
            writer.join()
    assert sorted(kb.query("q(?x)")) == [("a",), ("b",)]


def test_answers_stay_at_their_version(kb: KnowledgeBase) -> None:
    rows, facts, marked = kb.query("q(?x)"), kb.all_facts(), kb.facts("p")
    change = kb.apply(add="p(b) .")
    opened = iter(change.added)
    first = next(opened)
    kb.apply(remove="p(a) . p(b) .", add="q(a) .")
    assert list(rows) == [("a",)]
    assert rows.asserted == [False]
    assert sorted(facts) == [("p", "a"), ("q", "a")]
    assert list(zip(marked, marked.asserted, strict=True)) == [(("a",), True)]
    assert sorted([first, *opened]) == [("p", "b"), ("q", "b")]


def test_asyncio(kb: KnowledgeBase) -> None:
    async def run() -> list[Any]:
        changes = [asyncio.to_thread(kb.apply, add=f"p(n{i}) .") for i in range(20)]
        return await asyncio.gather(*changes)

    changes = asyncio.run(run())
    assert sorted(change.version for change in changes) == list(range(2, 22))
    assert len(kb.facts("q")) == 21


def test_a_change_inside_a_change_is_refused(kb: KnowledgeBase) -> None:
    def rows() -> Iterator[tuple[str]]:
        kb.apply(add="p(c) .")
        yield ("b",)

    for attempt in (lambda: kb.apply(add={"p": rows()}), kb.close):
        with pytest.raises(UsageError, match="a change is being made by this thread"):
            kb.apply(add={"p": (attempt() for _ in range(1))})
    assert kb.apply(add="p(b) .").version == 2


def test_one_version_read_by_many_threads_gives_equal_answers() -> None:
    """Large relations, so that sorted orders, indexes and threads of the engine are made while others read."""
    for turn in range(2):
        with tidelog.open() as kb:
            kb.apply(
                add={"e": [(i % 997, i) for i in range(40_000)], "f": [(i, i % 991) for i in range(40_000)]},
                add_rules="g(?y, ?x) :- e(?x, ?y), ?y < 5000 .",
            )
            kb.apply(remove={"e": [(i % 997, i) for i in range(turn, 400, 3)]})
            questions: list[Callable[[KnowledgeBase], object]] = [
                lambda kb: len(kb.query("e(5, ?y), f(?y, ?z)")),
                lambda kb: len(kb.query("f(?x, 7), e(?z, ?x)")),
                lambda kb: len(kb.query("g(?x, 5)")),
                lambda kb: len(kb.preview(remove={"e": [(i % 997, i) for i in range(2000, 2400)]}).removed),
                lambda kb: len(kb.all_facts("derived")),
                lambda kb: kb.digest(),
            ]
            with ThreadPoolExecutor(THREADS) as pool:
                asked = [pool.submit(ask, kb) for _ in range(3) for ask in questions]
                answers = [future.result() for future in asked]
            assert answers == [ask(kb) for ask in questions] * 3


def test_an_rdflib_graph_shared_by_threads() -> None:
    kb = tidelog.open()
    graph = Graph(store=TidelogStore(kb=kb, autocommit=True))
    follows = URIRef("follows")

    def write(number: int) -> None:
        for step in range(20):
            graph.add((URIRef(f"t{number}"), follows, URIRef(f"o{step}")))
            if step % 3 == 2:
                graph.remove((URIRef(f"t{number}"), follows, URIRef(f"o{step - 1}")))
            assert (URIRef(f"t{number}"), follows, URIRef(f"o{step}")) in graph

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(write, i) for i in range(4)]:
            done.result()
    kept = {f"o{step}" for step in range(20)} - {f"o{step}" for step in range(1, 18, 3)}
    assert {(str(s), str(o)) for s, _, o in graph} == {(f"t{n}", o) for n in range(4) for o in kept}
    assert len(kb.all_facts()) == len(graph)
