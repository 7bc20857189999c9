"""The versions on disk: going back, comparing, checking, compacting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Self

from tidelog.changes.apply import recomputed
from tidelog.changes.result import Difference, Versions
from tidelog.changes.state import difference, state_at
from tidelog.knowledge_base.session import Session
from tidelog.knowledge_base.snapshot import Snapshot
from tidelog.store.backup import back_up
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
        newest = self._now().state.version
        if self._store is not None:
            return Versions(self._store.versions(newest))
        return Versions(version for version in self._log.copy() if version.version <= newest)

    def at(self, version: int) -> Self:
        """The knowledge base as it was at a version on disk; it can be queried, and not changed.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) ."), kb.apply(remove="p(a) .")
        >>> list(kb.at(1).query("p(?x)")), list(kb.query("p(?x)"))
        ([('a',)], [])
        """
        now = self._now()
        past = type(self)(self._settings, read_only=True)
        past._root = self._root
        past._held = Snapshot(now.engine, state_at(self._on_disk(), now.state, version))
        return past

    def diff(self, older: int, newer: int) -> Difference:
        """What changed between two versions on disk: facts gained and lost, rules added and removed.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) . p(b) ."), kb.apply(remove="p(a) .", add="p(c) .")
        >>> sorted(kb.diff(1, 2).added), sorted(kb.diff(2, 1).added)
        ([('p', 'c')], [('p', 'a')])
        """
        now = self._now()
        return difference(self._on_disk(), now.engine, now.state, older, newer)

    def refresh(self) -> int:
        """Move to the newest version on disk, which another process may have made; gives its number.

        >>> import tidelog, tempfile
        >>> path = tempfile.mkdtemp() + "/x.kb"
        >>> writer, reader = tidelog.open(path), tidelog.open(path)
        >>> _ = writer.apply(add="p(a) .")
        >>> reader.version, reader.refresh(), len(reader.facts("p"))
        (0, 1, 1)
        """
        with self._alone():
            now = self._now()
            if self._store is not None and self._store.newest() != now.state.version:
                now = self._take(self._store.refresh_from(now.state.stored()), now.state)
            return now.state.version

    def backup(self, path: str | Path) -> int:
        """Copy a knowledge base on disk, with its past, to a new path, also while it is changed. Returns the version.

        Files that never change are linked, not copied, if the path is on the same file system.

        >>> import tidelog, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> kb = tidelog.open(folder + "/x.kb")
        >>> _ = kb.apply(add="p(a) .")
        >>> kb.backup(folder + "/copy.kb")
        1
        >>> tidelog.open(folder + "/copy.kb").digest() == kb.digest()
        True
        """
        return back_up(self._on_disk(), Path(path))

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
        with self._writing() as now:
            compact(store, now.state.stored(), now.state.version if keep is None else keep)

    def verify(self, recompute: bool = False) -> Verification:
        """Read everything on disk again and check it; `recompute` also derives everything again and compares.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> kb.verify(recompute=True).ok
        True
        """
        now = self._now()
        report = verify(self._on_disk())
        if not recompute:
            return report
        I, again = now.state.I, recomputed(now.engine, now.state)
        wrong = len(again - I) + len(I - again)
        problems = [f"{wrong} facts are not what the rules give"] if wrong else []
        return replace(report, recomputed=True, problems=[*report.problems, *problems])
