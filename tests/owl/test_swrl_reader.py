"""SWRL rules: what they give, how they print, and the errors of what cannot be run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rdflib import Graph

import tidelog
from tests.owl.cases import Case, compiled, read_cases, turtle
from tidelog.owl.swrl_reader import BUILTINS
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.parsing.terms import call_problem
from tidelog.rules.syntax import Call, Expression, Variable

CASES = list(read_cases(Path(__file__).with_name("swrl.txt")))
GOOD, BAD = ([c for c in CASES if ("error" in c.fields) == wrong] for wrong in (False, True))


def schema(case: Case) -> Graph:
    """The ontology, in which every v: is a variable."""
    text = case.fields["ontology"]
    variables = "".join(f"{name} a swrl:Variable .\n" for name in sorted(set(re.findall(r"\bv:\w+", text))))
    return turtle(variables + text)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_rules_give_exactly_this(case: Case) -> None:
    rules, found, clashes = compiled(schema(case), case.graph("data"))
    assert found == case.expected(), f"\n{rules}"
    assert clashes == int(case.fields.get("clash", "0"))
    assert "text" not in case.fields or case.fields["text"].strip() == (rules[0].name or "").strip()
    assert parse_rules(str(rules)) == list(rules)
    assert not rules.outside


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_errors_name_the_rule_and_the_atom(case: Case) -> None:
    with pytest.raises(tidelog.RuleError, match=case.fields["error"]):
        tidelog.ontology(schema(case))


@pytest.mark.parametrize("name", BUILTINS)
def test_every_builtin_calls_a_function_as_it_is_defined(name: str) -> None:
    builtin = BUILTINS[name]
    for count in {builtin.least, builtin.most or builtin.least + 3}:
        args = [Variable(f"v{n}") for n in range(count)]
        for call in calls(builtin.compute(*args)):
            assert call_problem(call.function, len(call.args)) is None


def calls(expression: Expression) -> list[Call]:
    if not isinstance(expression, Call):
        return []
    return [expression, *(call for arg in expression.args for call in calls(arg))]
