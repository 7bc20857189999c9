"""After every step of a random history rewriting shows what the axioms of equality give, whichever algorithm made it.

The algorithms take turns. Now and then what the change before kept is forgotten, as it is when a knowledge base is
opened again. The oracle is a foreign one, clingo, on the program with the axioms.
"""

from __future__ import annotations

from typing import TypeVar

import pytest

from tests.algorithms.equality.axioms import arities, axioms
from tests.algorithms.equality.histories import History, State, random_history
from tests.oracle.clingo_model import clingo_model
from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.equality.maintain import ByRewriting
from tidelog.algorithms.equality.policy import NamedDifference, named
from tidelog.algorithms.equality.representatives import SAME
from tidelog.algorithms.update import RuleChange, Update
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact
from tidelog.rules.printer import format_fact, format_rule

F = TypeVar("F", bound=FactSet)
Found = tuple[frozenset[Fact], ...]

ALGORITHMS = ("bf", "dred", "fp", "declarative", "recursive-counting", "rematerialise")
LOCAL, REFERENCE = range(0, 10), range(10, 50)
LONG = 100  # times as many
CHUNK = 5


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    times = LONG if metafunc.config.getoption("long") else 1
    for name, part in {"local_seeds": LOCAL, "reference_seeds": REFERENCE}.items():
        if name in metafunc.fixturenames:
            starts = range(part.start * times, part.stop * times, CHUNK)
            metafunc.parametrize(name, [range(s, s + CHUNK) for s in starts], ids=lambda seeds: f"{seeds.start}")


def test_on_the_local_engine(local_seeds: range) -> None:
    for seed in local_seeds:
        engine = LocalEngine()
        replay(engine, random_history(seed), ALGORITHMS)
        engine.close()


def test_on_the_reference_engine(reference_seeds: range) -> None:
    for seed in reference_seeds:
        replay(ReferenceEngine(), random_history(seed), ALGORITHMS)


def axiomatised(state: State) -> frozenset[Fact]:
    return clingo_model([*state.rules, *axioms(arities(state.rules, state.facts))], state.facts)


def replay(engine: Engine[F], history: History, names: tuple[str, ...]) -> None:
    I, kept = engine.fact_set(()), None
    before = history.states[0]
    was = axiomatised(before)
    for number, after in enumerate(history.states[1:], 1):
        name = names[(history.seed + number) % len(names)]
        update = Update(
            engine,
            RuleChange(before.rules, after.rules),
            engine.fact_set(after.facts),
            I,
            engine.fact_set(before.facts - after.facts),
            engine.fact_set(after.facts - before.facts),
            Work(),
            kept,
        )
        outcome = ByRewriting(name)(update)
        seen = NamedDifference(engine, I, outcome.I, outcome.added, outcome.removed)
        found = tuple(map(frozenset, (named(engine, outcome.I, outcome.I), seen.added(), seen.removed())))
        assert not nicknames(outcome.I), f"random_history({history.seed}), step {number}, {name}"
        now = axiomatised(after)
        compare(history, number, name, found, (now, now - was, was - now))
        before, was, I, kept = after, now, outcome.I, outcome.algorithm_state if number % 3 else None


def nicknames(I: FactSet) -> list[Fact]:
    """Facts in store that mention a term for which another one stands."""
    members = {fact.args[0] for fact in I.of_predicate(SAME)}
    return [fact for fact in I if fact.predicate != SAME and members.intersection(fact.args)]


def compare(history: History, number: int, name: str, found: Found, expected: Found) -> None:
    if found == expected:
        return
    before, after = history.states[number - 1 : number + 1]
    lines = [f"random_history({history.seed}), step {number}, {name}", *map(format_rule, before.rules)]
    lines += map(format_fact, sorted(before.facts))
    lines += [f"add rule     {format_rule(rule)}" for rule in after.rules if rule not in before.rules]
    lines += [f"remove rule  {format_rule(rule)}" for rule in before.rules if rule not in after.rules]
    lines += [f"add          {format_fact(fact)}" for fact in sorted(after.facts - before.facts)]
    lines += [f"remove       {format_fact(fact)}" for fact in sorted(before.facts - after.facts)]
    for what, mine, theirs in zip(("all", "added", "removed"), found, expected, strict=True):
        lines += [f"{what}: missing {format_fact(fact)}" for fact in sorted(theirs - mine)]
        lines += [f"{what}: extra   {format_fact(fact)}" for fact in sorted(mine - theirs)]
    pytest.fail("\n".join(lines))
