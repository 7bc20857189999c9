"""A history replayed: every algorithm makes every step, and each time the materialisation must be the least model.

All start a step from the same materialisation, which one of them (they take turns) has left; those that count go on
from their own counts. Counting must be refused exactly where rules are recursive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from typing import TypeVar
from unittest import mock

import pytest

from tests.oracle.clingo_model import clingo_models
from tests.oracle.histories import State, random_history, strata_of
from tests.oracle.ways import changed
from tests.reference.engine import ReferenceEngine
from tidelog import tuning
from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import Outcome
from tidelog.engines.local.engine import LocalEngine
from tidelog.errors import UsageError
from tidelog.model.terms import Fact
from tidelog.rules.printer import format_fact, format_rule

F = TypeVar("F", bound=FactSet)

EMPTY = State(frozenset(), (), frozenset())


# What Backward/Forward looks at first in every second ten histories: few of their facts have more candidates than it
# takes at once.
NARROW = (1, 2)


def replay_seed(seed: int, names: Collection[str] = ALGORITHMS) -> None:
    """On the reference engine, where steps are quick and simple; a thousand histories on the local engine instead."""
    if seed % 10 == 0 and seed < 10_000:
        replay_locally(seed, names)
    else:
        with _windows(seed):
            replay(ReferenceEngine(), random_history(seed).states, f"random_history({seed})", names)


def replay_locally(seed: int, names: Collection[str] = ALGORITHMS) -> None:
    with closing(LocalEngine()) as engine, _windows(seed):
        replay(engine, random_history(seed).states, f"random_history({seed}) on the local engine", names)


def _windows(seed: int) -> AbstractContextManager[object]:
    return mock.patch.object(tuning, "CANDIDATE_LIMITS", NARROW) if seed // 10 % 2 else nullcontext()


def replay(engine: Engine[F], states: Sequence[State], where: str, names: Collection[str] = ALGORITHMS) -> None:
    """By these algorithms. The first step, from nothing, adds the whole program."""
    kept: dict[str, object] = {}
    before, I = EMPTY, engine.fact_set(())
    # Who asks for some algorithms only has seen the model of every state confirmed by clingo with all of them.
    foreign = clingo_models([(state.rules, state.facts) for state in states]) if len(names) == len(ALGORITHMS) else []
    for number, after in enumerate(states):
        if foreign:
            compare(f"{where}, state {number}, clingo", EMPTY, after, foreign[number])
        outcomes = dict(_outcomes(engine, names, before, after, I, kept))
        for name, outcome in outcomes.items():
            compare(f"{where}, state {number}, {name}", before, after, outcome.I, outcome.added, outcome.removed)
        left = list(outcomes.values())
        before, I = after, left[number % len(left)].I


def _outcomes(
    engine: Engine[F], names: Collection[str], before: State, after: State, I: F, kept: dict[str, object]
) -> Iterator[tuple[str, Outcome[F]]]:
    """What each algorithm makes of a step; `kept` is what each asked to be given."""
    update = changed(engine, before, after, I)
    refuse = is_recursive(before) or is_recursive(after)
    for name in names:
        algorithm = ALGORITHMS[name]
        if name == "counting" and refuse:
            kept.pop(name, None)
            with pytest.raises(UsageError, match="counting cannot maintain recursive rules"):
                algorithm(update)
        else:
            outcome = algorithm(replace(update, work=Work(), algorithm_state=kept.get(name)))
            kept[name] = outcome.algorithm_state
            yield name, outcome


def is_recursive(state: State) -> bool:
    return any(stratum.recursive for stratum in strata_of(state.rules))


def compare(where: str, before: State, after: State, *found: Iterable[Fact]) -> None:
    """What was found, as far as it was: all facts, those added, those removed."""
    expected = after.model, after.model - before.model, before.model - after.model
    names = ("all", "added", "removed")
    wrong = [
        f"{name}: {how} {format_fact(fact)}"
        for name, mine, theirs in zip(names, map(frozenset, found), expected, strict=False)
        if mine != theirs
        for how, facts in (("missing", theirs - mine), ("extra", mine - theirs))
        for fact in sorted(facts)
    ]
    if wrong:
        pytest.fail("\n".join([where, *_told(before, after), *wrong]))


def _told(before: State, after: State) -> Iterator[str]:
    """A step in words."""
    yield from (f"{'        ' if r in after.rules else 'remove  '}{format_rule(r)}" for r in before.rules)
    yield from (f"add     {format_rule(r)}" for r in after.rules if r not in before.rules)
    yield from (f"{'        ' if f in after.facts else 'remove  '}{format_fact(f)}" for f in sorted(before.facts))
    yield from (f"add     {format_fact(f)}" for f in sorted(after.facts - before.facts))
