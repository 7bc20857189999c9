"""Cuts the power at every moment of a recorded session, and says where the store did not come back as it must.

`python -m tests.store.power FOLDER SUBJECT SEEDS EVERY` runs with the shim preloaded and prints a report as JSON: after
every so manieth call the disk is rebuilt as it may then be, in as many ways as there are seeds, and the store opened
again. What was acknowledged must be there; the step under way may be or not. With the name of an operation instead of
numbers, the power fails at its end, after one of its syncs has failed.
"""

from __future__ import annotations

import errno
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from tests.store.bench import Bench, Looker, Report, prepared, warm
from tests.store.disk import Call, Chance, Disk, Everything, Nothing, read_log
from tests.store.forks import Say, in_fork
from tests.store.shim import Action, Kind, Shim
from tests.store.subject import State, Subject
from tests.store.subjects import SUBJECTS


def record(subject: Subject, watched: Path, log: Path) -> list[Call]:
    """The calls of one session; a mark follows each step that was acknowledged."""

    def work(say: Say) -> None:
        shim = Shim(watched)
        shim.record(log)
        for _ in subject.story(watched / "x.kb"):
            shim.mark(0)

    ended = in_fork(work)
    assert ended.whole, ended.error
    return list(read_log(log))


def states(subject: Subject, path: Path) -> list[State]:
    """The state before the session, and after each of its steps."""

    def work(say: Say) -> None:
        session = subject.open(path)
        say(subject.state(session))
        subject.close(session)
        shutil.rmtree(path)
        for session in subject.story(path):
            say(subject.state(session))

    ended = in_fork(work)
    assert ended.whole, ended.error
    return ended.said


def cut_everywhere(subject: Subject, work: Path, seeds: int, every: int) -> Report:
    watched, start, report = work / "watched", work / "start", Report()
    looker = Looker(subject)
    known = states(subject, work / "x.kb")
    watched.mkdir()
    disk = Disk(watched)
    calls = record(subject, watched, work / "log")
    report.calls, marks = len(calls), 0
    for number, call in enumerate(calls, 1):
        marks += call.kind is Kind.MARK
        disk.apply(call)
        for seed in range(seeds if number % every == 0 else 0):
            report.points += 1
            problems = _cut(looker, disk, start, Chance((number, seed)), known[marks : marks + 2])
            report.problems += [f"power lost after call {number}, seed {seed}: {text}" for text in problems]
    report.problems += _incomplete(disk, watched, work / "all")
    return report


def after_failed_syncs(bench: Bench, log: Path) -> Report:
    """Let the sync of one file after the other fail, and cut the power when the operation has ended, well or not.

    (Not of folders: SQLite takes no notice when the one that holds its log cannot be synced.)
    """
    report = Report()
    for nth in count(1):
        bench.reset()
        disk = Disk(bench.watched)
        log.unlink(missing_ok=True)
        told = dict(in_fork(lambda say, nth=nth: _fail(bench, log, nth, say)).said)  # type: ignore[misc]
        if told["missed"]:
            return report
        report.points += 1
        report.refused += not told["done"]
        for call in read_log(log):
            disk.apply(call)
        allowed = [bench.new[0]] if told["done"] else [bench.old[0], bench.new[0]]
        problems = _cut(bench.looker, disk, bench.work / "start", Nothing(), allowed)
        report.problems += [f"sync {nth} failed, then the power: {text}" for text in problems]
    raise AssertionError("there is no end to counting")


def _fail(bench: Bench, log: Path, nth: int, say: Say) -> None:
    shim = Shim(bench.watched)
    shim.record(log)
    session = bench.subject.open(bench.path)
    shim.arm(Action.FAIL, Kind.SYNC, nth, errno.EIO)
    done = False
    with suppress(bench.subject.refusal):
        bench.operation.act(session, bench.path)
        done = True
    say(["done", done])
    say(["missed", not shim.hits])


def _cut(looker: Looker, disk: Disk, folder: Path, chance: Chance, allowed: list[State]) -> Iterator[str]:
    shutil.rmtree(folder, ignore_errors=True)
    disk.survivors(folder, chance)
    try:
        found, after = looker.look(folder / "x.kb")
    except AssertionError as error:
        yield str(error)
        return
    if found not in allowed:
        yield f"found {found}, expected one of {allowed}"
    if after[0] != found[0] + 1:
        yield f"the next commit made {after} of {found}"


def _incomplete(disk: Disk, watched: Path, target: Path) -> list[str]:
    """Files that the recorded calls do not account for: the shim would have missed something."""
    disk.survivors(target, Everything())
    names = {p.relative_to(folder) for folder in (watched, target) for p in folder.rglob("*") if p.is_file()}
    return [f"the log does not tell what is in {n}" for n in sorted(names) if _bytes(watched / n) != _bytes(target / n)]


def _bytes(file: Path) -> bytes | None:
    """Of a file; SQLite's shared memory is mapped, and made anew after a crash."""
    return b"" if file.name.endswith("-shm") else file.read_bytes() if file.exists() else None


def main(folder: str, name: str, *how: str) -> None:
    subject, work = SUBJECTS[name](), Path(folder)
    warm(subject, work / "warm")
    if how[0].isdecimal():
        report = cut_everywhere(subject, work, *map(int, how))
    else:
        bench = prepared(subject, subject.operations[how[0]], work / "bench", Looker(subject))
        report = after_failed_syncs(bench, work / "log")
    print(json.dumps(vars(report)))


if __name__ == "__main__":
    main(*sys.argv[1:])
