"""The verb `proofs`: what it calls proved follows in one step from the facts that it gives; little is overlooked."""

from __future__ import annotations

from typing import TypeVar

import pytest

from tests.engines.local.test_supports import RULES, random_facts
from tests.reference.engine import ReferenceEngine
from tidelog import tuning
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import guarded, with_body
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact

F = TypeVar("F", bound=FactSet)


def derivable(engine: Engine[F], guards: F, facts: F, negated: F) -> set[Fact]:
    rules = [with_body(r, r.heads[0]) for r in RULES]
    return set(engine.derive([guarded(r, guards, facts, negated) for r in rules], Work()) & guards)


def check(engine: Engine[F], seed: int) -> None:
    everything = engine.fact_set(random_facts(seed))
    facts = everything - engine.fact_set(random_facts(seed)[:3])
    work = Work()
    proved, others, bodies = engine.proofs([with_body(r, r.heads[0]) for r in RULES], everything, facts, facts, work)
    assert not bodies - facts
    assert set(others) == set(everything) - set(proved)
    assert set(proved) <= derivable(engine, everything, bodies, facts)
    assert work.derivations >= len(proved) > 0


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("few", [10**6, 0])
def test_proved_by_what_it_gives(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MOST_CODED", few)
    check(LocalEngine(), seed)
    check(ReferenceEngine(), seed)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("few", [10**6, 0])
def test_nothing_is_overlooked_where_nothing_was_removed(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rule whose first candidate is a match: those of one atom without a condition on it."""
    monkeypatch.setattr(tuning, "UNFILTERED_GUARDS", few)
    engine = LocalEngine()
    facts = engine.fact_set(random_facts(seed))
    rules = [with_body(r, r.heads[0]) for r in RULES if len(r.body) == 1 and "reach(?x, ?x)" not in str(r)]
    proved, _, _ = engine.proofs(rules, facts, facts, facts, Work())
    expected = engine.derive([guarded(r, facts, facts, facts) for r in rules], Work()) & facts
    assert set(proved) == set(expected)
