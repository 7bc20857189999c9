"""Watches one by one: reading, waiting, calling, closing, resuming, and what cannot be watched."""

from __future__ import annotations

import asyncio
import gc
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest

import tidelog
from tidelog.streams.datalog_watch import DatalogWatch
from tidelog.streams.watch import AnswerChange

Seen = list[tuple[int, list[tuple[object, ...]], list[tuple[object, ...]]]]

LONG = 60.0  # seconds that no test waits


def seen(*changes: AnswerChange) -> Seen:
    return [(c.version, sorted(c.added), sorted(c.removed)) for c in changes]


def test_changes_are_called_at_once_and_in_order() -> None:
    kb, called = tidelog.open(), Seen()
    kb.watch("p(?x)", on_change=lambda c: called.extend(seen(c)))
    gc.collect()
    kb.apply(add="p(a) .")
    kb.apply(add="q(a) .")
    kb.apply(add="p(b) .", remove="p(a) .")
    assert called == [(1, [("a",)], []), (3, [("b",)], [("a",)])]


def test_a_change_made_by_on_change_comes_after_the_one_it_was_made_in() -> None:
    kb, called = tidelog.open(), Seen()

    def close_alarm(change: AnswerChange) -> None:
        called.extend(seen(change))
        if len(change.added):
            kb.apply(remove="alarm(fire) .")

    kb.watch("alarm(?x)", on_change=close_alarm)
    kb.watch("alarm(?x)", on_change=lambda c: called.extend(seen(c)))
    kb.apply(add="alarm(fire) .")
    came: Seen = [(1, [("fire",)], [])]
    went: Seen = [(2, [], [("fire",)])]
    assert called == came * 2 + went * 2


def test_an_error_of_on_change_comes_when_all_watches_have_the_change() -> None:
    kb, called = tidelog.open(), Seen()

    def fail(_: AnswerChange) -> None:
        raise ValueError("no mail server")

    kb.watch("p(?x)", on_change=fail)
    kb.watch("p(?x)", on_change=lambda c: called.extend(seen(c)))
    with pytest.raises(ValueError, match="no mail server") as caught:
        kb.apply(add="p(a) .")
    assert caught.value.__notes__ == ["Version 1 is committed; `on_change` of a watch raised this error."]
    assert called == [(1, [("a",)], [])]
    assert kb.version == 1


def test_a_loop_goes_on_where_the_last_one_ended() -> None:
    kb = tidelog.open()
    watch = kb.watch("p(?x)")
    assert list(watch) == []
    kb.apply(add="p(a) .")
    assert seen(*watch) == [(1, [("a",)], [])]
    kb.apply(add="p(b) .")
    assert seen(*watch) == [(2, [("b",)], [])]


def test_a_thread_waits_for_a_change_and_ends_when_the_watch_is_closed() -> None:
    kb = tidelog.open()
    watch = kb.watch("p(?x)", timeout=LONG)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(next, watch)
        kb.apply(add="p(a) .")
        assert seen(first.result(LONG)) == [(1, [("a",)], [])]
        rest = threads.submit(list, watch)
        kb.close()
        assert rest.result(LONG) == []


def test_tasks_wait_for_changes() -> None:
    kb = tidelog.open()

    async def read(query: str) -> Seen:
        found = Seen()
        async for change in kb.watch(query):
            found += seen(change)
            if change.version == 2:
                break
        return found

    async def main() -> list[Seen]:
        tasks = [asyncio.create_task(read(query)) for query in ("p(?x)", "p(?x)", "p(?x), ~q(?x)")]
        await asyncio.sleep(0)
        kb.apply(add="p(a) .")
        await asyncio.sleep(0)
        kb.apply(add="p(b) . q(a) .")
        return await asyncio.wait_for(asyncio.gather(*tasks), LONG)

    came: Seen = [(1, [("a",)], []), (2, [("b",)], [])]
    assert asyncio.run(main()) == [came, came, [(1, [("a",)], []), (2, [("b",)], [("a",)])]]


def test_an_async_watch_ends_with_its_timeout_and_when_it_is_closed() -> None:
    kb = tidelog.open()

    async def main() -> list[int]:
        short, closed = kb.watch("p(?x)", timeout=0.0), kb.watch("p(?x)")
        asyncio.get_running_loop().call_soon(closed.close)
        return [len([c async for c in watch]) for watch in (short, closed)]

    assert asyncio.run(main()) == [0, 0]


def test_equal_queries_are_evaluated_once_and_dropped_watches_not_at_all() -> None:
    kb = tidelog.open()
    original = DatalogWatch.difference
    with mock.patch.object(DatalogWatch, "difference", autospec=True, side_effect=original) as evaluated:
        watches = [kb.watch("p(?x)") for _ in range(50)]
        kb.apply(add="p(a) .")
        assert evaluated.call_count == 1
        assert [seen(*watch) for watch in watches] == [[(1, [("a",)], [])]] * 50
        watches.clear()
        gc.collect()
        kb.apply(add="p(b) .")
        assert evaluated.call_count == 1


