"""After every step of a random history the materialisation is the least model, whichever algorithm made the step.

The algorithms take turns, so that each makes a step or more of every history (the first step of the eleven starts from
nothing) and goes on from what another one left. Which of them starts differs from history to history. Counting refuses
recursive rules; there the next one makes its step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import pytest

from tests.oracle.clingo_model import clingo_model
from tests.oracle.histories import RandomHistory, State, Step, random_history
from tests.oracle.ways import changed, facts_of
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.reference.engine import ReferenceEngine
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.facts import Fact
from tidelog.rules.printer import format_fact, format_rule
from tidelog.rules.strata import stratify

F = TypeVar("F", bound=FactSet)

# Which histories run in which way, in thousandths of all; what users call and the foreign oracle repeat a few of them.
LOCAL, REFERENCE, PUBLIC, FOREIGN = range(0, 300), range(300, 1000), range(0, 20), range(300, 340)
LONG = 100  # times as many
CHUNK = 10


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    part = {"local_seeds": LOCAL, "reference_seeds": REFERENCE, "public_seeds": PUBLIC, "foreign_seeds": FOREIGN}
    times = LONG if metafunc.config.getoption("long") else 1
    for name in part.keys() & set(metafunc.fixturenames):
        start, stop = part[name].start * times, part[name].stop * times
        chunks = [range(first, first + CHUNK) for first in range(start, stop, CHUNK)]
        metafunc.parametrize(name, chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


def test_on_the_local_engine(local_seeds: range) -> None:
    for seed in local_seeds:
        engine = LocalEngine()
        replay(engine, random_history(seed))
        engine.close()


def test_on_the_reference_engine(reference_seeds: range) -> None:
    for seed in reference_seeds:
        replay(ReferenceEngine(), random_history(seed))


def test_through_the_public_interface(public_seeds: range) -> None:
    for seed in public_seeds:
        replay_in_public(random_history(seed))


def test_the_foreign_oracle_agrees(foreign_seeds: range) -> None:
    for seed in foreign_seeds:
        for state in random_history(seed).states:
            assert state.model == clingo_model(state.rules, state.facts), f"random_history({seed})"


Turn = tuple[str, Step, State, State]


def turns(history: RandomHistory) -> Iterator[Turn]:
    """Who makes which step between which states; the first step adds the whole program."""
    first = Step(history.states[0].facts, frozenset(), history.states[0].rules)
    before = State(frozenset(), (), frozenset())
    for number, (step, after) in enumerate(zip((first, *history.steps), history.states, strict=True)):
        yield algorithm_for(history.seed + number, before, after), step, before, after
        before = after


def algorithm_for(number: int, before: State, after: State) -> str:
    names = list(ALGORITHMS)
    name = names[number % len(names)]
    if name == "counting" and any(s.recursive for state in (before, after) for s in stratify(state.rules)):
        return names[(number + 1) % len(names)]
    return name


def replay(engine: Engine[F], history: RandomHistory) -> None:
    I = engine.collect(())
    for turn in turns(history):
        algorithm, _, before, after = turn
        outcome = ALGORITHMS[algorithm](engine, *changed(engine, before, after, I), Work())
        I = outcome.I
        compare(history, turn, tuple(map(frozenset, (I, outcome.added, outcome.removed))))


def replay_in_public(history: RandomHistory) -> None:
    with KnowledgeBase() as kb:
        for turn in turns(history):
            algorithm, step, _, after = turn
            change = kb.apply(
                add="\n".join(map(format_fact, sorted(step.add))),
                remove="\n".join(map(format_fact, sorted(step.remove))),
                add_rules=list(step.add_rules),
                remove_rules=list(step.remove_rules),
                algorithm=algorithm,
            )
            compare(history, turn, tuple(map(facts_of, (kb.all_facts(), change.added, change.removed))))
            assert facts_of(kb.all_facts("explicit")) == after.facts


def compare(history: RandomHistory, turn: Turn, found: tuple[frozenset[Fact], ...]) -> None:
    _, _, before, after = turn
    expected = after.model, after.model - before.model, before.model - after.model
    if found != expected:
        pytest.fail(difference(history, turn, found, expected))


def difference(
    history: RandomHistory, turn: Turn, found: tuple[frozenset[Fact], ...], expected: tuple[frozenset[Fact], ...]
) -> str:
    algorithm, step, before, _ = turn
    lines = [f"random_history({history.seed}), {algorithm}", *map(format_rule, before.rules)]
    lines += map(format_fact, sorted(before.facts))
    lines += [f"add rule     {format_rule(rule)}" for rule in step.add_rules]
    lines += [f"remove rule  {format_rule(rule)}" for rule in step.remove_rules]
    lines += [f"add          {format_fact(fact)}" for fact in sorted(step.add)]
    lines += [f"remove       {format_fact(fact)}" for fact in sorted(step.remove)]
    for what, mine, theirs in zip(("all", "added", "removed"), found, expected, strict=True):
        lines += [f"{what}: missing {format_fact(fact)}" for fact in sorted(theirs - mine)]
        lines += [f"{what}: extra   {format_fact(fact)}" for fact in sorted(mine - theirs)]
    return "\n".join(lines)
