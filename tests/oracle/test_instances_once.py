"""No rule instance is considered twice: DRed's steps DR2 and DR5, and Backward/Forward as a whole (its Theorem 1).

The reference engine is asked for every match behind every `derive`, so this does not trust any counter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from tests.oracle.programs import random_program
from tests.reference.engine import ReferenceEngine, ReferenceFacts, least_model, matches
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.algorithms import backward_forward, dred
from tidelog.algorithms.layers import Support
from tidelog.model.terms import Fact
from tidelog.rules.syntax import Rule

SEEDS = range(400)


class Watched(ReferenceEngine):
    """Notes the matches of the given rules, whatever they read."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.watched = {id(r) for r in rules}
        self.seen: list[tuple[str, tuple[tuple[str, str], ...]]] = []

    def derive(self, rules: Sequence[SourcedRule[ReferenceFacts]], work: Work) -> ReferenceFacts:
        for extended in rules:
            if id(extended.rule) in self.watched:
                for match in matches(extended):
                    self.seen.append((extended.rule.key, tuple(sorted((v.name, t) for v, t in match.items()))))
        return super().derive(rules, work)


def positive_cases() -> Iterator[tuple[list[Rule], frozenset[Fact], frozenset[Fact]]]:
    """Programs without negation and aggregates, their facts, and some facts to remove."""
    for seed in SEEDS:
        program = random_program(seed)
        rules = list({r.key: r for r in program.rules if not r.negations and r.aggregate is None and r.heads}.values())
        facts = frozenset(program.facts)
        removed = frozenset(Random(seed).sample(sorted(facts), min(3, len(facts))))
        if rules and removed:
            yield rules, facts, removed


def support(rules: Sequence[Rule], facts: frozenset[Fact], removed: frozenset[Fact]) -> Support[ReferenceFacts]:
    engine = Watched(rules)
    E, I = engine.fact_set(facts - removed), engine.fact_set(least_model(rules, facts))
    return Support(engine, tuple(rules), I, I, I - engine.fact_set(removed), E, ())


def seen_twice(engine: ReferenceEngine) -> list[object]:
    assert isinstance(engine, Watched)
    return [m for m in set(engine.seen) if engine.seen.count(m) > 1]


@pytest.mark.parametrize("part", range(4))
def test_backward_forward(part: int) -> None:
    considered = 0
    for rules, facts, removed in list(positive_cases())[part::4]:
        case = support(rules, facts, removed)
        gone = backward_forward.decrease(case, case.engine.fact_set(removed), Work())
        assert set(gone) == least_model(rules, facts) - least_model(rules, facts - removed)
        assert seen_twice(case.engine) == []  # type: ignore[arg-type]
        considered += len(case.engine.seen)  # type: ignore[attr-defined]
    assert considered > 150


@pytest.mark.parametrize("part", range(4))
def test_dred(part: int) -> None:
    for rules, facts, removed in list(positive_cases())[part::4]:
        case = support(rules, facts, removed)
        D = dred._overdelete(case, case.engine.fact_set(removed), Work())
        assert seen_twice(case.engine) == []  # type: ignore[arg-type]
        case = support(rules, facts, removed)
        R = dred._rederive(case, D, Work())
        assert seen_twice(case.engine) == []  # type: ignore[arg-type]
        assert set(D - R) == least_model(rules, facts) - least_model(rules, facts - removed)
