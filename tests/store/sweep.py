"""Meets a store with a fault at every call it makes, one after the other, and says what went wrong.

`python -m tests.store.sweep FOLDER SUBJECT FAULT,… OPERATION,… EVERY` runs with the shim preloaded and prints a report
as JSON. Each point is a fork of this one process, which never opens a store itself, so a point costs milliseconds.
"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.store.bench import NEXT, Bench, Looker, Report, prepared, warm
from tests.store.forks import Say, in_fork
from tests.store.shim import CHANGES, GROWING, Action, Kind, Shim
from tests.store.subject import State
from tests.store.subjects import SUBJECTS

Fault = tuple[Action, Kind, int]

FAULTS: dict[str, Fault] = {
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


def sweep(bench: Bench, name: str, every: int, report: Report) -> None:
    """Count the calls of the operation, then meet it with the fault at the first of them, and so on."""
    bench.reset()
    counted = in_fork(lambda say: _meet(bench, FAULTS[name], 0, say))
    assert counted.whole, counted.error
    calls = dict(counted.said)["calls"]
    report.calls += calls
    for nth in range(1, calls + 1, every):
        problems = _point(bench, FAULTS[name], nth, report)
        report.problems += [f"{name} at call {nth}: {text}" for text in problems]


def _point(bench: Bench, fault: Fault, nth: int, report: Report) -> Iterator[str]:
    bench.reset()
    ended = in_fork(lambda say: _meet(bench, fault, nth, say))
    told = dict(ended.said)
    if told.get("missed"):
        return
    report.points += 1
    message = told.get("refused")
    report.refused += message is not None
    if message is not None and message not in report.messages:
        report.messages.append(message)
    if ended.error or (ended.signal and fault[0] not in DEADLY):
        yield ended.error or f"ended by signal {ended.signal}"
    else:
        yield from _problems(bench, told)


def _meet(bench: Bench, fault: Fault, nth: int, say: Say) -> None:
    """Act with the fault ahead. A process that lives on uses the same session after the fault is gone."""
    action, kinds, error = fault
    session = bench.open()
    shim = Shim(bench.watched)
    shim.arm(action, kinds, nth, error)
    try:
        bench.operation.act(session, bench.path)
        say(["done", True])
    except bench.subject.refusal as refusal:
        say(["refused", str(refusal)])
    if action in DEADLY:
        bench.close(session)
    say(["calls", shim.seen])
    say(["missed", not shim.hits])
    shim.disarm()
    if action not in DEADLY and not bench.ends_its_session:
        _go_on(bench, session, say)


def _go_on(bench: Bench, session: Any, say: Say) -> None:
    say(["now", bench.subject.state(session)])
    bench.subject.commit(session, NEXT)
    say(["next", bench.subject.state(session)])
    bench.close(session)


def _problems(bench: Bench, told: dict[str, Any]) -> Iterator[str]:
    allowed = [bench.new] if "done" in told else [bench.old, bench.new]
    same = [told["now"], told["next"]] if "next" in told else None
    if same and same not in allowed and not ("refused" in told and _moved_on(bench, same)):
        yield f"the open store went on with {same}, expected one of {allowed}"
    try:
        found = bench.looker.look(bench.path, commit=not same)
    except AssertionError as error:
        yield f"afterwards: {error}"
        return
    if found not in (allowed if not same else [same[1:]]):
        yield f"afterwards {found}, expected one of {allowed} after {told}"


def _moved_on(bench: Bench, states: list[State]) -> bool:
    """It shows what it had read, until it is used to change what is there now: the commit of another, or one of its own
    that could not be finished for certain."""
    return states[0] in (bench.stale, bench.old[0]) and states[1] in (bench.old[1], bench.new[1])


def main(folder: str, name: str, faults: str, operations: str, every: str) -> None:
    subject, report = SUBJECTS[name](), Report()
    warm(subject, Path(folder, "warm"))
    looker = Looker(subject)
    for operation in operations.split(","):
        bench = prepared(subject, subject.operations[operation], Path(folder, operation), looker)
        for fault in faults.split(","):
            sweep(bench, fault, int(every), report)
    print(json.dumps(vars(report)))


if __name__ == "__main__":
    main(*sys.argv[1:])
