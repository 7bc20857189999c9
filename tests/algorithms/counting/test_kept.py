"""Counts live with the version they belong to: previews and failures do not touch them, other algorithms drop them."""

from __future__ import annotations

import pytest

from tests.algorithms.counting.recount import derivations
from tests.oracle.ways import facts_of
from tidelog.algorithms import counting, recursive_counting
from tidelog.changes.result import Change
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import ConstraintError, LimitError, UsageError
from tidelog.knowledge_base import KnowledgeBase

JOIN = "p(?x) :- e(?x, ?y), e(?y, ?x) . :- p(z) ."
CIRCLE = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
EDGES = "edge(a, b) . edge(b, c) . edge(c, d) . edge(a, c) ."


def kept_by(kb: KnowledgeBase) -> counting.DerivationCounts[LocalFacts]:
    kept = kb._state.algorithm_state
    assert isinstance(kept, counting.DerivationCounts)
    return kept


def counted(kb: KnowledgeBase) -> bool:
    """Whether the counts that are kept are those of the facts and rules."""
    kept = kept_by(kb)
    everything, explicit = facts_of(kb.all_facts()), facts_of(kb.all_facts("explicit"))
    return dict(kept.counts) == derivations(kb.rules, explicit, everything)


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = KnowledgeBase()
    kb.apply(add="e(a, b) . e(b, a) . e(c, c) .", add_rules=JOIN, algorithm="counting")
    return kb


def test_a_preview_changes_no_count(kb: KnowledgeBase) -> None:
    kept = kb._state.algorithm_state
    assert len(kb.preview(remove="e(a, b) .", algorithm="counting").removed) == 3
    assert kb._state.algorithm_state is kept
    assert counted(kb)


def test_a_failed_change_changes_no_count(kb: KnowledgeBase) -> None:
    with pytest.raises(ConstraintError):
        kb.apply(add="e(z, z) .", algorithm="counting")
    assert counted(kb)
    kb.apply(remove="e(c, c) .", algorithm="counting")
    assert counted(kb)


def test_counts_are_taken_anew_after_another_algorithm(kb: KnowledgeBase) -> None:
    kb.apply(add="e(d, d) .", algorithm="bf")
    assert kb._state.algorithm_state is None
    kb.apply(remove="e(a, b) .", algorithm="counting")
    assert counted(kb)


def test_each_counts_in_its_own_way(kb: KnowledgeBase) -> None:
    kb.apply(add="e(d, d) .", algorithm="recursive-counting")
    assert isinstance(kb._state.algorithm_state, recursive_counting.IterationCounts)
    kb.apply(add="e(f, f) .", algorithm="counting")
    assert counted(kb)


def test_counting_does_not_take_a_recursive_rule_away() -> None:
    """The facts of a circle would not go with the rule that closes it."""
    with KnowledgeBase() as kb:
        kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) . r(?x) :- q(?x) . q(?x) :- r(?x) .")
        with pytest.raises(UsageError, match=r"recursive:\n.*\n.*q\(\?x\) :- r\(\?x\)"):
            kb.apply(remove_rules="q(?x) :- p(?x) . q(?x) :- r(?x) .", algorithm="counting")


def test_a_rule_that_becomes_recursive_is_counted_no_more() -> None:
    """Or the count of q(a) would hold p(a) up, and with that itself."""
    with KnowledgeBase() as kb:
        kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .", algorithm="counting")
        kb.apply(add_rules="p(?x) :- q(?x) .")
        assert dict(kept_by(kb).counts) == derivations((), facts_of(kb.all_facts("explicit")), ())
        assert sorted(kb.apply(remove="p(a) .").removed) == [("p", "a"), ("q", "a")]
        kb.apply(add="p(b) .", remove_rules="p(?x) :- q(?x) .")
        kb.apply(add="p(c) .")
        assert counted(kb)


def work(change: Change) -> tuple[int, int, dict[str, int]]:
    return change.work.derivations, change.work.rounds, change.work.counters


def test_work_is_in_proportion_to_the_change(kb: KnowledgeBase) -> None:
    kb.apply(add={"e": [(f"n{i}", f"n{i + 1}") for i in range(500)]}, algorithm="counting")
    change = kb.apply(remove="e(a, b) .", algorithm="counting")
    assert work(change) == (2, 2, {"counts": 3})  # e(a, b) goes, and with it an instance for each of p(a) and p(b)


def test_recursive_counting_moves_counters_though_no_fact_changes() -> None:
    with KnowledgeBase() as kb:
        kb.apply(add=EDGES, add_rules=CIRCLE, algorithm="recursive-counting")
        change = kb.apply(add="reach(a, d) .", algorithm="recursive-counting")
        assert (len(change.added), len(change.removed)) == (0, 0)
        change = kb.apply(remove="edge(a, c) .", algorithm="recursive-counting")
        assert (len(change.added), len(change.removed)) == (0, 1)
        assert change.work.counters["counts"] > 1


def test_a_recursion_without_end_is_refused_in_every_way_of_counting() -> None:
    rules = "#[bound(50)] n(?y) :- n(?x), ?y = ?x + 1 ."
    with KnowledgeBase() as kb:
        kb.apply(add="m(1) .", add_rules=rules, algorithm="recursive-counting")
        with pytest.raises(LimitError, match=r"#\[bound\(50\)\] has led to 51 new facts"):
            kb.apply(add="n(1) .", algorithm="recursive-counting")
        assert facts_of(kb.all_facts()) == facts_of([("m", 1)])
