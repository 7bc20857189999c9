"""Attempts that are dropped change no fact, and the memory of what won orders the next attempts.

Here the clock counts the times it is read, and budgets are a few readings: so attempts end everywhere, and each run is
the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from unittest import mock

import pytest

from tests.oracle.replay import replay_seed
from tidelog import tuning
from tidelog.algebra import engine as algebra
from tidelog.algebra.engine import Attempt, OutOfTimeError, Work
from tidelog.algorithms import budgeted
from tidelog.algorithms.budgeted import Experience, Won
from tidelog.changes.choose import Choice, made_by
from tidelog.knowledge_base import KnowledgeBase

HISTORIES, LONG = 60, 6_000
PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
EDGES = [(f"n{i}", f"n{i + far}") for i in range(30) for far in (1, 2)]
LONELY = [(f"x{i}", f"y{i}") for i in range(4)]


@contextmanager
def readings(first: float, again: float) -> Iterator[None]:
    """Budgets in readings of the clock: of the first attempts, and of computing everything again."""
    clock = count()
    budgets: dict[str, Any] = {"ATTEMPT_SECONDS": first, "ATTEMPT_SECONDS_PER_FACT": 0, "AGAIN_SECONDS": again}
    with (
        mock.patch.multiple(tuning, **budgets, FEW_REMOVED=3, UNSTOPPED_DERIVATIONS=0),
        mock.patch.object(algebra, "perf_counter", clock.__next__),
        mock.patch.object(budgeted, "perf_counter", clock.__next__),
    ):
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(LONG if metafunc.config.getoption("long") else HISTORIES))


def test_random_histories(seed: int) -> None:
    with readings((1, 2, 4, 7)[seed % 4], (2, 5, 12, 40, 10**6)[seed % 5]):
        replay_seed(seed, ("budgeted",))


def removed(kb: KnowledgeBase, *edges: tuple[str, str]) -> tuple[str, list[tuple[str, bool]]]:
    """The algorithm of a preview, and its attempts; its facts are compared with computing everything again."""
    change = kb.preview(remove={"edge": list(edges)})
    expected = kb.preview(remove={"edge": list(edges)}, algorithm="rematerialise")
    assert set(change.removed) == set(expected.removed)
    return change.algorithm, [(a.algorithm, a.is_finished) for a in change.work.attempts]


def test_every_road_and_what_is_remembered() -> None:
    stopped, again = [("bf", False), ("dred", False)], ("rematerialise", True)
    with KnowledgeBase() as kb:
        kb.apply(add={"edge": EDGES}, add_rules=PATHS)
        assert removed(kb, EDGES[40]) == ("bf", [("bf", True)])
        experience = kb._state.algorithm_state
        assert isinstance(experience, Experience)
        experience.won.clear()
        with readings(1, 10_000):
            assert removed(kb, EDGES[40]) == ("dred", [*stopped * 2, ("bf", False), ("dred", True)])
            assert removed(kb, EDGES[40]) == ("dred", [("dred", True)])
        experience.won.clear()
        with readings(1, 12):
            assert removed(kb, EDGES[40]) == ("rematerialise", [*stopped * 2, again])
            assert removed(kb, EDGES[40]) == ("rematerialise", [*stopped, again])


def test_many_facts_by_dred_as_long_as_it_overdeletes_little() -> None:
    with KnowledgeBase() as kb, readings(10**6, 10**9):
        kb.apply(add={"edge": EDGES + LONELY, "name": [(f"n{i}",) for i in range(200)]}, add_rules=PATHS)
        assert removed(kb, *LONELY) == ("dred", [("dred", True)])
        kb._state.algorithm_state.won.clear()  # type: ignore[attr-defined]
        assert removed(kb, *EDGES[20:28:2]) == ("bf", [("dred", False), ("bf", True)])


def test_the_favourite_is_the_nearest_size() -> None:
    key, other = (2, "r"), (3, "r")
    small, large = Won("bf", 1, 0.1), Won("rematerialise", 100, 2.0)
    experience = Experience(0.5, {(key, 1): small, (key, 7): large})
    found = [experience.favourite(key, lost) for lost in (1, 8, 16, 127, 1023, 1024)]
    assert found == [small, small, large, large, large, None]
    assert experience.favourite(other, 1) is None
    assert experience.again(10) == pytest.approx(5 + tuning.AGAIN_SECONDS)


def test_work_ends_at_its_deadline() -> None:
    work = Work()
    work.check()
    work.deadline = 0
    with pytest.raises(OutOfTimeError):
        work.check()


def test_the_reason_says_what_was_tried() -> None:
    attempts = [Attempt("bf", 0.5, False), Attempt("dred", 0.25, False), Attempt("bf", 1.5, False)]
    choice = Choice("budgeted", "a small change")
    assert made_by(choice, [Attempt("dred", 1, True)]) == Choice("dred", "a small change")
    assert made_by(choice, []) == Choice("bf", "a small change")
    found = made_by(choice, [*attempts, Attempt("rematerialise", 3, True)])
    told = "a small change; bf was stopped after 2.000 s, dred was stopped after 0.250 s, rematerialise took 3.000 s"
    assert found == Choice("rematerialise", told)


def test_the_attempts_meet_every_road() -> None:
    """The histories above end in each way, or they would show little."""
    met: Counter[tuple[str, bool]] = Counter()
    work = Work

    def recorded() -> Work:
        made = work()
        works.append(made)
        return made

    for seed in range(40):
        works: list[Work] = []
        with mock.patch("tests.oracle.replay.Work", recorded):
            test_random_histories(seed)
        met.update((a.algorithm, a.is_finished) for made in works for a in made.attempts)
    roads = {(name, finished) for name in ("bf", "dred") for finished in (True, False)}
    assert met.keys() == roads | {("rematerialise", True)}
