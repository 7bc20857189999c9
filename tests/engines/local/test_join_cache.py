"""Static parts of a body: joined once, used while they do not change, invisible in results and counters."""

from __future__ import annotations

import random

import pytest

from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import pivoted
from tidelog.algorithms.semi_naive import materialise
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact, Term, bare
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.parsing.parser import parse_rules

RULES = parse_rules("""
    link(?c, ?t, ?e) :- link(?c, ?p, ?d), link(?d, ?q, ?e), sub(?p, ?r), sub(?q, ?s), chain(?r, ?s, ?t) .
    up(?c, ?x) :- link(?c, ?r, ?d), up(?d, ?e), sub(?r, ?s), some(?x, ?s, ?e), left(?x) .
    up(?c, ?e) :- up(?c, ?d), told(?d, ?e) .
    link(?c, ?r, ?d) :- up(?c, ?x), some(?x, ?r, ?d) .
""")


def random_facts(seed: int) -> list[Fact]:
    rng = random.Random(seed)
    arities = {"link": 3, "sub": 2, "chain": 3, "up": 2, "some": 3, "left": 1, "told": 2}
    domain = [bare(f"n{i}") for i in range(9)]
    return [
        Fact(name, tuple(rng.choice(domain) for _ in range(arity)))
        for name, arity in arities.items()
        for _ in range(4 + 3 * arity)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_same_facts_and_same_number_of_derivations(seed: int) -> None:
    facts, strata = random_facts(seed), stratify(RULES)
    local, reference = LocalEngine(), ReferenceEngine()
    local_work, reference_work = Work(), Work()
    found = materialise(local, strata, local.fact_set(facts), local_work)
    expected = materialise(reference, strata, reference.fact_set(facts), reference_work)
    assert set(found) == set(expected)
    assert local_work.derivations == reference_work.derivations


def test_they_are_used() -> None:
    engine = LocalEngine()
    facts = [f for seed in range(12) for f in random_facts(seed)]
    materialise(engine, stratify(RULES), engine.fact_set(facts), Work())
    joins = [j for r in engine._join_cache.records.values() for j in r.joins.values()]
    assert any(j.pattern is not None for j in joins)


def test_one_new_fact_never_joins_large_relations() -> None:
    engine = LocalEngine()
    names = [bare(f"n{i}") for i in range(2000)]
    schema = [Fact(p, (n,) * a) for n in names for p, a in {"sub": 2, "chain": 3, "some": 3, "left": 1}.items()]
    I = engine.fact_set([*schema, Fact("link", (names[1], names[1], names[2])), Fact("up", (names[2], names[3]))])
    for step in range(5):
        N = engine.fact_set([Fact("link", (bare(f"new{step}"), names[1], names[1]))])
        engine.derive([v for r in RULES for v in pivoted(r, I, N, I | N, I)], Work())
    assert not any(r.joins for r in engine._join_cache.records.values())


@pytest.mark.parametrize(("most", "expected"), [(150, None), (1_000, (1, 100))])
def test_a_join_stops_when_it_has_looked_at_many_rows(most: int, expected: tuple[int, int] | None) -> None:
    """A hundred matches that are one distinct row."""
    engine = LocalEngine()
    (rule,) = parse_rules("out(?x, ?z) :- a(?x, ?y), b(?y, ?z) .")
    facts = [Fact(p, args) for i in range(100) for p, args in _through(bare(f"n{i}"))]
    source = engine.fact_set(facts)
    steps = engine.solver.steps(rule.body, [source, source])
    x, z = rule.heads[0].variables()
    rows = engine._join_cache._rows(steps, [x, z], most)
    assert (None if rows is None else (rows.length, rows.matches())) == expected


def _through(middle: Term) -> list[tuple[str, tuple[Term, Term]]]:
    return [("a", (bare("x"), middle)), ("b", (middle, bare("z")))]