def test_the_past_is_read_from_any_kept_version(tmp_path: Path) -> None:
    with tidelog.open(tmp_path / "x.kb") as kb:
        for text in ("p(a) .", "p(b) .", "p(c) ."):
            kb.apply(add=text)
        kb.apply(remove="p(a) .")
        assert seen(*kb.watch("p(?x)", since=2)) == [(3, [("c",)], []), (4, [], [("a",)])]
        called = Seen()
        kb.watch("p(?x)", since=3, on_change=lambda c: called.extend(seen(c)))
        assert called == [(4, [], [("a",)])]
        times = [c.time for c in kb.watch("p(?x)", since=0)]
        assert times == [v.time for v in kb.versions()]
        kb.compact(keep=1)
        assert seen(*kb.watch("p(?x)", since=3)) == [(4, [], [("a",)])]
        with pytest.raises(tidelog.UsageError, match=r"there is no version 2 .* versions 3 to 4 can be read"):
            kb.watch("p(?x)", since=2)
        with pytest.raises(tidelog.UsageError, match="there is no version 5"):
            kb.watch("p(?x)", since=5)


def test_in_memory_there_is_no_past() -> None:
    kb = tidelog.open()
    kb.apply(add="p(a) .")
    assert list(kb.watch("p(?x)", since=1)) == []
    with pytest.raises(tidelog.UsageError, match="only a knowledge base on disk keeps its past"):
        kb.watch("p(?x)", since=0)


WRITER = """
import sys, tidelog
with tidelog.open(sys.argv[1]) as kb:
    for name in "abc":
        kb.apply(add=f"p({name}) .", remove="p(_start) .")
"""


def test_another_process_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "x.kb"
    with tidelog.open(path) as kb:
        kb.apply(add="p(zero) .")
    with tidelog.open(path, read_only=True) as reader:
        watch, called = reader.watch("p(?x)", timeout=LONG), Seen()
        reader.watch("p(?x)", on_change=lambda c: called.extend(seen(c)))
        writer = subprocess.Popen([sys.executable, "-c", WRITER.replace("_start", "zero"), str(path)])
        changes = [next(watch) for _ in range(3)]
        assert writer.wait() == 0
    expected = [(2, [("a",)], [("zero",)]), (3, [("b",)], []), (4, [("c",)], [])]
    assert seen(*changes) == called == expected


def test_a_watch_ends_with_an_error_when_versions_it_has_not_read_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "x.kb"
    with tidelog.open(path) as writer, tidelog.open(path, read_only=True) as reader:
        watch = reader.watch("p(?x)")
        for text in ("p(a) .", "p(b) ."):
            writer.apply(add=text)
        writer.compact(keep=0)
        with pytest.raises(tidelog.UsageError, match="versions 2 to 2 can be read"):
            next(watch)
        assert watch.closed
        assert len(reader.facts("p")) == 2


def test_a_relation_that_gets_other_arguments_ends_the_watch_not_the_change() -> None:
    kb = tidelog.open()
    watch = kb.watch("p(?x)")
    kb.apply(add="p(a, b) .")
    with pytest.raises(tidelog.RuleError, match="p has 2 arguments, and the query gives it 1"):
        next(watch)
    assert list(watch) == []


def test_a_reader_that_asks_for_a_name_nobody_has_stays_quick(tmp_path: Path) -> None:
    """A watch adds no terms to the dictionary: a reader with terms of its own would read everything again."""
    path = tmp_path / "x.kb"
    with tidelog.open(path) as writer, tidelog.open(path, read_only=True) as reader:
        watches = [reader.watch(q) for q in ("p(nobody, ?x)", "p(?x, ?y), ~q(?x)", "SELECT ?x { ?x <none> <such> }")]
        for text in ("p(a, b) .", "p(b, c) ."):
            writer.apply(add=text)
        with mock.patch.object(type(reader._store), "read", side_effect=AssertionError):
            assert [len(list(watch)) for watch in watches] == [0, 2, 0]


REFUSED = [
    ("DESCRIBE <a>", "DESCRIBE cannot be watched"),
    ("SELECT ?x { ?x <p> ?y FILTER(?y < NOW()) }", "give a new value each time"),
    ("SELECT ?x (RAND() AS ?r) { ?x <p> ?y }", "give a new value each time"),
    ("CONSTRUCT { _:new <p> ?x } { ?x <p> ?y }", "CONSTRUCT with blank nodes"),
    ("p(?x), ?y > 3", "?y in `?y > 3` is not bound"),
    ("p(?x", "expected"),
]


@pytest.mark.parametrize(("query", "message"), REFUSED)
def test_what_cannot_be_watched_is_refused(query: str, message: str) -> None:
    with pytest.raises(tidelog.TidelogError, match=re.escape(message)):
        tidelog.open().watch(query)


METHODS = [
    ("p(?x), ~q(?x)", "from the change"),
    ("SELECT DISTINCT ?x { { ?x <p> ?y } UNION { ?y <p> ?x } FILTER(?y != <a>) } ORDER BY ?x", "from the change"),
    ("SELECT * { ?x <p> ?y OPTIONAL { ?y <p> ?z } }", "asked again and compared (OPTIONAL)"),
    ("SELECT * { ?x <p>+ ?y }", "asked again and compared (a property path)"),
    ("SELECT (COUNT(*) AS ?n) { ?x <p> ?y }", "asked again and compared (an aggregate)"),
    ("ASK { ?x <p> ?y }", "asked again and compared (ASK)"),
]


@pytest.mark.parametrize(("query", "method"), METHODS)
def test_a_watch_says_how_it_is_computed(query: str, method: str) -> None:
    assert tidelog.open().watch(query).method == method
