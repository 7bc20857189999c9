"""A version of a knowledge base on disk as some process of Spark reads it: opened once, and kept for the next task.

Whoever plans a read decides the version; all tasks show that one, whatever is committed meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.equality.modes import mode_of
from tidelog.errors import UsageError
from tidelog.past import state_at
from tidelog.queries import Kind
from tidelog.state import restored
from tidelog.store.store import Store

_KEPT = 2  # versions that a process holds open


@dataclass(frozen=True, slots=True)
class Shown:
    """Facts that a reader is shown, and those that were explicit when they held."""

    facts: LocalFacts
    E: LocalFacts
    kind: Kind

    def __len__(self) -> int:
        """How many facts of a version are shown: explicit facts hold, so they are among all facts."""
        return len(self.facts) - (len(self.E) if self.kind == "derived" else 0)


class View:
    """One version."""

    def __init__(self, path: str, version: int | None) -> None:
        self._store = Store(Path(path), create=False)
        self._newest = restored(self._store.read())
        self._engine = LocalEngine(dictionary=self._newest.E.dictionary)
        self._facts: dict[tuple[str, Kind], Shown] = {}
        past = version is not None and version != self._newest.version
        self.state = state_at(self._store, self._newest, version) if past and version is not None else self._newest

    def close(self) -> None:
        self._engine.close()
        self._store.close()

    def facts(self, relation: str, kind: Kind) -> Shown:
        """The facts of a relation, found once for all tasks: what users see may have to be derived."""
        key = relation, kind
        if key not in self._facts:
            self._facts[key] = self._found(relation, kind)
        return self._facts[key]

    def _found(self, relation: str, kind: Kind) -> Shown:
        E = self.state.E.only(relation)
        if kind == "explicit":
            return Shown(E, E, kind)
        I = self.state.I
        return Shown(mode_of(self.state.options).facts(self._engine, I, I.only(relation)), E, kind)

    def changes(self, relation: str, kind: Kind, since: int) -> tuple[Shown, Shown]:
        """The facts of a relation that were gained since a version, and those that were lost."""
        if kind == "derived":
            raise UsageError('changes are those of "all" or of "explicit" facts; filter them by the column `explicit`')
        if since > self.state.version:
            raise UsageError(f"changesSince={since} is after the version that is read, {self.state.version}")
        dictionary, mode = self._newest.E.dictionary, mode_of(self.state.options)
        delta = self._store.between(since, self.state.version, dictionary)
        before = delta.inverse().apply(self.state.E, self.state.I)
        gained, lost = delta.E_added, delta.E_removed
        if kind == "all":
            seen = mode.difference(self._engine, before[1], self.state.I, delta.I_added, delta.I_removed)
            gained, lost = seen.added(), seen.removed()
        return Shown(gained.only(relation), self.state.E, kind), Shown(lost.only(relation), before[0], kind)


_views: OrderedDict[tuple[str, int], View] = OrderedDict()
_lock = Lock()


def view(path: str, version: int | None = None) -> View:
    """A version, or the newest one, kept open by this process for a while."""
    with _lock:
        found = _views.get((path, version)) if version is not None else None
        if found is None:
            found = View(path, version)
            while len(_views) >= _KEPT:
                _views.popitem(last=False)[1].close()
        _views[path, found.state.version] = found
        _views.move_to_end((path, found.state.version))
        return found
