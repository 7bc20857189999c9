"""How far an overdeletion goes decides which algorithm completes a large change."""

from __future__ import annotations

from typing import Any

import pytest

from tidelog.knowledge_base import KnowledgeBase

TEAMS, SIZE, LONG = 60, 10, 20
RULES = """
    manned(?t) :- works(?x, ?t) .
    firm(all) :- manned(?t) .
    closed(?t) :- team(?t), ~manned(?t) .
    before(?x, ?y) :- next(?x, ?y) .
    before(?x, ?z) :- before(?x, ?y), next(?y, ?z) .
    last(?y) :- next(?x, ?y), ~goes_on(?y) .
    goes_on(?x) :- before(?x, ?y) .
"""
RULE = "known(?t) :- team(?t) ."
WORKS = [(f"p{t}_{i}", f"t{t}") for t in range(TEAMS) for i in range(SIZE)]
FACTS = {
    "team": [(f"t{t}",) for t in range(TEAMS)],
    "works": WORKS,
    "next": [(f"n{i}", f"n{i + far}") for i in range(LONG) for far in (1, 2)],
}
TEAM = {"works": WORKS[: 6 * SIZE]}  # six teams, with all that follows
STEP = {"next": [("n10", "n11")]}  # half of all pairs could depend on it, but one can skip a step

CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "teams of which nothing stays": ("dred+bf", {"remove": TEAM}, "dred"),
    "what follows has other proofs": ("dred+bf", {"remove": STEP}, "bf"),
    "past the equilibrium": ("dred+rematerialise", {"remove": STEP}, "rematerialise"),
    "a rule with consequences of its own": ("dred+rematerialise", {"remove_rules": RULE}, "dred"),
}


@pytest.mark.parametrize(("algorithm", "change", "by"), CASES.values(), ids=CASES.keys())
def test_overdeletion_decides(algorithm: str, change: dict[str, Any], by: str) -> None:
    with KnowledgeBase() as kb:
        kb.apply(add=FACTS, add_rules=RULES + RULE)
        expected = kb.preview(**change, algorithm="rematerialise")
        found = kb.preview(**change, algorithm=algorithm)
        assert (set(found.added), set(found.removed)) == (set(expected.added), set(expected.removed))
        assert ("C" in found.work.counters) == (by == "bf")
        assert (found.work.derivations >= expected.work.derivations) == (by == "rematerialise")
