"""A change by every algorithm, side by side: repeated while it is quick, and compared with the others fact for fact.

An algorithm that does not come to an end within the limits is out: it is not asked again for a larger change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from bench.maintenance.subject import Done, Step, Subject
from bench.measure import Limits, MeasurementError
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.state import State

Result = dict[str, Any]
Say = Callable[[str], None]

BASELINE = "rematerialise"
REPEATS = 7  # the first run or two pay for what later ones find there
MOST_REPEATS = 50  # of a change that takes milliseconds, so that a few slow moments do not make the median
QUICK_SECONDS = 1.0  # altogether
OUT = "no result for a smaller change"


class DisagreementError(Exception):
    """Two algorithms made different things of the same change: nothing that was measured is worth anything."""


class Contest:
    """Changes that grow, by these algorithms. Each change is also taken back: that is measured too."""

    def __init__(self, algorithms: Sequence[str], limits: Limits, say: Say) -> None:
        self.algorithms = algorithms
        self.limits = limits
        self.say = say
        self.out: set[str] = set()

    def run(self, subject: Subject, step: Step) -> tuple[LocalFacts, dict[str, Result]]:
        """The facts that the step takes away, and what each algorithm needed, or why it gave no result."""
        first: list[tuple[str, Done]] = []
        results = {name: self._measured(subject, name, step, first) for name in self.algorithms}
        if not first:
            raise MeasurementError("no algorithm came to an end")
        return first[0][1].outcome.removed, results

    def _measured(self, subject: Subject, name: str, step: Step, first: list[tuple[str, Done]]) -> Result:
        if name in self.out:
            return {"skipped": OUT}
        try:
            there = self._repeated(subject, name, lambda: subject.state(name), step)
            if not first:
                first.append((name, there[-1]))
            agree(*first[0], name, there[-1])
            back = self._repeated(subject, name, lambda: there[-1].state, step.back)
        except MeasurementError as failure:
            self.out.add(name)
            self.say(f"    {name:<20} {failure}")
            return {"skipped": str(failure)}
        if _differ(back[-1].outcome.added, there[-1].outcome.removed):
            raise DisagreementError(f"{name} does not add what it removed")
        result = {**summary(there), "back": summary(back)}
        self.say(f"    {name:<20} {result['seconds']:9.4f} s, back {result['back']['seconds']:9.4f} s")
        return result

    def _goes_on(self, runs: int, seconds: float) -> bool:
        if runs < REPEATS:
            return seconds < self.limits.repeat_seconds
        return runs < MOST_REPEATS and seconds < min(QUICK_SECONDS, self.limits.repeat_seconds)

    def _repeated(self, subject: Subject, name: str, state: Callable[[], State], step: Step) -> list[Done]:
        runs: list[Done] = []
        while self._goes_on(len(runs), sum(run.seconds for run in runs)):
            with subject.limited(self.limits.seconds):
                start = state()
            with subject.limited(self.limits.seconds):
                runs.append(subject.change(name, start, step))
        return runs


def summary(runs: Sequence[Done]) -> Result:
    """The median time; the work is the same each time."""
    work = runs[-1].work
    return {
        "seconds": median(run.seconds for run in runs),
        "all_seconds": [run.seconds for run in runs],
        "derivations": work.derivations,
        "rounds": work.rounds,
        "counters": work.counters,
    }


def agree(reference: str, expected: Done, name: str, done: Done) -> None:
    for kind in ("added", "removed"):
        if _differ(getattr(expected.outcome, kind), getattr(done.outcome, kind)):
            raise DisagreementError(f"{name} and {reference} disagree on what is {kind}")
    if len(done.state.I) != len(expected.state.I):
        raise DisagreementError(f"{name} and {reference} end with different numbers of facts")


def _differ(one: LocalFacts, other: LocalFacts) -> bool:
    return len(one) != len(other) or bool(one - other)
