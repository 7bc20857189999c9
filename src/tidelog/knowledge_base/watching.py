"""Continuous queries: being told what a query's answers gain and lose."""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.knowledge_base.history import History
from tidelog.knowledge_base.snapshot import Snapshot
from tidelog.streams.versions import VersionStep, facts_at, steps_between
from tidelog.streams.watch import OnChange, Watch


class Watching(History):
    """Continuous queries."""

    def watch(
        self,
        query: str,
        on_change: OnChange | None = None,
        since: int | None = None,
        *,
        timeout: float | None = None,
    ) -> Watch:
        """Watch a Datalog or SPARQL query: what its answers gain and lose with each version; see `docs/streams.md`.

        Without `since` the watch starts now. With it, it starts after that version, which must be kept on disk; so a
        watch is resumed with the version of the last change it gave. `on_change` is called with each change, in the
        thread that makes it. Else iterate: `for` reads the changes that there are, `async for` waits for more, and
        with `timeout` both wait for so many seconds.

        A watch of a knowledge base on disk also sees what other processes commit: while it is read, it moves the
        knowledge base to the newest version, like `refresh`.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> watch = kb.watch("orphan(?x)")
        >>> _ = kb.apply(add="child(tom) .", add_rules="orphan(?x) :- child(?x), ~parent(_, ?x) .")
        >>> _ = kb.apply(add="parent(ann, tom) .")
        >>> for change in watch:
        ...     print(change.version, list(change.added), list(change.removed))
        1 [('tom',)] []
        2 [] [('tom',)]
        """
        watch = None
        while watch is None:
            now = self._now()
            past = self._steps_since(now, since) if since is not None else ()
            with self._replacing:  # no version is published between the ones that `past` has and the next one
                if self._held is now:
                    watch = self._watches.open(query, now.state, past, self._look_for_versions, timeout, on_change)
        if on_change is not None:
            self._watches.give()
        return watch

    def _steps_since(self, now: Snapshot, since: int) -> Iterable[VersionStep]:
        """The steps up to now; the first part is read at once, so that a version that is not kept is an error here."""
        version, I = now.state.version, now.state.I
        if self._store is None and since == version:
            return ()
        store = self._on_disk()
        start = facts_at(store, since, version, I)
        return steps_between(store, (since, start), (version, I), now.equality)

    def _look_for_versions(self) -> bool:
        """Move to the newest version on disk. Returns whether another process may make versions."""
        if self._store is None or self._store.lock.held:
            return False
        self.refresh()
        return True
