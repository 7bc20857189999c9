"""The local engine's verbs agree with the reference engine's: random rules over random views of random facts.

Each body atom reads a view made by a few `| - &` of random parts of the model, so that tombstones, several runs and
revived rows are met, and the two engines must count the same matches. Deriving again from the same views, and then from
one that changed, must not be fooled by what was kept from before.
"""

from __future__ import annotations

from random import Random
from typing import TypeVar

import pytest

from tests.oracle.programs import random_program
from tests.oracle.ways import SMALL_BLOCKS
from tests.reference.engine import ReferenceEngine, least_model
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact, Term
from tidelog.rules.syntax import Atom, Negation, Rule

F = TypeVar("F", bound=FactSet)
Outcome = tuple[list[set[Fact]], int, dict[Fact, int], set[tuple[Term, ...]]]


def view(engine: Engine[F], facts: list[Fact], random: Random) -> F:
    """The same set of facts for every engine that gets a `Random` of the same seed."""
    result = engine.fact_set(random.sample(facts, random.randint(len(facts) // 2, len(facts))))
    for _ in range(random.randint(0, 4)):
        part = engine.fact_set(random.sample(facts, random.randint(0, min(len(facts), 1 + len(facts) // 8))))
        result = random.choice((lambda a, b: a | b, lambda a, b: a - b, lambda a, b: a - (a & b)))(result, part)
    return result


def outcome(engine: Engine[F], rule: Rule, facts: list[Fact], seed: str) -> Outcome:
    random = Random(seed)
    sources = [view(engine, facts, random) for b in rule.body if isinstance(b, Atom | Negation)]
    work = Work()
    derived = [set(engine.derive([SourcedRule(rule, tuple(sources))], work)) for _ in range(3)]
    sources[random.randrange(len(sources))] = view(engine, facts, random)
    extended = SourcedRule(rule, tuple(sources))
    derived += [set(engine.derive([extended], work)) for _ in range(2)]
    tally = dict(engine.tally([extended], Work()))
    variables = list(dict.fromkeys(v for atom in rule.atoms for v in atom.variables()))[:3]
    return derived, work.derivations, tally, set(engine.instances(extended, variables))


@pytest.mark.parametrize("start", range(0, 160, 20))
def test_verbs_agree(start: int) -> None:
    for seed in range(start, start + 20):
        program = random_program(seed)
        facts = sorted(least_model(program.rules, program.facts))
        for number, rule in enumerate(program.rules):
            expected = outcome(ReferenceEngine(), rule, facts, f"{seed} {number}")
            found = outcome(LocalEngine(SMALL_BLOCKS), rule, facts, f"{seed} {number}")
            assert found == expected, f"random_program({seed}), rule {number}: {rule}"
