"""A change that fails anywhere leaves the knowledge base as it was, and the next one works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tidelog
from tidelog.knowledge_base import KnowledgeBase

FACTS = "parent(ann, bob) . parent(bob, cid) . age(ann, 60) ."
RULES = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
    :- parent(?x, ?x) .
"""
Attempt = Callable[[KnowledgeBase, Path], object]


def snapshot(kb: KnowledgeBase) -> tuple[object, ...]:
    return (
        kb.version,
        kb.rules,
        dict(kb.prefixes),
        sorted(map(str, kb.all_facts())),
        sorted(map(str, kb.all_facts("explicit"))),
    )


def good_then_bad(kb: KnowledgeBase, folder: Path) -> object:
    (folder / "good.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    (folder / "bad.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n<http://e/a> <http://e/p> .\n")
    return kb.load(folder / "good.nt", folder / "bad.nt")


def missing_import(kb: KnowledgeBase, folder: Path) -> object:
    (folder / "program.rls").write_text('@import p :- csv{resource="nowhere.csv"} .\nq(?x) :- p(?x) .\n')
    return kb.load(folder / "program.rls")


def late_bad_row(kb: KnowledgeBase, folder: Path) -> object:
    (folder / "rows.csv").write_text("a,b\n" * 1000 + "a\n")
    return kb.load(folder / "rows.csv")


FAILURES: dict[str, tuple[Attempt, type[tidelog.TidelogError], str]] = {
    "facts do not parse": (
        lambda kb, _: kb.apply(add="parent(cid, dan) . parent(cid dan) ."),
        tidelog.ParseError,
        "<text>:1:31",
    ),
    "second file is bad": (good_then_bad, tidelog.InputError, "bad.nt:2"),
    "import is missing": (missing_import, tidelog.InputError, "nowhere.csv"),
    "last row is short": (late_bad_row, tidelog.InputError, "rows.csv:1001"),
    "rule is unsafe": (
        lambda kb, _: kb.apply(add="parent(cid, dan) .", add_rules="p(?x) :- parent(?y, ?z) ."),
        tidelog.RuleError,
        "?x",
    ),
    "negation in a cycle": (
        lambda kb, _: kb.apply(add_rules="odd(?x) :- parent(?x, _), ~even(?x) . even(?x) :- parent(?x, _), ~odd(?x) ."),
        tidelog.RuleError,
        "odd",
    ),
    "arity differs": (lambda kb, _: kb.apply(add="parent(ann) ."), tidelog.RuleError, "parent"),
    "arity differs in rows": (lambda kb, _: kb.apply(add={"parent": [("a", "b", "c")]}), tidelog.InputError, "parent"),
    "constraint is violated": (
        lambda kb, _: kb.apply(add="parent(dan, dan) . age(dan, 3) ."),
        tidelog.ConstraintError,
        "?x = dan",
    ),
    "a violated constraint is added": (
        lambda kb, _: kb.apply(add_rules=":- ancestor(ann, ?x), parent(bob, ?x) ."),
        tidelog.ConstraintError,
        "?x = cid",
    ),
    "rule to remove is absent": (
        lambda kb, _: kb.apply(add="parent(cid, dan) .", remove_rules="p(?x) :- q(?x) ."),
        tidelog.UsageError,
        "p(?x) :- q(?x)",
    ),
    "recursion without end": (
        lambda kb, _: kb.apply(add_rules="age(?x, ?n + 1) :- age(?x, ?n) ."),
        tidelog.RuleError,
        "#[bound(",
    ),
    "bound is passed": (
        lambda kb, _: kb.apply(add_rules="#[bound(5)] age(?x, ?n + 1) :- age(?x, ?n) ."),
        tidelog.LimitError,
        "bound",
    ),
    "unknown algorithm": (lambda kb, _: kb.apply(algorithm="magic"), tidelog.UsageError, "choose one of"),
    "unknown engine": (lambda kb, _: kb.apply(engine="abacus"), tidelog.UsageError, "choose one of"),
    "facts of a wrong kind": (lambda kb, _: kb.apply(add=42), tidelog.UsageError, "cannot read facts from int"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_nothing_is_half_done(name: str, tmp_path: Path) -> None:
    attempt, error, text = FAILURES[name]
    kb = tidelog.open()
    kb.apply(add=FACTS, add_rules=RULES)
    before = snapshot(kb)
    with pytest.raises(error) as caught:
        attempt(kb, tmp_path)
    assert text in str(caught.value)
    assert snapshot(kb) == before
    change = kb.apply(add="parent(cid, dan) .")
    assert sorted(change.added.of("ancestor")) == [("ancestor", x, "dan") for x in ("ann", "bob", "cid")]


def test_a_preview_commits_nothing() -> None:
    kb = tidelog.open()
    kb.apply(add=FACTS, add_rules=RULES)
    before = snapshot(kb)
    change = kb.preview(add="parent(cid, dan) .", remove="parent(ann, bob) .")
    assert (len(change.added), len(change.removed)) == (3, 3)
    assert snapshot(kb) == before


def test_a_fact_both_removed_and_added_stays() -> None:
    kb = tidelog.open()
    kb.apply(add=FACTS, add_rules=RULES)
    change = kb.apply(add="parent(ann, bob) .", remove="parent(ann, bob) .")
    assert (len(change.added), len(change.removed)) == (0, 0)
    assert len(kb.facts("ancestor")) == 3


def test_removing_an_explicit_fact_that_follows_anyway_changes_nothing_visible() -> None:
    kb = tidelog.open()
    kb.apply(add=f"{FACTS} ancestor(ann, cid) .", add_rules=RULES)
    change = kb.apply(remove="ancestor(ann, cid) . ancestor(nobody, cid) .")
    assert (len(change.added), len(change.removed)) == (0, 0)
    assert sorted(kb.facts("ancestor", kind="derived")) == [("ann", "bob"), ("ann", "cid"), ("bob", "cid")]
