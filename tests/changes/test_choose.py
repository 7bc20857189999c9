"""What `auto` chooses, and why, in one line; a change by each name in turn, on one knowledge base.

asked      change                    algorithm and reason, or what the refusal says
"""

from __future__ import annotations

from typing import Any

import pytest

from tidelog.changes.result import Change
from tidelog.errors import UsageError
from tidelog.knowledge_base import KnowledgeBase

PLAIN = "p(?x) :- e(?x, ?y), e(?y, ?x) ."
CIRCLE = "r(?x, ?y) :- e(?x, ?y) . r(?x, ?z) :- r(?x, ?y), r(?y, ?z) . q(?x) :- r(?x, ?x), ~p(?x) ."
FACTS = "e(a, b) . e(b, a) . e(b, c) ."
MANY = {"e": [(f"n{i}", f"m{i}") for i in range(1500)]}
REST = {"e": [(f"n{i}", f"m{i}") for i in range(1500, 28_500)]}
LITTLE = {"add": "e(c, d) ."}

START = "rematerialise (nothing was derived before)"
SMALL = "bf (a small change)"
RULES = "bf (rules change)"
COUNTED = "counting (counts are kept, and no rule is recursive)"
IN_PART = "counting+bf (counts are kept; recursive strata by bf)"
REFUSED = "counting cannot maintain recursive rules"

HISTORIES = {
    "counts are not taken unless asked for": [
        ("auto", {"add": FACTS, "add_rules": PLAIN}, START),
        ("auto", LITTLE, SMALL),
        ("auto", {"remove": "e(a, b) ."}, SMALL),
    ],
    "counts that are there are used, and stay": [
        ("counting", {"add": FACTS, "add_rules": PLAIN}, "counting (asked for)"),
        ("auto", LITTLE, COUNTED),
        ("auto", {"remove": "e(a, b) ."}, COUNTED),
    ],
    "where rules become recursive, the others are still counted": [
        ("counting", {"add": FACTS, "add_rules": PLAIN}, "counting (asked for)"),
        ("auto", {"add_rules": CIRCLE}, IN_PART),
        ("auto", {"remove": "e(a, b) ."}, IN_PART),
        ("counting", LITTLE, REFUSED),
        ("auto", {"remove_rules": CIRCLE}, IN_PART),
        ("auto", LITTLE, COUNTED),
    ],
    "counting in part can be asked for from the start": [
        ("counting+bf", {"add": FACTS, "add_rules": PLAIN + CIRCLE}, "counting+bf (asked for)"),
        ("auto", LITTLE, IN_PART),
    ],
    "another algorithm drops the counts": [
        ("counting", {"add": FACTS, "add_rules": PLAIN}, "counting (asked for)"),
        ("dred", LITTLE, "dred (asked for)"),
        ("auto", {"remove": "e(a, b) ."}, SMALL),
    ],
    "past the equilibrium everything is computed again": [
        ("counting", {"add": MANY, "add_rules": PLAIN}, "counting (asked for)"),
        ("auto", {"remove": MANY}, "rematerialise (1500 of 1500 explicit facts are removed)"),
        ("auto", LITTLE, SMALL),
    ],
    "rules are not a small change": [
        ("auto", {"add": FACTS, "add_rules": PLAIN}, START),
        ("auto", {"remove_rules": PLAIN, "add_rules": CIRCLE}, RULES),
    ],
    "many facts by dred, if they belong together": [
        ("auto", {"add": MANY, "add_rules": PLAIN}, START),
        ("auto", {"add": REST}, SMALL),
        ("auto", {"remove": MANY}, "dred (1500 of 28500 explicit facts are removed)"),
        ("auto", {"add": MANY}, SMALL),
        ("auto", {"add": {"e": [(f"k{i}", "k") for i in range(3000)]}}, SMALL),
        ("auto", {"remove": MANY}, "dred (1500 of 31500 explicit facts are removed)"),
    ],
    "a name that nobody has": [("magic", LITTLE, "unknown algorithm 'magic'; choose one of: auto, bf, budgeted")],
}


def told(change: Change) -> str:
    return f"{change.algorithm} ({change.reason})"


@pytest.mark.parametrize("steps", HISTORIES.values(), ids=HISTORIES.keys())
def test_choice(steps: list[tuple[str, dict[str, Any], str]]) -> None:
    with KnowledgeBase() as kb:
        for asked, change, expected in steps:
            try:
                found = told(kb.apply(**change, algorithm=asked))
            except UsageError as error:
                found = str(error)[: len(expected)]
            assert found == expected
