"""Axioms and data come and go: after every step each algorithm has exactly what a computation from nothing gives."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

import tidelog
from tests.reference.engine import least_model
from tests.rulesets.cases import facts
from tests.rulesets.random_ontologies import random_history
from tidelog import rulesets
from tidelog.algebra.engine import Work
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.semi_naive import materialise
from tidelog.algorithms.update import RuleChange, Update
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.model.terms import Term
from tidelog.rulesets import RuleSet

SETS = {
    "rhodf": rulesets.RHODF,
    "rdfs": rulesets.rdfs(axiomatic=True, datatypes=True),
    "owl2rl": rulesets.OWL2RL,
    "owl2rl, all of it": rulesets.owl2rl(reflexive=True, literals=True),
}
RUNS = [("rhodf", a, s) for a in ALGORITHMS if a not in ("counting", "rematerialise") for s in range(3)]
RUNS += [("rdfs", a, s) for a in ("bf", "dred", "fp", "recursive-counting") for s in range(3)]
RUNS += [("owl2rl", a, s) for a in ("bf", "dred") for s in range(4)] + [("owl2rl, all of it", "bf", 5)]


@cache
def program(name: str) -> RuleChange:
    rules = tuple(r for r in SETS[name] if not r.is_constraint)
    return RuleChange(rules, rules)


def from_nothing(engine: LocalEngine, name: str, E: LocalFacts) -> LocalFacts:
    return materialise(engine, program(name).strata, E, Work())


@pytest.mark.parametrize(("name", "algorithm", "seed"), RUNS)
def test_maintained_is_recomputed(name: str, algorithm: str, seed: int) -> None:
    engine = LocalEngine()
    states = [engine.fact_set(facts(t)) for t in random_history(seed, steps=6)]
    I, kept = from_nothing(engine, name, states[0]), None
    for before, after in pairwise(states):
        update = Update(engine, program(name), after, I, before - after, after - before, Work(), kept)
        outcome = ALGORITHMS[algorithm](update)
        expected = from_nothing(engine, name, after)
        assert set(outcome.I - expected) == set(expected - outcome.I) == set()
        assert set(outcome.added) == set(expected - I)
        assert set(outcome.removed) == set(I - expected)
        I, kept = outcome.I, outcome.algorithm_state


@pytest.mark.parametrize("name", ["rhodf", "rdfs", "owl2rl"])
def test_the_reference_engine_agrees(name: str) -> None:
    engine = LocalEngine()
    triples = facts(next(iter(random_history(8, steps=0))))
    found = from_nothing(engine, name, engine.fact_set(triples))
    assert frozenset(found) == least_model(program(name).after, triples)


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "counting"])
def test_a_rule_set_comes_and_goes(algorithm: str) -> None:
    """Its axioms too; what is explicit or an axiom of another rule stays."""
    engine = LocalEngine()
    E = engine.fact_set(facts(next(iter(random_history(3, steps=0)))))
    own = rulesets.get("rdfs", axiomatic=True)
    fewer = RuleSet("rdf axioms", tuple(r for r in own if r.name == "rdf-axioms"))
    all_rules, some_rules = tuple(own), tuple(fewer)
    I = materialise(engine, RuleChange((), some_rules).strata, E, Work())
    nothing = engine.fact_set(())
    run = ALGORITHMS[algorithm]
    more = run(Update(engine, RuleChange(some_rules, all_rules), E, I, nothing, nothing, Work()))
    assert len(more.I) > len(I) > len(E)
    rules = RuleChange(all_rules, some_rules)
    fewer_again = run(Update(engine, rules, E, more.I, nothing, nothing, Work(), more.algorithm_state))
    assert set(fewer_again.I) == set(I)


SETS_OF_USERS = {**SETS, "rdfs-volz": rulesets.rdfs_volz()}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SETS_OF_USERS)
def test_a_rule_set_that_is_removed_leaves_nothing(name: str, seed: int) -> None:
    chosen, known = SETS_OF_USERS[name], frozenset[tuple[Term, Term, Term]]()
    with tidelog.open() as kb, tidelog.open() as plain:
        plain.apply(add_rules="q(?x) :- [?x, rdf:type, ?y] .")
        kb.apply(add_rules="q(?x) :- [?x, rdf:type, ?y] .")
        for step, triples in enumerate(random_history(seed, steps=3)):
            for each in (kb, plain):
                each.apply(add=facts(triples - known), remove=facts(known - triples))
            kb.apply(add_rules=chosen) if step == 0 else None
            known = triples
        assert kb.digest() != plain.digest()
        kb.apply(remove_rules=chosen)
        assert kb.digest() == plain.digest()
