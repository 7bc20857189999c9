"""Meets a store with a fault at every call it makes, one after the other, and says what went wrong.

`python -m tests.store.sweep FOLDER FAULT SUBJECT OPERATION EVERY` runs with the shim preloaded and prints a report as
JSON; with EVERY as 0 the points are only counted. Each point is a fork of this one process, which never opens a store
itself, so a point costs milliseconds.
"""

from __future__ import annotations

import errno
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.store.forks import Ended, Say, Servant, in_fork
from tests.store.shim import CHANGES, GROWING, Action, Kind, Shim
from tests.store.subject import Operation, State, Subject
from tests.store.subjects import SUBJECTS

NEXT = 901  # the number of the commit that shows that a store still works
BOUND = 5000  # points of one operation; more would mean that the end is never reached

FAULTS = {
    "killed": (Action.KILL, CHANGES, 0),
    "torn": (Action.TEAR, Kind.WRITE, 0),
    "disk full": (Action.FAIL_FROM, GROWING, errno.ENOSPC),
    "disk full once": (Action.FAIL, GROWING, errno.ENOSPC),
    "disk broken": (Action.FAIL_FROM, CHANGES, errno.EIO),
    "disk broken once": (Action.FAIL, CHANGES, errno.EIO),
    "unreadable": (Action.FAIL_FROM, Kind.READ, errno.EIO),
    "unreadable once": (Action.FAIL, Kind.READ, errno.EIO),
}
DEADLY = (Action.KILL, Action.TEAR)


@dataclass
class Report:
    """How many points were met, how many of them ended in a typed error and which, and what went wrong."""

    points: int = 0
    refused: int = 0
    messages: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bench:
    """A subject and one of its operations. `old` and `new` are the states it may be left in, and what the next commit
    makes of them."""

    subject: Subject
    operation: Operation
    work: Path
    looker: Looker
    stale: State = field(default_factory=list)  # what was opened, if another has changed it since
    old: list[State] = field(default_factory=list)
    new: list[State] = field(default_factory=list)

    @property
    def watched(self) -> Path:
        """The folder that holds the store, and nothing else."""
        return self.work / "watched"

    @property
    def path(self) -> Path:
        return self.watched / "x.kb"

    def keep(self) -> None:
        shutil.copytree(self.watched, self.work / "base")

    def reset(self) -> None:
        shutil.rmtree(self.watched, ignore_errors=True)
        shutil.copytree(self.work / "base", self.watched)


def warm(subject: Subject, folder: Path) -> None:
    """Import here what the subject imports when it is at work, so that no fork has to."""

    def learn(say: Say) -> None:
        subject.exemplar(folder / "x.kb", lambda: None)
        look_here(subject, folder / "x.kb", commit=False)
        say(sorted(sys.modules))

    folder.mkdir()
    for name in _value(in_fork(learn)):
        with suppress(ImportError):
            import_module(name)
    shutil.rmtree(folder)


def prepared(subject: Subject, operation: Operation, work: Path) -> Bench:
    """Make the store as it is before the operation, and learn what the operation does when nothing goes wrong."""
    warm(subject, work / "warm")
    bench = Bench(subject, operation, work, Looker(subject))
    bench.watched.mkdir()
    _value(in_fork(lambda say: say(operation.before(bench.path))))
    bench.keep()
    stale = bench.looker.look(bench.path, commit=False)[0]
    if meanwhile := operation.meanwhile:
        _value(in_fork(lambda say: say(meanwhile(bench.path))))
    old = bench.looker.look(bench.path)
    bench.reset()
    _value(in_fork(lambda say: _meet(bench, say, None)))
    return replace(bench, stale=stale, old=old, new=bench.looker.look(bench.path))


class Looker:
    """Looks at stores from a process that had no part in what happened to them."""

    def __init__(self, subject: Subject) -> None:
        self._servant = Servant(lambda request: look_here(subject, Path(request[0]), commit=request[1]))

    def look(self, path: Path, *, commit: bool = True) -> list[State]:
        """The state that is found, and the one found after one more commit."""
        found: list[State] = _value(self._servant.ask([str(path), commit]))
        return found


