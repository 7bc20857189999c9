"""Each rule of the OWL 2 RL profile: what follows by it, what does not, and what it reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.rulesets.cases import Case, cases, closure, turtle
from tidelog import rulesets

CASES = cases("owl2rl.txt")

# The rules in the tables of the W3C profile; with an exclamation mark those that conclude false.
TABLES = (Path(__file__).parent / "tables.txt").read_text(encoding="utf-8").split()
NAMES = {name.rstrip("!") for name in TABLES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    found, reported = closure(rulesets.owl2rl(**case.options), turtle(case.premises))
    assert case.triples("follows") - found == frozenset()
    assert case.triples("not") & found == frozenset()
    assert reported == case.words("false")


@pytest.mark.parametrize("case", [c for c in CASES if "follows" in c.sections], ids=str)
def test_only_by_this_rule(case: Case) -> None:
    """Without the rule (and those that come to the same) at least one conclusion is missing: the case can fail."""
    without = set(case.words("without") or [case.rule])
    rules = rulesets.owl2rl(**case.options)
    fewer = replace(rules, rules=tuple(r for r in rules if r.name not in without))
    found, _ = closure(fewer, turtle(case.premises))
    assert case.triples("follows") - found


def test_every_rule_of_the_tables_is_there() -> None:
    everything = rulesets.owl2rl(reflexive=True, literals=True)
    assert {rule.name for rule in everything} == NAMES | {"list"}
    constraints = {rule.name for rule in everything if rule.is_constraint}
    assert constraints == {name.rstrip("!") for name in TABLES if name.endswith("!")} | {"dt-diff"}
    assert all(rule.report for rule in everything if rule.is_constraint)


def test_every_rule_has_cases_for_and_against() -> None:
    positive = {c.rule for c in CASES if "follows" in c.sections or c.words("false")}
    negative = {c.rule for c in CASES if "not" in c.sections or not c.words("false")}
    assert positive == negative == NAMES


@pytest.mark.parametrize("name", rulesets.NAMES)
def test_no_rule_twice(name: str) -> None:
    """A rule set can be removed again: each of its rules is another one."""
    keys = [rule.key for rule in rulesets.get(name)]
    assert len(keys) == len(set(keys))


def test_the_complete_profile_has_all_options() -> None:
    assert rulesets.owl2rl(complete=True) == rulesets.owl2rl(reflexive=True, datatypes=True, literals=True)
    assert rulesets.get("owl2rl", complete=True, datatypes=False) == rulesets.owl2rl(complete=True)


ILL_TYPED = [
    '"1e400"^^xsd:double',
    '"-1e400"^^xsd:double',
    '"1e39"^^xsd:float',
    '"-3.5e38"^^xsd:float',
    '"http://example.org/%zz"^^xsd:anyURI',
    '"http://[example"^^xsd:anyURI',
    '"1:2"^^xsd:anyURI',
    '":a"^^xsd:anyURI',
    '"http://a:b/"^^xsd:anyURI',
    '"a#b#c"^^xsd:anyURI',
    '"chat@fr_FR"^^rdf:PlainLiteral',
    '"chat@123456789"^^rdf:PlainLiteral',
]
WELL_TYPED = [
    '"1e308"^^xsd:double',
    '"INF"^^xsd:double',
    '"-INF"^^xsd:float',
    '"NaN"^^xsd:float',
    '"3.4e38"^^xsd:float',
    '"1e-400"^^xsd:double',
    '"http://user@example.org:80/a/b;c?d=e&f#g"^^xsd:anyURI',
    '"http://[::1]:80/"^^xsd:anyURI',
    '"urn:isbn:12"^^xsd:anyURI',
    '"mailto:ann@example.org"^^xsd:anyURI',
    '"a/b:c"^^xsd:anyURI',
    '"../é%20?x:y"^^xsd:anyURI',
    '""^^xsd:anyURI',
    '"#a"^^xsd:anyURI',
    '"chat@fr-FR"^^rdf:PlainLiteral',
    '"chat@"^^rdf:PlainLiteral',
    '"a@b@en"^^rdf:PlainLiteral',
]


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("text", ILL_TYPED + WELL_TYPED)
def test_literals_without_a_value_are_reported(text: str, complete: bool) -> None:
    _, reported = closure(rulesets.owl2rl(complete=complete), turtle(f":a :p {text} ."))
    assert reported == (["dt-not-type"] if text in ILL_TYPED else [])
