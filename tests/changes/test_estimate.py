"""Previews and predictions: what a change would do, without doing it."""

from __future__ import annotations

import pytest

import tidelog
from tests.oracle.histories import random_history

REACH = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


def chain(length: int) -> dict[str, list[tuple[int, int]]]:
    return {"edge": [(i, i + 1) for i in range(length)]}


@pytest.fixture
def kb() -> tidelog.KnowledgeBase:
    kb = tidelog.open()
    kb.apply(add=chain(10), add_rules=REACH)
    return kb


EXACT = [
    {"add": "edge(10, 11) ."},
    {"add": "edge(100, 101) . edge(200, 201) ."},
    {"remove": "edge(9, 10) ."},
    {"remove": "edge(0, 1) ."},
    {"add": "edge(0, 1) ."},
    {"remove": "edge(77, 78) ."},
    {"add_rules": "back(?y, ?x) :- edge(?x, ?y) ."},
    {"remove_rules": "reach(?x, ?y) :- edge(?x, ?y) ."},
]


@pytest.mark.parametrize("change", EXACT, ids=str)
def test_the_size_of_a_small_change_is_predicted_exactly(change: dict[str, str], kb: tidelog.KnowledgeBase) -> None:
    found = kb.preview(**change)
    assert found.predicted == kb.predict(**change)
    assert found.predicted is not None
    assert (found.predicted.added, found.predicted.removed) == (len(found.added), len(found.removed))
    assert kb.version == 1


def test_a_large_change_is_predicted_from_a_sample() -> None:
    kb = tidelog.open()
    kb.apply(add={"p": [(i,) for i in range(5000)]}, add_rules="q(?x) :- p(?x) . r(?x) :- q(?x) .")
    new = {"p": [(i,) for i in range(5000, 15_000)]}
    assert kb.predict(add=new) == tidelog.Prediction(20_000, 30_000, 0)
    lost = kb.predict(remove={"p": [(i,) for i in range(5000)]})
    assert (lost.added, lost.removed) == (0, 15_000)
    assert kb.predict(add_rules="s(?x) :- p(?x), r(?x) .") == tidelog.Prediction(5000, 5000, 0)


def test_another_proof_is_noticed(kb: tidelog.KnowledgeBase) -> None:
    kb.apply(add="edge(0, 2) .")
    assert kb.predict(remove="edge(0, 2) .").removed == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_preview_is_the_change_to_come_whatever_is_predicted(seed: int) -> None:
    history = random_history(seed)
    with tidelog.open() as kb:
        kb.apply(add=sorted(history.states[0].facts), add_rules=list(history.states[0].rules))
        for step in history.steps:
            parts = (sorted(step.add), sorted(step.remove), list(step.add_rules), list(step.remove_rules))
            seen, version = kb.preview(*parts), kb.version
            assert seen.predicted is not None
            assert seen.predicted.derivations >= 0
            done = kb.apply(*parts)
            has_effect = bool(done.added or done.removed or done.added_rules or done.removed_rules)
            assert done.version == seen.version == kb.version
            assert done.version - version in ((1,) if has_effect else (0, 1))  # E may change and I stay
            assert sorted(seen.added.texts()) == sorted(done.added.texts())
            assert sorted(seen.removed.texts()) == sorted(done.removed.texts())
            assert (seen.added_rules, seen.removed_rules) == (done.added_rules, done.removed_rules)
            assert done.predicted is None


def test_rules_that_change_nothing_are_no_change_of_rules(kb: tidelog.KnowledgeBase) -> None:
    change = kb.preview(add_rules="reach(?a, ?b) :- edge(?a, ?b) .", remove_rules=())
    assert (change.added_rules, change.removed_rules) == ((), ())