def look_here(subject: Subject, path: Path, *, commit: bool) -> list[State]:
    states = []
    for number in (NEXT, 0) if commit else (0,):
        session = subject.open(path)
        states.append(subject.state(session))
        if number:
            assert not subject.verify(session), subject.verify(session)
            subject.commit(session, number)
        subject.close(session)
    return states


def _value(ended: Ended) -> Any:
    assert ended.whole, ended.error or f"ended by signal {ended.signal}"
    return ended.said[-1]


def sweep(bench: Bench, fault: str, every: int = 1) -> Report:
    """Meet the operation with the fault at its first call, its second, and so on until it has no more."""
    report = Report()
    for nth in range(1, BOUND, every):
        bench.reset()
        action, kinds, error = FAULTS[fault]
        ended = in_fork(lambda say, what=(action, kinds, nth, error): _meet(bench, say, what))  # type: ignore[misc]
        told = dict(ended.said)
        if told.get("missed"):
            return report
        report.points += 1
        _count(report, told)
        report.problems += [f"{fault} at call {nth}: {text}" for text in _problems(bench, ended, told, action)]
    raise AssertionError(f"still going after {BOUND} calls")


def count(bench: Bench, fault: str) -> Report:
    """How many points a deadly fault has in the operation."""
    action, kinds, error = FAULTS[fault]
    bench.reset()
    ended = in_fork(lambda say: _meet(bench, say, (action, kinds, 0, error)))
    return Report(points=_value(ended)[1])


def _count(report: Report, told: dict[str, Any]) -> None:
    message = told.get("refused")
    report.refused += message is not None
    if message is not None and message not in report.messages:
        report.messages.append(message)


def _meet(bench: Bench, say: Say, fault: tuple[Action, Kind, int, int] | None) -> None:
    """Act with the fault ahead. A process that lives on uses the same session after the fault is gone."""
    subject, operation = bench.subject, bench.operation
    session = None if operation.opens else subject.open(bench.path)
    if operation.meanwhile:
        operation.meanwhile(bench.path)
    shim = Shim(bench.watched)
    if fault:
        shim.arm(*fault)
    try:
        operation.act(session, bench.path)
        say(["done", True])
    except subject.refusal as refusal:
        say(["refused", str(refusal)])
    if fault and fault[0] not in DEADLY:
        say(["missed", not shim.hits])
        shim.disarm()
        _go_on(bench, session, say)
        return
    if not operation.opens and not operation.closes:
        subject.close(session)
    say(["missed", not shim.hits])
    say(["calls", shim.seen])


def _go_on(bench: Bench, session: Any, say: Say) -> None:
    if bench.operation.opens or bench.operation.closes:
        return
    say(["now", bench.subject.state(session)])
    bench.subject.commit(session, NEXT)
    say(["next", bench.subject.state(session)])
    bench.subject.close(session)


def _problems(bench: Bench, ended: Ended, told: dict[str, Any], action: Action) -> Iterator[str]:
    if ended.error or (ended.signal and action not in DEADLY):
        yield ended.error or f"ended by signal {ended.signal}"
        return
    allowed = [bench.new] if "done" in told else [bench.old, bench.new]
    same = [told["now"], told["next"]] if "next" in told else None
    if same and same not in allowed and ("done" in told or same != [bench.stale, bench.old[1]]):
        yield f"the open store went on with {same}, expected one of {allowed}"
    try:
        found = bench.looker.look(bench.path, commit=not same)
    except AssertionError as error:
        yield f"afterwards: {error}"
        return
    if found not in (allowed if not same else [same[1:]]):
        yield f"afterwards {found}, expected one of {allowed} after {told}"


def main(folder: str, fault: str, name: str, operation: str, every: str) -> None:
    subject = SUBJECTS[name]()
    bench = prepared(subject, subject.operations[operation], Path(folder))
    report = sweep(bench, fault, int(every)) if int(every) else count(bench, fault)
    print(json.dumps(vars(report)))


if __name__ == "__main__":
    main(*sys.argv[1:])
