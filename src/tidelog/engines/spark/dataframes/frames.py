"""Relations of a knowledge base on disk as DataFrames, and the versions that Spark's processes have open.

A process opens a version once and keeps it for the next tasks. The driver decides the version of a DataFrame when it is
created; all its tasks read this version, also after later commits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tidelog import tuning
from tidelog.algorithms.equality.policy import mode_of
from tidelog.changes.state import State, restored, state_at
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.dataframes import NAME, register
from tidelog.engines.spark.dataframes.columns import types
from tidelog.errors import UsageError
from tidelog.queries.datalog import Kind
from tidelog.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_UNKNOWN = "DATA_SOURCE_NOT_FOUND"  # Spark's error if the data source is not registered


def relation(spark: SparkSession, root: Path, state: State, facts: LocalFacts, name: str, kind: Kind) -> DataFrame:
    """A DataFrame of the facts of a relation. `facts` are the same facts; they decide the types of the columns."""
    arity = facts.arities().get(name, 0)
    if not arity:
        raise UsageError(f"{name} has no facts with arguments, and so no columns")
    columns = ", ".join(f"`{c}` {t}" for c, t in zip(state.columns_of(name, arity), types(facts, arity), strict=True))
    options = {"relation": f"<{name}>", "kind": kind, "asOf": str(state.version), "path": str(root.absolute())}
    try:
        return _read(spark, columns, options)
    except Exception as error:  # its class depends on the kind of session
        if _UNKNOWN not in str(error):
            raise
    register(spark)
    return _read(spark, columns, options)


def _read(spark: SparkSession, columns: str, options: Mapping[str, str]) -> DataFrame:
    frame = spark.read.format(NAME).schema(columns).options(**options).load()
    assert frame.schema  # makes a Connect server look for the source now
    return frame


@dataclass(frozen=True, slots=True)
class ShownFacts:
    """The facts that a reader sees, and the explicit facts of their version."""

    facts: LocalFacts
    E: LocalFacts
    kind: Kind

    def __len__(self) -> int:
        """The number of facts that the reader sees. The explicit facts are a subset of `facts`."""
        return len(self.facts) - (len(self.E) if self.kind == "derived" else 0)


class VersionView:
    """One version of a knowledge base, open for reading."""

    def __init__(self, path: str, version: int | None) -> None:
        self._store = Store(Path(path), create=False)
        self._newest = restored(self._store.read())
        self._engine = LocalEngine(dictionary=self._newest.E.dictionary)
        self._facts: dict[tuple[str, Kind], ShownFacts] = {}
        past = version is not None and version != self._newest.version
        self.state = state_at(self._store, self._newest, version) if past and version is not None else self._newest

    def close(self) -> None:
        self._engine.close()
        self._store.close()

    def facts(self, relation: str, kind: Kind) -> ShownFacts:
        """The facts of a relation. They are kept, because equality may require to compute them."""
        key = relation, kind
        if key not in self._facts:
            self._facts[key] = self._found(relation, kind)
        return self._facts[key]

    def _found(self, relation: str, kind: Kind) -> ShownFacts:
        E = self.state.E.of_predicate(relation)
        if kind == "explicit":
            return ShownFacts(E, E, kind)
        I = self.state.I
        return ShownFacts(mode_of(self.state.options).facts(self._engine, I, I.of_predicate(relation)), E, kind)

    def changes(self, relation: str, kind: Kind, since: int) -> tuple[ShownFacts, ShownFacts]:
        """The facts of a relation that were added since a version, and those that were removed."""
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
        return ShownFacts(gained.of_predicate(relation), self.state.E, kind), ShownFacts(
            lost.of_predicate(relation), before[0], kind
        )


_views: OrderedDict[tuple[str, int], VersionView] = OrderedDict()
_lock = Lock()


def view(path: str, version: int | None = None) -> VersionView:
    """Open a version, or the newest one. This process keeps the last few versions open."""
    with _lock:
        found = _views.get((path, version)) if version is not None else None
        if found is None:
            found = VersionView(path, version)
            while len(_views) >= tuning.OPEN_VERSIONS:
                _views.popitem(last=False)[1].close()
        _views[path, found.state.version] = found
        _views.move_to_end((path, found.state.version))
        return found
