"""Rules of one shape run as one: same facts and same derivations as each for itself."""

from __future__ import annotations

import random

import pytest

from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import all_from
from tidelog.algorithms.semi_naive import materialise
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.rule_grouping import CONSTANTS
from tidelog.model.terms import RDF_TYPE, TRIPLE, Fact, bare
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Rule

CLASSES, NAMES = [f"c{i}" for i in range(8)], [bare(f"n{i}") for i in range(10)]


def random_rules(rng: random.Random) -> list[Rule]:
    """A taxonomy, domains, ranges and classes defined by two others, with variables named at will."""
    lines = []
    for _ in range(12):
        a, b, c = (rng.choice(CLASSES) for _ in range(3))
        x, y = rng.choice([("x", "y"), ("y", "x"), ("u", "v")])
        lines += [
            f"[?{x}, rdf:type, {a}] :- [?{x}, rdf:type, {b}] .",
            f"[?{x}, rdf:type, {a}] :- [?{x}, p, ?{y}], [?{y}, rdf:type, {b}] .",
            f"[?{y}, rdf:type, {a}] :- [?{x}, q, ?{y}] .",
            f"[?{x}, rdf:type, {a}], marked(?{x}, {b}) :- [?{x}, rdf:type, {b}], [?{x}, rdf:type, {c}], ?{x} != n9 .",
            f"linked(?{x}, {a}) :- linked(?{x}, {b}), [?{x}, rdf:type, {c}] .",
        ]
    return list({r.key: r for r in parse_rules("\n".join(lines))}.values())


def random_facts(rng: random.Random) -> list[Fact]:
    types = [Fact(TRIPLE, (rng.choice(NAMES), bare(RDF_TYPE[1:-1]), bare(rng.choice(CLASSES)))) for _ in range(6)]
    edges = [Fact(TRIPLE, (rng.choice(NAMES), bare(p), rng.choice(NAMES))) for p in "pq" for _ in range(6)]
    return [*types, *edges, Fact("linked", (rng.choice(NAMES), bare(rng.choice(CLASSES))))]


@pytest.mark.parametrize("seed", range(15))
def test_same_facts_and_same_number_of_derivations(seed: int) -> None:
    rng = random.Random(seed)
    strata, facts = stratify(random_rules(rng)), random_facts(rng)
    local, reference = LocalEngine(), ReferenceEngine()
    local_work, reference_work = Work(), Work()
    found = materialise(local, strata, local.fact_set(facts), local_work)
    expected = materialise(reference, strata, reference.fact_set(facts), reference_work)
    assert set(found) == set(expected)
    assert local_work.derivations == reference_work.derivations


def test_many_rules_become_few() -> None:
    rng = random.Random(1)
    engine = LocalEngine()
    facts = engine.fact_set(random_facts(rng))
    rules = random_rules(rng)
    united = engine._grouping.grouped([all_from(r, facts) for r in rules])
    assert len(rules) > 40
    assert len(united) <= 5
    assert all(any(a.predicate == CONSTANTS for a in u.rule.atoms) for u in united)


def test_the_same_rule_twice_counts_twice() -> None:
    engine = LocalEngine()
    facts = engine.fact_set([Fact("q", (NAMES[0],)), Fact("q", (NAMES[1],))])
    work = Work()
    engine.derive([all_from(r, facts) for r in parse_rules("p(a) :- q(?x) . p(a) :- q(?y) . p(b) :- q(?x) .")], work)
    assert work.derivations == 6
