"""Equality as rules, or by rewriting with the rules left out: the same about the data."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tests.owl.cases import Case, about_data, facts, read_cases, turtle, without_reflexive
from tidelog.model.terms import TRIPLE, to_term

CASES = [
    case for case in read_cases(Path(__file__).with_name("axioms.txt")) if "sameAs" in case.fields.get("gives", "")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rewriting_gives_the_same(case: Case) -> None:
    rules = tidelog.ontology(case.graph("ontology"), equality="none")
    with tidelog.open(equality="rewriting") as kb:
        kb.apply(add=[*rules.facts, *facts(case.graph("data"))], add_rules=rules)
        found = about_data((to_term(s), to_term(p), to_term(o)) for s, p, o in kb.facts(TRIPLE))
        assert without_reflexive(found) == case.expected()
        assert bool(kb.inconsistencies()) == ("clash" in case.fields)


def test_cases_are_not_few() -> None:
    assert len(CASES) >= 10


def test_an_equality_that_goes_takes_its_consequences_along() -> None:
    rules = tidelog.ontology(turtle(":p a owl:FunctionalProperty, owl:ObjectProperty ."))
    data = facts(turtle("i:x :p i:y, i:z . i:y a :A ."))
    with tidelog.open() as kb:
        kb.apply(add=data, add_rules=rules)
        assert len(kb.query("[?x, rdf:type, <http://example.org/o#A>]")) == 2
        kb.apply(remove=[fact for fact in data if fact.args[2].endswith("#z>")])
        assert len(kb.query("[?x, rdf:type, <http://example.org/o#A>]")) == 1
