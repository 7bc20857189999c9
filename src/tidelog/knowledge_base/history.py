"""The versions on disk: going back, comparing, checking, compacting."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from tidelog.changes.apply import recomputed
from tidelog.changes.result import Difference, Versions
from tidelog.changes.state import difference, state_at
from tidelog.engines.local.engine import LocalEngine
from tidelog.knowledge_base.session import Session
from tidelog.store.compaction import compact
from tidelog.store.verification import Verification, verify


class History(Session):
    """What was before, and whether what is there is right."""

    def versions(self) -> Versions:
        """Every version that can still be read: when, what, which algorithm, how many facts gained and lost.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .", message="first")
        >>> [(v.version, v.message, v.added, v.removed) for v in kb.versions()]
        [(1, 'first', 1, 0)]
        """
        return Versions(self._log if self._store is None else self._store.versions())

    def at(self, version: int) -> Self:
        """The knowledge base as it was at a version on disk; it can be queried, and not changed.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) ."), kb.apply(remove="p(a) .")
        >>> list(kb.at(1).query("p(?x)")), list(kb.query("p(?x)"))
        ([('a',)], [])
        """
        past = type(self)(self._settings, read_only=True)
        past._root = self._root
        past._engine = LocalEngine(self._settings, self._engine.dictionary)
        past._current = state_at(self._on_disk(), self._state, version)
        return past

    def diff(self, older: int, newer: int) -> Difference:
        """What changed between two versions on disk: facts gained and lost, rules added and removed.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) . p(b) ."), kb.apply(remove="p(a) .", add="p(c) .")
        >>> sorted(kb.diff(1, 2).added), sorted(kb.diff(2, 1).added)
        ([('p', 'c')], [('p', 'a')])
        """
        return difference(self._on_disk(), self._engine, self._state, older, newer)

    def refresh(self) -> int:
        """Move to the newest version on disk, which another process may have made; gives its number.

        >>> import tidelog, tempfile
        >>> path = tempfile.mkdtemp() + "/x.kb"
        >>> writer, reader = tidelog.open(path), tidelog.open(path)
        >>> _ = writer.apply(add="p(a) .")
        >>> reader.version, reader.refresh(), len(reader.facts("p"))
        (0, 1, 1)
        """
        if self._store is not None and self._store.newest() != self._state.version:
            self._read_store(self._store.refresh_from(self._state.stored()))
        return self.version

    def compact(self, keep: int | None = None) -> None:
        """Fold all changes into one set of files; with `keep`, forget all but so many versions before the newest.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) ."), kb.apply(add="p(b) .")
        >>> kb.compact(keep=1)
        >>> [v.version for v in kb.versions()], len(kb.facts("p"))
        ([2], 2)
        """
        store = self._on_disk()
        self._start_writing()
        compact(store, self._state.stored(), self.version if keep is None else keep)

    def verify(self, recompute: bool = False) -> Verification:
        """Read everything on disk again and check it; `recompute` also derives everything again and compares.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> kb.verify(recompute=True).ok
        True
        """
        report = verify(self._on_disk())
        if not recompute:
            return report
        I, again = self._state.I, recomputed(self._engine, self._state)
        wrong = len(again - I) + len(I - again)
        problems = [f"{wrong} facts are not what the rules give"] if wrong else []
        return replace(report, recomputed=True, problems=[*report.problems, *problems])
