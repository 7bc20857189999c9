"""What a knowledge base holds: its state, its engine, and, on disk, its store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tidelog.algorithms.equality.policy import OFF, Mode, mode_of
from tidelog.changes.apply import changed_options
from tidelog.changes.commit import Committed
from tidelog.changes.state import State, StateOnDisk, restored
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import UsageError
from tidelog.queries.datalog import Kind, check_kind
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
    """The state, and what every part of a knowledge base needs of it."""

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
        self._log: list[Version] = []  # of a knowledge base in memory
        self._root = None if path is None else Path(path)  # also of an older version, which has no store
        self._store = None if path is None else Store(Path(path), create=create and not read_only)
        self._spark_backend: SparkBackend | None = None
        self._watches = Watches(self._settings)
        self._engine = LocalEngine(self._settings)
        nothing = self._engine.fact_set(())
        self._current: State | StateOnDisk = State(nothing, nothing)
        if self._store is not None:
            self._read_store(self._store.read())
        if equality is not None and equality != self._state.options.get("equality", OFF):
            self._current = replace(self._state, options=changed_options(self._state, {"equality": equality}))

    @property
    def _state(self) -> State:
        """The newest version this object knows. Reads its facts if executors have written them."""
        if isinstance(self._current, StateOnDisk):
            self._current = self._current.read()
        return self._current

    @property
    def _described(self) -> State:
        """The newest version this object knows; its facts may be those of an older one."""
        return self._current.state if isinstance(self._current, StateOnDisk) else self._current

    @property
    def _equality(self) -> Mode:
        return mode_of(self._state.options)

    def _publish(self, committed: Committed) -> None:
        """Make a new version the one that readers see."""
        before = self._described
        self._current = committed.state
        if self._store is None:
            self._log.append(committed.version)
        if self._watches and committed.delta is not None:
            self._watches.publish(
                [step_of(committed.version, before.I, self._state.I, committed.delta, self._equality)]
            )
        else:
            self._show_watches(before)

    def _show_watches(self, before: State) -> None:
        """Give the stored versions after `before` to the watches."""
        if self._watches and self._store is not None and before.version < self.version:
            old, new = (before.version, before.I), (self.version, self._state.I)
            self._watches.publish(steps_between(self._store, old, new, self._equality))

    def _read_store(self, stored: StoredVersion) -> None:
        """Take a version from disk."""
        if stored.dictionary is not self._engine.dictionary:
            self._close_engines()
            self._engine = LocalEngine(self._settings, stored.dictionary)
        before = self._described
        self._current = restored(stored, before)
        self._show_watches(before)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release threads, files and locks. The object must not be used afterwards.

        >>> import tidelog
        >>> tidelog.open().close()
        """
        self._watches.close()
        self._close_engines()
        if self._store is not None:
            self._store.close()

    def _on_spark(self, master: str | None = None, spark: SparkSession | None = None) -> SparkBackend:
        """Spark for this knowledge base, in a session that was given or on `master`."""
        from tidelog.changes.spark_backend import SparkBackend

        if self._spark_backend is None or not self._spark_backend.is_on(master, spark):
            if self._spark_backend is not None:
                self._spark_backend.close()
            self._spark_backend = SparkBackend(self._engine, self._store, spark=spark, master=master)
        return self._spark_backend

    def _close_engines(self) -> None:
        self._engine.close()
        if self._spark_backend is not None:
            self._spark_backend.close()
            self._spark_backend = None

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
    def options(self) -> Mapping[str, object]:
        """What is kept besides facts and rules: `strict`, and `ruleset`, the name of the rule set it was made with."""
        return self._described.options

    def _start_writing(self) -> None:
        """Become the one writer, of the newest version."""
        if self._read_only:
            raise UsageError("this knowledge base was opened to be read only")
        if self._store is not None and self._store.start_writing():
            self._read_store(self._store.refresh_from(self._state.stored()))

    def _on_disk(self) -> Store:
        if self._store is None:
            raise UsageError('only a knowledge base on disk keeps its past; open it with a path: tidelog.open("x.kb")')
        return self._store

    def _of_kind(self, kind: Kind, predicate: str | None = None) -> LocalFacts:
        check_kind(kind)
        state = self._state
        E, some = (S if predicate is None else S.of_predicate(predicate) for S in (state.E, state.I))
        if kind == "explicit":
            return E
        I = self._equality.facts(self._engine, state.I, some)
        return I if kind == "all" else I - E

    def _expand(self, predicate: str) -> str:
        return self._state.expand(predicate)
