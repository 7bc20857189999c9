"""What a knowledge base holds: its version, its engine, and, on disk, its store. Any number of threads may use it.

A reader takes one `Snapshot` and needs no lock. Changes are made one after the other, in blocks of `_writing`; the last
step of a change replaces the snapshot.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock, get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tidelog.algorithms.equality.policy import OFF
from tidelog.changes.apply import changed_options
from tidelog.changes.commit import Committed
from tidelog.changes.state import State, StateOnDisk, restored
from tidelog.engines.local.engine import LocalEngine
from tidelog.errors import UsageError
from tidelog.knowledge_base.snapshot import Snapshot, UnreadVersion
from tidelog.model.addresses import directory_path
from tidelog.rules.syntax import Rule
from tidelog.settings import Settings
from tidelog.store.records import Version
from tidelog.store.store import Store, StoredVersion
from tidelog.streams.versions import step_of, steps_between
from tidelog.streams.watches import Watches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidelog.changes.spark_backend import SparkBackend


class Session:
    """The version that readers see, and what every part of a knowledge base needs."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        path: str | Path | None = None,
        read_only: bool = False,
        allow_cartesian: bool = False,
        strict: bool = False,
        create: bool = True,
        equality: str | None = None,
    ) -> None:
        self._settings = settings or Settings.from_environment()
        self._allow_cartesian = allow_cartesian
        self._strict = strict
        self._read_only = read_only
        self._is_closed = False
        self._process = os.getpid()
        self._log: list[Version] = []  # of a knowledge base in memory
        self._changing, self._changer = Lock(), 0  # held for a change; the thread that makes it
        self._preparing, self._replacing = Lock(), Lock()  # held to prepare a version for readers; to replace `_held`
        self._root = None if path is None else directory_path(path)  # also of an older version, which has no store
        self._store = None if self._root is None else Store(self._root, create=create and not read_only)
        self._spark_backend: SparkBackend | None = None
        self._watches = Watches(self._settings)
        engine = LocalEngine(self._settings)
        nothing = engine.fact_set(())
        self._held: Snapshot | UnreadVersion = Snapshot(engine, State(nothing, nothing))
        if self._store is not None:
            self._take(self._store.read(), self._state)
        if equality is not None and equality != self._state.options.get("equality", OFF):
            options = changed_options(self._state, {"equality": equality})
            self._held = Snapshot(self._engine, replace(self._state, options=options))

    # Reading

    def _now(self) -> Snapshot:
        """The newest version that this object knows. A question asks for it once."""
        held = self._held
        if self._is_closed:
            raise self._closed_error()
        return held if isinstance(held, Snapshot) else self._prepared()

    def _prepared(self) -> Snapshot:
        """Prepare the version for readers: read its facts from disk, or give readers a dictionary of their own."""
        with self._preparing:
            held = self._held
            if isinstance(held, Snapshot):  # another thread was faster
                return held
            snapshot = held.prepare()
            with self._replacing:
                if self._held is held:
                    self._held = snapshot
            return snapshot

    @property
    def _state(self) -> State:
        return self._now().state

    @property
    def _engine(self) -> LocalEngine:
        return self._held.engine

    @property
    def _described(self) -> State:
        """The newest version this object knows; its facts may be those of an older one."""
        held = self._held
        return held.state if isinstance(held, Snapshot) else held.described

    def _closed_error(self) -> UsageError:
        path = "" if self._root is None else f'"{self._root}"'
        return UsageError(f"this knowledge base is closed; open it again: tidelog.open({path})")

    # Changing

    @contextmanager
    def _writing(self) -> Iterator[Snapshot]:
        """A block that may change this knowledge base, one at a time. Yields the newest version of all processes."""
        if self._read_only:
            raise UsageError("this knowledge base was opened to be read only")
        with self._alone():
            now = self._now()
            if self._store is not None and self._store.start_writing():
                now = self._take(self._store.refresh_from(now.state.stored()), now.state)
            yield now

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A block that no other thread enters meanwhile."""
        if os.getpid() != self._process:
            raise UsageError(
                f"this knowledge base was opened by process {self._process}, and this process is a fork of it: "
                "make changes there, or open it again here"
            )
        if self._changer == get_ident():
            raise UsageError("a change is being made by this thread; make the next one when it has returned")
        with self._changing:
            if self._is_closed:
                raise self._closed_error()
            self._changer = get_ident()
            try:
                yield
            finally:
                self._changer = 0
        self._watches.give()

    def _publish(self, before: Snapshot, committed: Committed) -> None:
        """Make a new version the one that readers and watches see."""
        if self._store is None:
            self._log.append(committed.version)
        engine, state, delta = before.engine, committed.state, committed.delta
        held: Snapshot | UnreadVersion
        if isinstance(state, StateOnDisk):
            on_disk = state
            held = UnreadVersion(engine, state.state, lambda: self._with_engine(engine, on_disk.read()))
        else:
            held = Snapshot(engine, state)
        with self._replacing:
            self._held = held
            if self._watches and isinstance(held, Snapshot) and delta is not None:
                step = step_of(committed.version, before.state.I, held.state.I, delta, held.equality)
                self._watches.publish([step])
            elif self._watches:
                self._held = self._shown(before.state, held if isinstance(held, Snapshot) else held.prepare())

    def _take(self, stored: StoredVersion, before: State) -> Snapshot:
        """Publish a version that was read from disk."""
        snapshot = self._with_engine(self._engine, restored(stored, before))
        with self._replacing:
            self._held = self._shown(before, snapshot)
        return snapshot

    def _shown(self, before: State, now: Snapshot) -> Snapshot:
        """Give the stored versions after `before` to the watches."""
        if self._watches and self._store is not None and before.version < now.state.version:
            old, new = (before.version, before.I), (now.state.version, now.state.I)
            self._watches.publish(steps_between(self._store, old, new, now.equality))
        return now

    def _replace(self, held: Snapshot | UnreadVersion) -> None:
        with self._replacing:
            self._held = held

    def _with_engine(self, engine: LocalEngine, state: State) -> Snapshot:
        """The version with an engine for its dictionary: the given one, or a new one."""
        dictionary = state.E.dictionary
        return Snapshot(engine if engine.dictionary is dictionary else LocalEngine(self._settings, dictionary), state)

    @contextmanager
    def _readers_apart(self, now: Snapshot) -> Iterator[None]:
        """In this block readers add no terms to the dictionary: executors give ids to new terms meanwhile."""
        self._replace(UnreadVersion(now.engine, now.state, now.apart))
        try:
            yield
        finally:
            with self._replacing:
                if self._described.version == now.state.version:  # else a new version was published
                    self._held = now

    def _on_spark(
        self, engine: LocalEngine, master: str | None = None, spark: SparkSession | None = None
    ) -> SparkBackend:
        """Spark for this knowledge base, in a session that was given or on `master`. The caller is `_alone`."""
        from tidelog.changes.spark_backend import SparkBackend

        backend = self._spark_backend
        if backend is None or not backend.is_on(master, spark) or not backend.is_for(engine):
            if backend is not None:
                backend.close()
            backend = self._spark_backend = SparkBackend(engine, self._store, spark=spark, master=master)
        return backend

    # Opening and closing

    def __enter__(self) -> Self:
        if self._is_closed:
            raise self._closed_error()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release threads, files and locks. Every later call says that the knowledge base is closed.

        Answers that were given before can still be read.

        >>> import tidelog
        >>> tidelog.open().close()
        """
        if self._is_closed or os.getpid() != self._process:
            self._is_closed = True  # what a fork has inherited belongs to its parent
            return
        with self._alone():
            self._is_closed = True
            self._watches.close()
            self._held.engine.close()
            if self._spark_backend is not None:
                self._spark_backend.close()
                self._spark_backend = None
            if self._store is not None:
                self._store.close()

    def __repr__(self) -> str:
        where = "in memory" if self._root is None else f"at {self._root}"
        if self._is_closed:
            return f"<KnowledgeBase {where}, closed>"
        state = self._described
        facts = "" if isinstance(self._held, UnreadVersion) else f", {len(state.I):,} facts"
        return f"<KnowledgeBase {where}, version {state.version}{facts}, {len(state.program.after):,} rules>"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order they were added; `str(rule)` is its text."""
        return self._described.program.after

    @property
    def version(self) -> int:
        """0 when new; each change that is committed adds one."""
        return self._described.version

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that loaded programs and RDF files declare; see `declare`. Texts and queries may use them."""
        return self._described.prefixes

    @property
    def columns(self) -> Mapping[str, list[str]]:
        """The names of the columns of relations that came with names: from headers, DataFrames, Arrow and Parquet.

        >>> import tidelog, pyarrow
        >>> kb = tidelog.open()
        >>> _ = kb.load(pyarrow.table({"who": ["ann"], "age": [42]}), relation="person")
        >>> kb.columns, kb.facts("person").names
        ({'person': ['who', 'age']}, ('who', 'age'))
        """
        return self._described.columns

    @property
    def options(self) -> Mapping[str, object]:
        """What is kept besides facts and rules: `strict`, and `ruleset`, the names of its rule sets."""
        return self._described.options

    def _on_disk(self) -> Store:
        if self._is_closed:
            raise self._closed_error()
        if self._store is None:
            raise UsageError('only a knowledge base on disk keeps its past; open it with a path: tidelog.open("x.kb")')
        return self._store
