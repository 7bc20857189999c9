"""Maintenance programs of random programs: as ordinary programs, changed rule by rule, printed and read back."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.algorithms.declarative_dred.running import differences, run, split, state
from tests.oracle.histories import State, random_history
from tests.oracle.programs import random_program
from tests.project.documents import ROOT, blocks
from tests.reference.engine import ReferenceEngine
from tests.reference.selection import selection
from tidelog.algebra.engine import Work
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import RuleChange, Update
from tidelog.errors import RuleError
from tidelog.model.terms import TRIPLE
from tidelog.rules.maintenance_rules import MINUS, PLUS, MaintenanceRules, format_maintenance, maintenance_program
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.printer import format_rule

ANCESTOR = "ancestor(?x, ?y) :- parent(?x, ?y) . ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) ."


# 9 is stratified only by the numbers in its atoms, which make no split points.
@pytest.mark.parametrize("seed", [seed for seed in range(10) if seed != 9])
def test_the_printed_program_computes_the_change(seed: int) -> None:
    """Facts and rules change together. Triples are split where the rules have constants, as negation may need it."""
    states = random_history(seed).states
    part = selection([rule for s in states for rule in s.rules], TRIPLE, 1)
    for before, after in pairwise(states):
        old, new = (split(part, before), split(part, after)) if part else (before, after)
        assert {f for f in new.model if not f.predicate.startswith(f"{TRIPLE}^")} == after.model
        found = run(old, new, views={TRIPLE} if part else ())
        expected = differences(old, new, found.derived)
        assert {mark: found[mark] for mark in expected} == expected


@pytest.mark.parametrize("seed", range(10))
def test_every_step_of_a_history_on_the_reference_engine(seed: int) -> None:
    engine = ReferenceEngine()
    for before, after in pairwise(random_history(seed).states):
        removed, added = (engine.fact_set(f) for f in (before.facts - after.facts, after.facts - before.facts))
        program = RuleChange(before.rules, after.rules)
        E, I = engine.fact_set(after.facts), engine.fact_set(before.model)
        outcome = ALGORITHMS["declarative"](Update(engine, program, E, I, removed, added, Work()))
        assert set(outcome.I) == after.model
        assert set(outcome.added) == after.model - before.model
        assert set(outcome.removed) == before.model - after.model


@pytest.mark.parametrize("seed", range(80))
def test_a_rule_brings_and_takes_what_it_contributes(seed: int) -> None:
    """Algorithm 1: after each change the rules are those of the program as it is then."""
    rules = list({r.key: r for r in random_program(seed).rules}.values())
    program = MaintenanceRules(rules[:3])
    for rule in rules[3:]:
        before = set(program.rules())
        brought = program.add(rule)
        assert before.isdisjoint(brought)
        assert before.union(brought) == set(program.rules())
    assert set(program.rules()) == set(maintenance_program(rules))
    for number, rule in enumerate(rules):
        before, taken = set(program.rules()), set(program.remove(rule))
        assert taken <= before
        assert before - taken == set(program.rules()) == set(maintenance_program(rules[number + 1 :]))


def test_what_the_last_rule_takes() -> None:
    first, second = parse_rules(ANCESTOR)
    program = MaintenanceRules([first, second])
    assert len(program.remove(first)) == 3
    assert len(program.remove(second)) == 5 + 8
    assert program.rules() == []
    assert program.remove(second) == []


@pytest.mark.parametrize("seed", range(80))
def test_the_program_parses_back(seed: int) -> None:
    rules = random_program(seed).rules
    assert set(parse_rules(format_maintenance(rules))) == set(maintenance_program(rules))


COMPUTED = [
    ("p(?y) :- q(?x), ?y = ?x + 1 .", "<p^Red>(?_1) :- <p^Del>(?_1), <q^New>(?x), ?_1 = ?x + 1 ."),
    ("p(?x), r(?x) :- q(?x, _) .", "<p^Red>(?x) :- <p^Del>(?x), <q^New>(?x, _) ."),
    ("p(?x) :- q(?x), ~r(?x, _) .", "<p^Del>(?x) :- <r^Plus>(?x, ?_2), q(?x), ~r(?x, ?_1) ."),
    ("p(?x) :- q(?x), ~r(?x) .", "<p^Ins>(?x) :- <r^Minus>(?x), <q^New>(?x), ~<r^New>(?x) ."),
    ("p(?x) :- q(?x), ?y = ?x + 1, ~r(?y) .", "<p^Del>(?x) :- <r^Plus>(?_1), q(?x), ?_1 = ?x + 1, ~r(?_1) ."),
    ("n(#count(?x)) :- q(?x) .", "<n^Temp>(#count(?x)) :- <q^New>(?x) ."),
]


@pytest.mark.parametrize(("rule", "expected"), COMPUTED)
def test_rules_beyond_the_paper(rule: str, expected: str) -> None:
    assert expected in map(format_rule, maintenance_program(parse_rules(rule)))


# Rules, facts, and what then is removed, gone and new.
BEYOND = {
    "an aggregate still gives what was asserted too": (
        "n(#count(?x)) :- q(?x) .",
        "q(1) . q(5) . n(2) .",
        "n(2) .",
        "",
        "",
    ),
    "a group shrinks": ("n(#count(?x)) :- q(?x) .", "q(1) . q(5) .", "q(5) .", "n(2) .", "n(1) ."),
    "what is negated goes": ("p(?x) :- q(?x), ~r(?x, _) .", "q(1) . r(1, 2) .", "r(1, 2) .", "", "p(1) ."),
    "one of two matches of what is negated goes": (
        "p(?x) :- q(?x), ~r(?x, _) .",
        "q(1) . r(1, 2) . r(1, 3) .",
        "r(1, 2) .",
        "",
        "",
    ),
}


@pytest.mark.parametrize("case", BEYOND)
def test_changes_beyond_the_paper(case: str) -> None:
    rules, facts, removed, gone, new = BEYOND[case]
    before = state(rules, facts)
    found = run(before, State.of(before.facts - set(parse_facts(removed)), before.rules))
    assert found[MINUS] == set(parse_facts(gone))
    assert found[PLUS] == set(parse_facts(new))


def test_a_program_with_the_name_of_a_maintenance_predicate_is_refused() -> None:
    (rule,) = parse_rules("p(?x) :- <q^Del>(?x) .")
    with pytest.raises(RuleError, match=r"<text>:1:1: the predicate <q\^Del> .* of q; rename it"):
        maintenance_program([rule])


def test_constraints_contribute_nothing() -> None:
    assert maintenance_program(parse_rules(":- p(?x, ?x) .")) == []


def test_the_documented_program() -> None:
    (shown,) = blocks(ROOT / "docs" / "declarative.md", "prolog")
    assert shown == format_maintenance(parse_rules(ANCESTOR))
