"""After every step of a random history the materialisation is the least model, whichever algorithm made the step.

`--long` runs 100,000 histories instead of 1,000; `python -m tests.oracle` runs any part of them.
"""

from __future__ import annotations

import pytest

from tests.oracle.histories import Step, random_history
from tests.oracle.replay import EMPTY, compare, is_recursive, replay_seed
from tests.oracle.ways import facts_of
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.knowledge_base import KnowledgeBase
from tidelog.rules.printer import format_fact

HISTORIES, LONG = 1_000, 100_000
IN_PUBLIC = 20
DIFFERED = (7690, 61156)  # beyond the first thousand, and wrong once
CHUNK = 10


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        count = LONG if metafunc.config.getoption("long") else HISTORIES
        chunks = [range(start, start + CHUNK) for start in range(0, count, CHUNK)]
        chunks += [range(seed, seed + 1) for seed in DIFFERED]
        metafunc.parametrize("seeds", chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


def test_every_algorithm_makes_every_step(seeds: range) -> None:
    for seed in seeds:
        replay_seed(seed)


@pytest.mark.parametrize("seed", range(IN_PUBLIC))
def test_through_the_public_interface(seed: int) -> None:
    """The algorithms take turns, with `auto` after each; counting leaves its turn to it where rules are recursive."""
    history, before = random_history(seed), EMPTY
    first = Step(history.states[0].facts, frozenset(), history.states[0].rules)
    names = [name for algorithm in ALGORITHMS for name in (algorithm, "auto")]
    with KnowledgeBase() as kb:
        for number, (step, after) in enumerate(zip((first, *history.steps), history.states, strict=True), start=seed):
            name = names[number % len(names)]
            if name == "counting" and (is_recursive(before) or is_recursive(after)):
                name = names[(number + 1) % len(names)]
            change = kb.apply(
                add="\n".join(map(format_fact, sorted(step.add))),
                remove="\n".join(map(format_fact, sorted(step.remove))),
                add_rules=list(step.add_rules),
                remove_rules=list(step.remove_rules),
                algorithm=name,
            )
            found = map(facts_of, (kb.all_facts(), change.added, change.removed))
            compare(f"random_history({seed}), {name}", before, after, *found)
            assert facts_of(kb.all_facts("explicit")) == after.facts
            before = after
