"""Attempts on a budget: at most about twice as slow as computing everything again, on any program.

No number known beforehand tells which algorithm suits a change. But fact sets are immutable, so an attempt can be
dropped at any moment, and leaves nothing to undo. So for the facts that a layer loses, the algorithms take turns:

    try      B/F for b seconds,  DRed for b seconds,  b *= 4,  again ..      until one is finished
    give up  when all attempts together have taken M seconds: compute everything again

M is the time that computing everything again takes: known from the last time, in proportion to the number of facts; a
guess before that. A guess that is too low ends the attempts too early.

The bound. Let c be the time of the faster of the two, and b the first budget. If c <= b, it is finished within 2b. Else
the last budget is less than 4c, and all turns before it together took less than 2 (4c / 3 + c) + 4c, so

    time  <  10 c + 2 b        and        time  <=  2 M        (plus one call of the engine, which cannot be stopped)

whatever the program is. Usually it is much less, because the outcome is remembered: the next change of about the same
size begins with the algorithm that won, for twice the time that it took; or gives up after two short attempts, where
computing everything again has won. The memory only orders the attempts, so a wrong one costs time and never facts.

Many facts at once often belong together, such as a university: then DRed is tried first, as long as it overdeletes at
most `FALLBACK_RATIO` facts for each lost one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Any, TypeVar

from tidelog import tuning
from tidelog.algebra.engine import Attempt, OutOfTimeError, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import backward_forward, dred
from tidelog.algorithms.layers import Decrease, Support, maintain
from tidelog.algorithms.semi_naive import rematerialise
from tidelog.algorithms.update import Outcome, Update

F = TypeVar("F", bound=FactSet)

AGAIN = "rematerialise"
Turn = tuple[str, Decrease, float]  # the name of an algorithm, the algorithm, and its seconds
LayerKey = tuple[int, str]  # the number of rules of a layer, and one of them


@dataclass(frozen=True, slots=True)
class Won:
    """The algorithm that was finished first, for how many lost facts, and the seconds it took."""

    algorithm: str
    lost: int
    seconds: float


@dataclass
class Experience:
    """What earlier changes have shown. It belongs to one knowledge base, and no fact depends on it.

    It is the `algorithm_state` of a knowledge base. Previews add to it as well.
    """

    seconds_per_fact: float = 0.0  # of computing everything again
    won: dict[tuple[LayerKey, int], Won] = field(default_factory=dict)  # also by the bits of the number of lost facts

    def again(self, facts: int) -> float:
        """The seconds that computing everything again takes, for so many facts."""
        return tuning.AGAIN_SECONDS + facts * (self.seconds_per_fact or tuning.AGAIN_SECONDS_PER_FACT)

    def favourite(self, key: LayerKey, lost: int) -> Won | None:
        """What won the change of the nearest size: at most eight times smaller or larger."""
        bits = lost.bit_length()
        near = (self.won.get((key, bits + step)) for step in (0, -1, 1, -2, 2, -3, 3))
        return next((won for won in near if won is not None), None)


def budgeted(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change."""
    kept = update.algorithm_state
    experience = kept if isinstance(kept, Experience) else Experience()
    contest = _Contest(update, experience)
    try:
        outcome = maintain(update, contest.decrease) if update.rules.before else contest.again()
    except _GivenUpError:
        outcome = contest.again()
    return replace(outcome, algorithm_state=experience)


def with_experience(update: Update[F], outcome: Outcome[F]) -> Outcome[F]:
    """The outcome of any algorithm; it keeps the experience of the update if it has nothing else to keep."""
    kept = update.algorithm_state
    if outcome.algorithm_state is None and isinstance(kept, Experience):
        return replace(outcome, algorithm_state=kept)
    return outcome


class _GivenUpError(Exception):
    """The attempts have taken as long as computing everything again."""


class _Contest:
    """The attempts of one update."""

    def __init__(self, update: Update[Any], experience: Experience) -> None:
        self.update, self.experience = update, experience
        self.seconds = self.left = experience.again(len(update.I))  # M, and the part of it that is left
        self.many = max(tuning.FEW_REMOVED, tuning.REMATERIALISE_SHARE * len(update.E))
        self.tried: list[tuple[LayerKey, int]] = []  # the layers that the attempts came to, and their lost facts

    def decrease(self, support: Support[F], lost: F, work: Work) -> F:
        """The facts that are gone, by the first algorithm that is finished."""
        key, count = (len(support.rules), support.rules[0].key if support.rules else ""), len(lost)
        self.tried.append((key, count))
        for turn in self._turns(key, count):
            gone = self._attempt(turn, support, lost, work)
            if gone is not None:
                return gone
            if self.left <= 0:
                break
        raise _GivenUpError

    def again(self) -> Outcome[Any]:
        """Everything is computed again, and its time is remembered."""
        start, work = perf_counter(), self.update.work
        outcome = rematerialise(self.update)
        seconds = perf_counter() - start
        work.attempts.append(Attempt(AGAIN, seconds, True))
        self.experience.seconds_per_fact = seconds / max(1, len(outcome.I))
        for key, count in self.tried[-1:]:
            self.experience.won[key, count.bit_length()] = Won(AGAIN, count, seconds)
        return outcome

    def _turns(self, key: LayerKey, count: int) -> Iterator[Turn]:
        """Whose turn it is, and for how long."""
        seconds = tuning.ATTEMPT_SECONDS + count * tuning.ATTEMPT_SECONDS_PER_FACT
        won = self.experience.favourite(key, count)
        if won is not None and won.algorithm == AGAIN:
            seconds = min(seconds, self.seconds / tuning.LAST_ATTEMPT_SHARE)
            yield "bf", backward_forward.decrease, seconds
            yield "dred", dred.decrease, seconds
            return
        if won is not None:
            yield won.algorithm, _BY_NAME[won.algorithm], max(seconds, 2 * won.seconds * count / won.lost)
        elif count > tuning.FEW_REMOVED:
            yield "dred", _dred_if_little, inf
            if count > self.many:
                return
        while True:
            yield "bf", backward_forward.decrease, seconds
            yield "dred", dred.decrease, seconds
            seconds *= 4

    def _attempt(self, turn: Turn, support: Support[F], lost: F, work: Work) -> F | None:
        """The facts that are gone; None if the algorithm is not finished in time."""
        name, algorithm, seconds = turn
        start = perf_counter()
        work.deadline = start + min(seconds, self.left)
        work.unstopped = work.derivations + tuning.UNSTOPPED_DERIVATIONS
        try:
            gone = algorithm(support, lost, work)
        except OutOfTimeError:
            gone = None
        finally:
            work.deadline = inf
        spent = perf_counter() - start
        self.left -= spent
        work.attempts.append(Attempt(name, spent, gone is not None))
        if gone is not None:
            key, count = self.tried[-1]
            self.experience.won[key, count.bit_length()] = Won(name, count, spent)
        return gone


def _dred_if_little(support: Support[F], lost: F, work: Work) -> F:
    gone = dred.decrease_within(support, lost, tuning.FALLBACK_RATIO * len(lost), work)
    if gone is None:
        raise OutOfTimeError
    return gone


_BY_NAME: dict[str, Decrease] = {"bf": backward_forward.decrease, "dred": dred.decrease}
