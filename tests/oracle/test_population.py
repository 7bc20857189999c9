"""The random programs and histories are not boring: shares of each feature that the generators must keep up."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.features import features
from tests.oracle.histories import RandomHistory, random_history
from tests.oracle.programs import random_program
from tests.oracle.removals import removal_features

PROGRAMS, HISTORIES = 500, 100

PROGRAM_QUOTAS = {
    "recursive": 0.6,
    "recursion adds": 0.2,
    "non-linear recursion": 0.3,
    "mutual recursion": 0.15,
    "negation": 0.6,
    "negation blocks": 0.2,
    "existential negation": 0.4,
    "existential variable repeated": 0.02,
    "aggregate": 0.35,
    "aggregate has a value": 0.2,
    "count": 0.2,
    "sum": 0.05,
    "min": 0.05,
    "max": 0.05,
    "several heads": 0.3,
    "product": 0.3,
    "triple": 0.25,
    "variable predicate": 0.15,
    "stratified by constants": 0.05,
    "repeated variable": 0.5,
    "constant in head": 0.5,
    "constant in body": 0.5,
    "wildcard": 0.5,
    "comparison": 0.5,
    "arithmetic": 0.2,
    "no arguments": 0.15,
    "four arguments": 0.15,
    "derives": 0.75,
    "derives ten": 0.25,
    "several derivations": 0.45,
    "explicit and derivable": 0.2,
    "empty relation": 0.3,
    "unused predicate": 0.15,
}
REMOVAL_QUOTAS = {"another derivation": 0.3, "cyclic support": 0.15, "explicit and derivable": 0.1}
RULE_CHANGES = 0.1


def test_programs_have_every_feature_often_enough() -> None:
    counts = Counter(feature for seed in range(PROGRAMS) for feature in features(random_program(seed)))
    shares = {feature: counts[feature] / PROGRAMS for feature in PROGRAM_QUOTAS}
    too_few = {f: (share, PROGRAM_QUOTAS[f]) for f, share in shares.items() if share < PROGRAM_QUOTAS[f]}
    assert not too_few, f"feature: (share, quota) {too_few}"
    assert counts.keys() <= PROGRAM_QUOTAS.keys(), "a feature without a quota"


@pytest.fixture(scope="module")
def histories() -> list[RandomHistory]:
    return [random_history(seed) for seed in range(HISTORIES)]


def test_removals_are_often_hard(histories: list[RandomHistory]) -> None:
    counts: Counter[str] = Counter()
    removals = 0
    for history in histories:
        for before, step, after in zip(history.states, history.steps, history.states[1:], strict=False):
            for fact in step.remove & before.facts:
                removals += 1
                counts.update(removal_features(before, fact, after.model))
    assert removals > 5 * HISTORIES
    too_few = {f: counts[f] / removals for f, quota in REMOVAL_QUOTAS.items() if counts[f] < quota * removals}
    assert not too_few, f"too seldom: {too_few}"


def test_steps_often_change_rules(histories: list[RandomHistory]) -> None:
    steps = [step for history in histories for step in history.steps]
    assert sum(bool(s.add_rules) for s in steps) >= RULE_CHANGES * len(steps)
    assert sum(bool(s.remove_rules) for s in steps) >= RULE_CHANGES * len(steps)


def test_a_seed_replays() -> None:
    assert random_program(7) == random_program(7) != random_program(8)
    assert random_history(7) == random_history(7)
