"""A store on the bench: as it is before an operation, and the states it may be found in after one that met a fault."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.store.forks import Ended, Say, Servant, in_fork
from tests.store.subject import Operation, State, Subject

NEXT = 901  # the number of the commit that shows that a store still works


@dataclass
class Report:
    """How many calls there were, at how many of them a fault was met, which typed errors that gave, what went wrong."""

    calls: int = 0
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

    def open(self) -> Any:
        """The session an operation is given, when all is ready for it."""
        session = None if self.operation.opens else self.subject.open(self.path)
        if self.operation.meanwhile:
            self.operation.meanwhile(self.path)
        return session

    def close(self, session: Any) -> None:
        if not self.ends_its_session:
            self.subject.close(session)

    @property
    def ends_its_session(self) -> bool:
        return self.operation.opens or self.operation.closes

    def act(self, say: Say) -> None:
        """The operation when nothing goes wrong."""
        session = self.open()
        self.operation.act(session, self.path)
        self.close(session)
        say("done")

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
    for name in value(in_fork(learn)):
        with suppress(ImportError):
            import_module(name)
    shutil.rmtree(folder)


def prepared(subject: Subject, operation: Operation, work: Path, looker: Looker) -> Bench:
    """Make the store as it is before the operation, and learn what the operation does when nothing goes wrong."""
    bench = Bench(subject, operation, work, looker)
    bench.watched.mkdir(parents=True)
    value(in_fork(lambda say: say(operation.before(bench.path))))
    bench.keep()
    stale = looker.look(bench.path, commit=False)[0]
    if meanwhile := operation.meanwhile:
        value(in_fork(lambda say: say(meanwhile(bench.path))))
    old = looker.look(bench.path)
    bench.reset()
    value(in_fork(lambda say: bench.act(say)))
    return replace(bench, stale=stale, old=old, new=looker.look(bench.path))


class Looker:
    """Looks at stores from a process that had no part in what happened to them."""

    def __init__(self, subject: Subject) -> None:
        self._servant = Servant(lambda request: look_here(subject, Path(request[0]), commit=request[1]))

    def look(self, path: Path, *, commit: bool = True) -> list[State]:
        """The state that is found, and the one found after one more commit."""
        found: list[State] = value(self._servant.ask([str(path), commit]))
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


def value(ended: Ended) -> Any:
    assert ended.whole, ended.error or f"ended by signal {ended.signal}"
    return ended.said[-1]
