"""Cuts the power at every moment of a recorded session, and says where the store did not come back as it must.

`python -m tests.store.power FOLDER SUBJECT SEEDS` runs with the shim preloaded and prints a report as JSON: after each
recorded call the disk is rebuilt as it may then be, in as many ways as there are seeds, and the store opened again.
What was acknowledged must be there; the step under way may be or not.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.store.disk import Call, Chance, Disk, Everything, read_log
from tests.store.forks import Say, in_fork
from tests.store.shim import Kind, Shim
from tests.store.subject import State, Subject
from tests.store.subjects import SUBJECTS
from tests.store.sweep import Report, look, warm


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


def cut_everywhere(subject: Subject, work: Path, seeds: int) -> Report:
    watched, start, report = work / "watched", work / "start", Report()
    warm(subject, work / "warm")
    known = states(subject, work / "x.kb")
    watched.mkdir()
    disk = Disk(watched)
    calls = record(subject, watched, work / "log")
    marks = 0
    for number, call in enumerate(calls, 1):
        marks += call.kind is Kind.MARK
        disk.apply(call)
        for seed in range(seeds):
            report.points += 1
            problems = _cut(subject, disk, start, Chance((number, seed)), known[marks : marks + 2])
            report.problems += [f"power lost after call {number}, seed {seed}: {text}" for text in problems]
    report.problems += _incomplete(disk, watched, work / "all")
    return report


def _cut(subject: Subject, disk: Disk, folder: Path, chance: Chance, allowed: list[State]) -> Iterator[str]:
    shutil.rmtree(folder, ignore_errors=True)
    disk.survivors(folder, chance)
    try:
        found, after = look(subject, folder / "x.kb")
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


def main(folder: str, name: str, seeds: str) -> None:
    print(json.dumps(vars(cut_everywhere(SUBJECTS[name](), Path(folder), int(seeds)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
