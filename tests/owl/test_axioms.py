"""Each kind of axiom: what its rules give, exactly, and the same from rules that read the ontology as data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rdflib import Graph

from tests.owl.cases import Case, Closure, by_owlrl, by_rule_set, compiled, read_cases, together

CASES = list(read_cases(Path(__file__).with_name("axioms.txt")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rules_give_exactly_this(case: Case) -> None:
    rules, found, clashes = compiled(case.graph("ontology"), case.graph("data"))
    assert found == case.expected(), f"\n{rules}"
    wanted = case.fields.get("clash", "0")
    assert clashes > 0 if wanted == "yes" else clashes == int(wanted), f"\n{rules}"
    assert len(rules.outside) == int(case.fields.get("outside", "0")), "\n".join(map(str, rules.outside))


def check_against(closure: Callable[[Graph], Closure], differs: set[str]) -> None:
    """Cases without a contradiction together, for speed; the others alone: messages do not say whose they are."""
    cases = [case for case in CASES if not differs & set(case.fields)]
    assert len(cases) > len(CASES) - 10
    consistent = {number: case for number, case in enumerate(cases) if "clash" not in case.fields}
    found = closure(together(consistent))
    assert not found.contradictions
    for number, case in consistent.items():
        assert found.of(number) == case.expected(), case.name
    for case in cases:
        if "clash" in case.fields:
            alone = closure(together({0: case}))
            assert alone.of(0) == case.expected(), case.name
            assert alone.contradictions, case.name


def test_same_as_owlrl() -> None:
    check_against(by_owlrl, {"differs", "owlrl"})


@pytest.mark.usefixtures("long_tier")
def test_same_as_the_rule_set() -> None:
    check_against(by_rule_set, {"differs"})


def test_names_of_cases_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
