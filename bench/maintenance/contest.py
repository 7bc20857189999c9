"""A change by every algorithm, in turns: repeated while it is quick, and compared with the others fact for fact.

An algorithm that does not come to an end within the limits is out: it is not asked again for a larger change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.maintenance.subject import Done, Step, Subject
from bench.measure import Limits, MeasurementError
from tidelog.algebra.engine import Work
from tidelog.changes.state import State
from tidelog.engines.local.facts import LocalFacts

Result = dict[str, Any]
Say = Callable[[str], None]

BASELINE = "rematerialise"
TURNS = 7  # the first one or two pay for what later ones find there
AT_ONCE = 7  # runs of a turn at most: of a change that takes milliseconds few would tell little
TURN_SECONDS = 0.15  # after which a turn has no further run
OUT = "no result for a smaller change"


class DisagreementError(Exception):
    """Two algorithms made different things of the same change: nothing that was measured is worth anything."""


class Runs:
    """A change by one algorithm, over and over."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.seconds: list[float] = []
        self.work = Work()  # the same each time

    @property
    def is_over(self) -> bool:
        return bool(self.seconds) and sum(self.seconds) >= self.limits.repeat_seconds

    def turn(self, subject: Subject, name: str, state: State, step: Step) -> Done:
        """The last of some runs. Nothing else is kept: what an algorithm makes may be large."""
        start = len(self.seconds)
        while True:
            with subject.limited(self.limits.seconds):
                done = subject.change(name, state, step)
            self.seconds.append(done.seconds)
            runs = self.seconds[start:]
            if self.is_over or len(runs) == AT_ONCE or sum(runs) >= TURN_SECONDS:
                self.work = done.work
                return done

    def summary(self) -> Result:
        """The least time, and all of them."""
        return {
            "seconds": min(self.seconds),
            "all_seconds": self.seconds,
            "derivations": self.work.derivations,
            "rounds": self.work.rounds,
            "counters": self.work.counters,
        }


class Contest:
    """Changes that grow, by these algorithms. Each change is also taken back: that is measured too.

    A machine has slow moments that last for seconds: the algorithms take turns, and the best run of each counts.
    """

    def __init__(self, algorithms: Sequence[str], limits: Limits, say: Say) -> None:
        self.algorithms = algorithms
        self.limits = limits
        self.say = say
        self.out: set[str] = set()

    def run(self, subject: Subject, step: Step) -> tuple[LocalFacts, dict[str, Result]]:
        """The facts that the step takes away, and what each algorithm needed, or why it gave no result."""
        skipped = dict.fromkeys(self.out, OUT)
        runs = {name: (Runs(self.limits), Runs(self.limits)) for name in self.algorithms if name not in self.out}
        first: list[tuple[str, Done]] = []
        for _ in range(TURNS):
            for name in [n for n in runs if n not in skipped and not any(r.is_over for r in runs[n])]:
                try:
                    self._turn(subject, name, step, *runs[name], first)
                except MeasurementError as failure:
                    self.out.add(name)
                    skipped[name] = str(failure)
        if not first:
            raise MeasurementError("no algorithm came to an end")
        return first[0][1].outcome.removed, {name: self._told(name, skipped, runs) for name in self.algorithms}

    def _turn(
        self, subject: Subject, name: str, step: Step, there: Runs, back: Runs, first: list[tuple[str, Done]]
    ) -> None:
        is_new = not there.seconds
        with subject.limited(self.limits.seconds):
            start = subject.state(name)
        done = there.turn(subject, name, start, step)
        undone = back.turn(subject, name, done.state, step.back)
        if is_new:
            if not first:
                first.append((name, done))
            agree(*first[0], name, done)
            if _differ(undone.outcome.added, done.outcome.removed):
                raise DisagreementError(f"{name} does not add what it removed")

    def _told(self, name: str, skipped: dict[str, str], runs: dict[str, tuple[Runs, Runs]]) -> Result:
        if name in skipped:
            self.say(f"    {name:<20} {skipped[name]}")
            return {"skipped": skipped[name]}
        there, back = (each.summary() for each in runs[name])
        self.say(f"    {name:<20} {there['seconds']:9.4f} s, back {back['seconds']:9.4f} s")
        return {**there, "back": back}


def agree(reference: str, expected: Done, name: str, done: Done) -> None:
    for kind in ("added", "removed"):
        if _differ(getattr(expected.outcome, kind), getattr(done.outcome, kind)):
            raise DisagreementError(f"{name} and {reference} disagree on what is {kind}")
    if len(done.state.I) != len(expected.state.I):
        raise DisagreementError(f"{name} and {reference} end with different numbers of facts")


def _differ(one: LocalFacts, other: LocalFacts) -> bool:
    return len(one) != len(other) or bool(one - other)
