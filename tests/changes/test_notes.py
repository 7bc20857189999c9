"""A change that does less than was asked says why; a change without effect makes no version."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest

import tidelog

WHY = "; see tidelog explain, tidelog repair"
RULES = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
FACTS = "edge(a, b) . edge(b, c) . reach(c, c) . reach(a, b) ."
ROWS = [(f"n{i}", "x") for i in range(5000)]

CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"remove": "edge(a, b) ."}, []),
    ({"add": "edge(d, e) ."}, []),
    (
        {"remove": "reach(a, c) ."},
        [f"reach(a, c) is derived, not explicit: it stays as long as its rules and facts do{WHY}"],
    ),
    ({"remove": "reach(a, c) . edge(a, b) . edge(b, c) . reach(a, b) ."}, []),
    ({"remove": "edge(c, a) ."}, ["edge(c, a) is not there, so it was not removed"]),
    ({"remove": "edge(c, a) .", "add": "edge(c, a) ."}, []),
    ({"add": "edge(a, b) ."}, ["edge(a, b) is explicit already"]),
    ({"add": "edge(a, b) .", "remove": "edge(a, b) ."}, []),
    ({"remove": "reach(a, b) ."}, [f"reach(a, b) is not explicit any more, but it stays: rules derive it{WHY}"]),
    ({"add": "reach(b, c) ."}, []),
    ({"remove": {"edge": ROWS[:4]}}, ["4 of the 4 facts to remove are not there"]),
    (
        {"remove": {"edge": [*ROWS, ("a", "b")]}},
        [f"5,000 of the 5,001 facts to remove are not explicit: they are absent, or rules derive them{WHY}"],
    ),
    ({"add": {"edge": [("a", "b"), ("b", "c")]}}, ["edge(a, b) is explicit already", "edge(b, c) is explicit already"]),
    ({"add_rules": RULES}, []),
]


@pytest.mark.parametrize(("arguments", "notes"), CASES)
@pytest.mark.parametrize("on_disk", [False, True])
def test_notes(arguments: dict[str, Any], notes: list[str], on_disk: bool) -> None:
    with tidelog.open(tempfile.mkdtemp() + "/x.kb" if on_disk else None) as kb:
        kb.apply(add=FACTS, add_rules=RULES)
        before = kb.digest()
        preview, change = kb.preview(**arguments), kb.apply(**arguments)
        assert list(change.notes) == list(preview.notes) == notes
        is_same = kb.digest() == before
        assert change.version == preview.version == kb.version == (1 if is_same else 2)
        assert [v.version for v in kb.versions()] == list(range(1, kb.version + 1))


def test_large_additions_are_counted() -> None:
    kb = tidelog.open()
    kb.apply(add={"edge": ROWS})
    change = kb.apply(add={"edge": [*ROWS, ("a", "b")]})
    assert change.notes == ("5,000 of the 5,001 facts to add are explicit already",)


def test_with_equality_by_rewriting_facts_have_several_names() -> None:
    kb = tidelog.open(equality="rewriting")
    kb.apply(add="[ann, owl:sameAs, anna] . p(ann) .")
    assert kb.apply(remove="p(anna) .").notes == (f"p(anna) is not explicit: it is absent, or rules derive it{WHY}",)
    assert kb.version == 1


def test_counts_are_kept_by_a_change_without_effect() -> None:
    kb = tidelog.open()
    kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
    assert kb.apply(algorithm="counting").version == 1
    assert kb.apply(remove="p(a) .").algorithm == "counting"


def test_settings_prefixes_and_rules_are_effects() -> None:
    kb = tidelog.open()
    assert kb.apply(options={"strict": True}).version == 1
    assert kb.apply(options={"strict": True}).version == 1
    assert kb.declare({"ex": "http://example.org/"}).version == 2
    assert kb.apply(add_rules="q(?x) :- p(?x) .").version == 3
    assert kb.apply(add_rules="q(?y) :- p(?y) .", message="the same rule").version == 3
