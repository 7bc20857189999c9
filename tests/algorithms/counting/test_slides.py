"""The counting slides, DynamiTE's figure and more, step by step: the counts after every step, as data.

algorithm   counting                          or recursive-counting
rules       C0(?x) :- A(?x) .                 all that a case starts with
add         A(a) .                            a step; also: remove, add rules, remove rules,
                                              change rules (old | new), refused (facts that cannot be added)
counts      A(a) 1   C0(a) 1                  after it; with `|` between the iterations of recursive counting
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.algorithms.counting.recount import derivations
from tests.oracle.ways import facts_of
from tidelog.algorithms import counting, recursive_counting
from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts, parse_rules

Case = list[tuple[str, str]]
Counts = list[dict[Fact, int]]

TEXT = (Path(__file__).parent / "slides.txt").read_text(encoding="utf-8")


def cases() -> Iterator[tuple[str, Case]]:
    for text in TEXT.strip().split("\n\n"):
        title, _, body = text.partition("\n")
        lines = re.sub(r"\n +", " ", body).splitlines()
        steps = [re.match(r"(\S+(?: \S+)?)(?:  +(.*))?$", line) for line in lines]
        yield title.removeprefix("# "), [(m[1], m[2] or "") for m in steps if m]


def written(text: str) -> Counts:
    """`A(a) 1   B(a) 2 | A(a) 1`: the counts of each iteration."""
    pairs = [re.findall(r"(\S+\(.*?\)) (\d+)", part) for part in text.split("|")]
    return [{_fact(fact): int(count) for fact, count in part} for part in pairs]


def _fact(text: str) -> Fact:
    (fact,) = parse_facts(f"{text} .")
    return fact


def kept_by(kb: KnowledgeBase) -> Counts:
    kept = kb._state.algorithm_state
    if isinstance(kept, counting.DerivationCounts):
        return [dict(kept.counts)]
    assert isinstance(kept, recursive_counting.IterationCounts)
    layers = [counters.iterations[1:] for counters in kept.layers if counters.rules]
    return [dict(i.T) for iterations in layers for i in iterations] or [{}]


def take(kb: KnowledgeBase, step: str, text: str, algorithm: str) -> None:
    if step == "counts":
        assert kept_by(kb) == written(text)
        derived = {fact for iteration in written(text) for fact in iteration}
        assert facts_of(kb.all_facts()) == derived | facts_of(kb.all_facts("explicit"))
    elif step == "refused":
        with pytest.raises(UsageError, match=r"C0\(\?x\) :- C2\(\?x\)"):
            kb.apply(add=text, algorithm=algorithm)
    elif step.startswith("change"):
        old, _, new = text.partition("|")
        what = step.removeprefix("change").replace(" ", "_")
        change: dict[str, Any] = {f"remove{what}": old, f"add{what}": new}
        kb.apply(**change, algorithm=algorithm)
    else:
        change = {step.replace(" ", "_"): text}
        kb.apply(**change, algorithm=algorithm)


CASES = dict(cases())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_step_by_step(case: Case) -> None:
    (_, algorithm), (_, rules), *steps = case
    with KnowledgeBase() as kb:
        kb.apply(add_rules=rules, algorithm="rematerialise")
        for step, text in steps:
            take(kb, step, text, algorithm)


def test_a_plain_count_of_the_circle_does_not_reach_zero() -> None:
    """Why it is refused: without A(a) and B(a), the circle of C's still derives each of its facts once."""
    rules = parse_rules("C0(?x) :- A(?x) . C1(?x) :- C0(?x) . C2(?x) :- C1(?x) . C0(?x) :- C2(?x) .")
    garbage = parse_facts("C0(a) . C1(a) . C2(a) .")
    assert derivations(rules, (), garbage) == dict.fromkeys(garbage, 1)
