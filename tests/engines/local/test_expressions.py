"""Conditions on terms as such, which the local engine answers for whole columns: the same as one by one."""

from __future__ import annotations

import pytest

from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact
from tidelog.rules.parsing.parser import parse_facts, parse_rules

TERMS = [
    "a",
    "<http://example.org/a>",
    "_:a",
    '"a"',
    '""',
    '"é"@fr',
    "1",
    '"01"^^xsd:integer',
    '"x"^^xsd:integer',
    '"<a>"',
    '"x"^^a',
    "1.0",
]
CONDITIONS = [
    "SAMETERM(?x, ?y)",
    "NOT(SAMETERM(?x, ?y))",
    "SAMETERM(?x, 1)",
    "SAMETERM(CANONICAL(?x), CANONICAL(?y))",
    "NOT(SAMETERM(CANONICAL(?x), ?y))",
    "isLiteral(?x)",
    "NOT(isLiteral(?x))",
    "isTyped(?x)",
    "NOT(isTyped(?x))",
    "NOT(isIllTyped(?x))",
    "isLiteral(CANONICAL(?x))",
    "?x = ?y",
    "?x != ?y",
    "?x = 1",
]
FACTS = parse_facts(" ".join(f"p({x}, {y}) ." for x in TERMS for y in TERMS))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_condition(condition: str) -> None:
    (rule,) = parse_rules(f"q(?x, ?y) :- p(?x, ?y), {condition} .")
    local, reference = LocalEngine(), ReferenceEngine()
    expected = set(reference.derive([all_from(rule, reference.fact_set(FACTS))], Work()))
    assert set(local.derive([all_from(rule, local.fact_set(FACTS))], Work())) == expected
    assert 0 < len(expected) < len(FACTS)


def test_terms_that_arrive_later() -> None:
    """What was learnt about older terms stays, and new ones are looked at."""
    engine = LocalEngine()
    (rule,) = parse_rules("q(?x) :- p(?x), isLiteral(?x) .")
    for round_ in range(3):
        facts = parse_facts(" ".join(f'p(n{i}) . p("s{i}") .' for i in range(100 * round_, 100 * round_ + 300)))
        found = set(engine.derive([all_from(rule, engine.fact_set(facts))], Work()))
        assert found == {Fact("q", fact.args) for fact in facts if fact.args[0][0] == '"'}
