"""Memory: joins larger than a block give the same facts, and what cannot fit is refused before it is allocated."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tidelog
from tidelog.kernel.budget import resident_bytes
from tidelog.knowledge_base import KnowledgeBase
from tidelog.settings import Settings

ROOMY = Settings.from_environment({"TIDELOG_MEMORY": "8GB", "TIDELOG_THREADS": "2"})
PRODUCT = "#[cartesian] pair(?x, ?y) :- left(?x), right(?y) ."
REACH = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


def numbers(count: int) -> list[tuple[int]]:
    return [(i,) for i in range(count)]


def test_blocks_give_the_same_facts() -> None:
    edges = [(i, (i * 7 + k) % 300) for i in range(300) for k in range(4)]
    small, large = KnowledgeBase(replace(ROOMY, block_bytes=1)), KnowledgeBase(ROOMY)
    for kb in (small, large):
        kb.apply(add={"edge": edges}, add_rules=REACH)
    assert set(small.facts("reach")) == set(large.facts("reach"))
    assert len(small.facts("reach")) == 300 * 300


def test_a_product_over_the_budget_is_refused_and_nothing_is_changed() -> None:
    tight = KnowledgeBase(replace(ROOMY, memory_budget=resident_bytes() + 200_000_000))
    tight.apply(add={"left": numbers(20_000), "right": numbers(20_000)})
    with pytest.raises(tidelog.LimitError, match=r"holding more facts of pair needs .* the memory budget is"):
        tight.apply(add_rules=PRODUCT)
    assert tight.version == 1
    assert tight.rules == ()
    assert len(tight.query("left(?x), ?x < 3")) == 3


def test_refusing_takes_no_more_memory_than_the_budget() -> None:
    before = resident_bytes()
    budget = 150_000_000
    tight = KnowledgeBase(replace(ROOMY, memory_budget=before + budget, threads=1))
    tight.apply(add={"left": numbers(20_000), "right": numbers(20_000)})
    with pytest.raises(tidelog.LimitError):
        tight.apply(add_rules=PRODUCT)
    assert resident_bytes() - before < budget + 64_000_000


def test_a_product_that_is_filtered_runs_in_blocks() -> None:
    kb = KnowledgeBase(replace(ROOMY, block_bytes=1_000_000))
    kb.apply(add={"left": numbers(1500), "right": numbers(1500)})
    change = kb.apply(add_rules="#[cartesian] same(?x) :- left(?x), right(?y), ?x = ?y, ?x < 5 .")
    assert sorted(kb.facts("same")) == [(i,) for i in range(5)]
    assert change.work.derivations == 5


def test_a_bounded_recursion_that_passes_its_bound_is_refused() -> None:
    kb = tidelog.open()
    kb.apply(add="n(0) .")
    with pytest.raises(tidelog.LimitError, match=r"#\[bound\(10\)\] has led to 11 new facts"):
        kb.apply(add_rules="#[bound(10)] n(?x + 1) :- n(?x) .")
    assert len(kb.facts("n")) == 1
    kb.apply(add_rules="#[bound(10)] n(?x + 1) :- n(?x), ?x < 10 .")
    assert len(kb.facts("n")) == 11


def test_a_rule_added_again_with_another_bound_has_that_bound() -> None:
    kb = tidelog.open()
    kb.apply(add="n(0) .", add_rules="#[bound(10)] n(?x + 1) :- n(?x), ?x < 10 .")
    kb.apply(add_rules="#[bound(2)] n(?y + 1) :- n(?y), ?y < 10 .")
    assert [r.bound for r in kb.rules] == [2]
    with pytest.raises(tidelog.LimitError):
        kb.apply(add="n(-5) .")


def test_a_query_over_the_budget_is_refused_and_the_next_one_works() -> None:
    tight = KnowledgeBase(replace(ROOMY, memory_budget=resident_bytes() + 200_000_000))
    tight.apply(add={"left": numbers(20_000), "right": numbers(20_000)})
    with pytest.raises(tidelog.LimitError, match="the memory budget is"):
        tight.query("left(?x), right(?y)")
    assert len(tight.query("left(?x), right(?x), ?x < 10")) == 10


def test_an_answer_in_many_blocks_has_each_row_once() -> None:
    kb = KnowledgeBase(replace(ROOMY, block_bytes=1))
    kb.apply(add={"edge": [(i % 70, i % 90) for i in range(630)]})
    assert sorted(kb.query("edge(?x, ?y), edge(?z, ?y)")) == sorted(
        {(x, y, z) for x in range(70) for z in range(70) for y in range(90) if (x - y) % 10 == 0 == (z - y) % 10}
    )
    assert list(kb.query("edge(_, _)")) == [()]
    assert list(kb.query("edge(?x, 1000)")) == []
