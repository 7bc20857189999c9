"""After every step of a random history the knowledge base holds the least model, and says what the step changed."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.oracle.histories import RandomHistory, State, Step, random_history
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.facts import Fact
from tidelog.model.terms import Value, to_term
from tidelog.rules.printer import format_fact, format_rule

HISTORIES, LONG = 150, 5_000
CHUNK = 10


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" in metafunc.fixturenames:
        count = LONG if metafunc.config.getoption("long") else HISTORIES
        chunks = [range(start, start + CHUNK) for start in range(0, count, CHUNK)]
        metafunc.parametrize("seeds", chunks, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")


def test_every_step_gives_the_least_model(seeds: range) -> None:
    for seed in seeds:
        replay(random_history(seed))


def replay(history: RandomHistory) -> None:
    empty = State(frozenset(), (), frozenset())
    first = Step(history.states[0].facts, frozenset(), history.states[0].rules)
    with KnowledgeBase() as kb:
        states = [empty, *history.states]
        for number, step in enumerate((first, *history.steps)):
            before, after = states[number : number + 2]
            change = kb.apply(
                add="\n".join(map(format_fact, sorted(step.add))),
                remove="\n".join(map(format_fact, sorted(step.remove))),
                add_rules=list(step.add_rules),
                remove_rules=list(step.remove_rules),
            )
            expected = after.model, after.facts, after.model - before.model, before.model - after.model
            found = tuple(map(facts_of, (kb.all_facts(), kb.all_facts("explicit"), change.added, change.removed)))
            if found != expected:
                pytest.fail(difference(history, number, step, before, found, expected))


def facts_of(rows: Iterable[tuple[Value, ...]]) -> frozenset[Fact]:
    return frozenset(Fact(str(row[0]), tuple(map(to_term, row[1:]))) for row in rows)


def difference(
    history: RandomHistory,
    number: int,
    step: Step,
    before: State,
    found: tuple[frozenset[Fact], ...],
    expected: tuple[frozenset[Fact], ...],
) -> str:
    lines = [f"random_history({history.seed}), step {number}", *map(format_rule, before.rules)]
    lines += map(format_fact, sorted(before.facts))
    lines += [f"add rule     {format_rule(rule)}" for rule in step.add_rules]
    lines += [f"remove rule  {format_rule(rule)}" for rule in step.remove_rules]
    lines += [f"add          {format_fact(fact)}" for fact in sorted(step.add)]
    lines += [f"remove       {format_fact(fact)}" for fact in sorted(step.remove)]
    for what, mine, theirs in zip(("all", "explicit", "added", "removed"), found, expected, strict=True):
        lines += [f"{what}: missing {format_fact(fact)}" for fact in sorted(theirs - mine)]
        lines += [f"{what}: extra   {format_fact(fact)}" for fact in sorted(mine - theirs)]
    return "\n".join(lines)
