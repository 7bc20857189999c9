"""All open watches of one knowledge base. Each query is evaluated once for each version, for all watches of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import Lock, RLock, get_ident
from typing import Protocol
from weakref import WeakSet

from tidelog.algorithms.equality.policy import MODES, OFF, mode_of
from tidelog.changes.state import State
from tidelog.engines.local.engine import LocalEngine
from tidelog.errors import TidelogError
from tidelog.queries.answers import Answers
from tidelog.queries.datalog import read_query
from tidelog.queries.language import is_sparql
from tidelog.settings import Settings
from tidelog.streams.datalog_watch import DatalogWatch, answer_rule
from tidelog.streams.versions import VersionStep
from tidelog.streams.watch import AnswerChange, OnChange, Watch


class ContinuousQuery(Protocol):
    """A query that can say how a version changes its answers."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def method(self) -> str: ...

    def difference(self, engine: LocalEngine, step: VersionStep) -> tuple[Answers, Answers]:
        """The answers that a version gained and lost."""
        ...


def continuous_query(text: str, state: State) -> ContinuousQuery:
    """Read a Datalog or SPARQL query."""
    if is_sparql(text):
        from tidelog.streams.sparql_watch import sparql_watch

        return sparql_watch(text, state.prefixes, has_equality=mode_of(state.options) is not MODES[OFF])
    body, variables = read_query(text, state)
    return DatalogWatch(answer_rule(variables, body), tuple(v.name for v in variables))


@dataclass
class _Watched:
    """A query and its watches."""

    query: ContinuousQuery
    watches: WeakSet[Watch] = field(default_factory=WeakSet)


class Watches:
    """The open watches. A watch without `on_change` that its user drops is closed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = replace(settings, threads=1)  # an engine with one thread needs not be closed
        self._lock = RLock()
        self._watched: dict[tuple[str, tuple[tuple[str, str], ...]], _Watched] = {}
        self._calling: set[Watch] = set()  # watches with `on_change`, which their users need not hold
        self._steps: deque[VersionStep] = deque()
        self._turn, self._giver = Lock(), 0  # held while watches get versions; the thread that gives them
        self._engine: LocalEngine | None = None

    def __bool__(self) -> bool:
        """Whether there are open watches."""
        with self._lock:
            for key, watched in list(self._watched.items()):
                if all(watch.closed for watch in watched.watches):
                    del self._watched[key]
            self._calling = {watch for watch in self._calling if not watch.closed}
            return bool(self._watched)

    def open(
        self,
        text: str,
        state: State,
        past: Iterable[VersionStep],
        poll: Callable[[], bool],
        timeout: float | None,
        on_change: OnChange | None,
    ) -> Watch:
        """A new watch. `past` are the steps up to `state`, oldest first, that it reads before what comes."""
        key = text, tuple(sorted(state.prefixes.items()))
        with self._lock:
            watched = self._watched.get(key) or _Watched(continuous_query(text, state))
            query = watched.query
            watch = Watch(text, query.names, query.method, poll, self._changes(query, past), timeout, on_change)
            self._watched[key] = watched
            watched.watches.add(watch)
            if on_change is not None:
                self._calling.add(watch)
        return watch

    def _changes(self, query: ContinuousQuery, steps: Iterable[VersionStep]) -> Iterator[AnswerChange]:
        for step in steps:
            change = self._change(query, step)
            if change is not None:
                yield change

    def _change(self, query: ContinuousQuery, step: VersionStep) -> AnswerChange | None:
        with self._lock:
            if self._engine is None or self._engine.dictionary is not step.after.dictionary:
                self._engine = LocalEngine(self._settings, step.after.dictionary)
            added, removed = query.difference(self._engine, step)
        return AnswerChange(step.version, step.time, added, removed) if len(added) or len(removed) else None

    def publish(self, steps: Iterable[VersionStep]) -> None:
        """Queue new versions; `give` gives them to the watches. Versions are published in their order."""
        with self._lock:
            self._read(steps)

    def give(self) -> None:
        """Give the queued versions to all watches. A version that `on_change` makes comes after those given now.

        One thread does this at a time; another one waits until its versions were given too. The caller holds no lock.
        The first error of an `on_change` is raised when all watches have got the versions.
        """
        if self._giver == get_ident():  # an `on_change` has made a version
            return
        errors: list[Exception] = []
        with self._turn:
            self._giver = get_ident()
            try:
                while self._give_next(errors):
                    pass
            finally:
                self._giver = 0
        if errors:
            raise errors[0]

    def _give_next(self, errors: list[Exception]) -> bool:
        """Give one version, and call `on_change` for it and for older ones. Returns whether there was something."""
        with self._lock:
            has_step = bool(self._steps)
            if has_step:
                self._give(self._steps.popleft())
            calling = list(self._calling)
        called = False
        for watch in calling:
            while (change := watch.next_call()) is not None:
                called = True
                assert watch.on_change is not None
                self._call(watch.on_change, change, errors)
        return has_step or called

    def _read(self, steps: Iterable[VersionStep]) -> None:
        """Remember the steps. If the store has forgotten some, all watches end with an error."""
        try:
            self._steps.extend(steps)
        except TidelogError as error:
            for watched in self._watched.values():
                for watch in watched.watches:
                    watch.fail(error)

    def _give(self, step: VersionStep) -> None:
        for watched in list(self._watched.values()):
            watches = [watch for watch in watched.watches if not watch.closed]
            if not watches:
                continue
            try:
                change = self._change(watched.query, step)
            except TidelogError as error:
                for watch in watches:
                    watch.fail(error)
                continue
            if change is not None:
                for watch in watches:
                    watch.put(change)

    @staticmethod
    def _call(on_change: OnChange, change: AnswerChange, errors: list[Exception]) -> None:
        try:
            on_change(change)
        except Exception as error:
            error.add_note(f"Version {change.version} is committed; `on_change` of a watch raised this error.")
            errors.append(error)

    def close(self) -> None:
        """Close all watches."""
        with self._lock:
            for watched in self._watched.values():
                for watch in watched.watches:
                    watch.close()
            self._watched.clear()
            self._calling.clear()
