"""Answers and changes survive pickling, without the knowledge base."""

from __future__ import annotations

import copy
import logging
import pickle
from typing import Any

import pytest

import tidelog


@pytest.fixture
def kb() -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    kb.apply(
        add='age(ann, 42) . age(bob, 7) . [ann, name, "Ann"@en] . [<http://e/b>, name, 1.5] . [_:x, name, true] .',
        add_rules="old(?x) :- age(?x, ?n), ?n > 18 .",
    )
    return kb


ANSWERS = [
    lambda kb: kb.query("age(?x, ?n)"),
    lambda kb: kb.query("age(ann, 42)"),
    lambda kb: kb.query("age(zoe, ?n)"),
    lambda kb: kb.facts("old"),
    lambda kb: kb.query("age(?x, ?n)")[1:],
    lambda kb: kb.sparql("SELECT ?s ?o ?p { ?s <name> ?o OPTIONAL { ?o ?p ?s } }"),
    lambda kb: kb.sparql("SELECT (?n + 1 AS ?m) { VALUES ?n { 1 2 } }"),
]


@pytest.mark.parametrize("ask", ANSWERS)
def test_answers(ask: Any, kb: tidelog.KnowledgeBase) -> None:
    rows = ask(kb)
    again = pickle.loads(pickle.dumps(rows))
    assert (again.names, list(again), len(again)) == (rows.names, list(rows), len(rows))
    assert [[type(v) for v in row] for row in again] == [[type(v) for v in row] for row in rows]
    assert repr(again) == repr(rows)
    assert again.to_arrow().equals(rows.to_arrow())
    assert list(copy.copy(rows)) == list(rows) == list(pickle.loads(pickle.dumps(again)))
    assert list(again[:1]) == list(rows)[:1]


def test_asserted_is_kept_if_it_was_read(kb: tidelog.KnowledgeBase) -> None:
    rows = kb.query("old(?x)")
    with pytest.raises(tidelog.UsageError):
        assert pickle.loads(pickle.dumps(rows)).asserted
    assert rows.asserted == pickle.loads(pickle.dumps(rows)).asserted == [False]


def test_changes(kb: tidelog.KnowledgeBase) -> None:
    change = kb.apply(add="age(cid, 50) .", remove="age(ann, 42) .", add_rules="young(?x) :- age(?x, ?n), ?n < 18 .")
    for given in (change, kb.preview(remove="age(bob, 7) ."), kb.apply(remove="age(zoe, 1) .")):
        again = pickle.loads(pickle.dumps(given))
        assert (str(again), again.notes, again.added_rules) == (str(given), given.notes, given.added_rules)
        for ours, theirs in ((given.added, again.added), (given.removed, again.removed)):
            assert sorted(zip(theirs, theirs.asserted, strict=True)) == sorted(zip(ours, ours.asserted, strict=True))
            assert theirs.relations() == ours.relations()
            assert str(theirs.of("old")) == str(ours.of("old"))
            assert repr(theirs) == repr(ours)


def test_each_change_is_logged(kb: tidelog.KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="tidelog"):
        kb.apply(add="age(dan, 1) .")
    first, second = (r for r in caplog.records if r.name == "tidelog")
    assert (first.levelname, second.levelname) == ("INFO", "DEBUG")
    assert first.getMessage().startswith("version 2: +1 -0 facts, bf on local, 0.0")
    assert second.getMessage().startswith("a small change; work: ")
