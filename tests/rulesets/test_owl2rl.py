"""Each rule of the OWL 2 RL profile: what follows by it, what does not, and what it reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.rulesets.cases import Case, cases, closure, turtle
from tidelog import rulesets

CASES = cases("owl2rl.txt")

# The rules in the tables of the W3C profile; with an exclamation mark those that conclude false.
TABLES = """
    eq-ref eq-sym eq-trans eq-rep-s eq-rep-p eq-rep-o eq-diff1! eq-diff2! eq-diff3!
    prp-ap prp-dom prp-rng prp-fp prp-ifp prp-irp! prp-symp prp-asyp! prp-trp prp-spo1 prp-spo2 prp-eqp1 prp-eqp2 prp-pdw!
    prp-adp! prp-inv1 prp-inv2 prp-key prp-npa1! prp-npa2!
    cls-thing cls-nothing1 cls-nothing2! cls-int1 cls-int2 cls-uni cls-com! cls-svf1 cls-svf2 cls-avf cls-hv1 cls-hv2
    cls-maxc1! cls-maxc2 cls-maxqc1! cls-maxqc2! cls-maxqc3 cls-maxqc4 cls-oo
    cax-sco cax-eqc1 cax-eqc2 cax-dw! cax-adc!
    dt-type1 dt-type2 dt-eq dt-diff dt-not-type!
    scm-cls scm-sco scm-eqc1 scm-eqc2 scm-op scm-dp scm-spo scm-eqp1 scm-eqp2 scm-dom1 scm-dom2 scm-rng1 scm-rng2 scm-hv
    scm-svf1 scm-svf2 scm-avf1 scm-avf2 scm-int scm-uni
""".split()
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
