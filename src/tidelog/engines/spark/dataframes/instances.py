"""Rule instances found by joins over shards, and their table as a DataFrame that executors make.

Instances are facts of relations of their own (`tidelog.explain.bulk`), in piece files by their first argument. Who
reads the DataFrame has the files turned into texts, shard by shard, with the shipped dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidelog.changes.state import State
from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.engines.spark.sharded.facts import SparkFacts
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot
from tidelog.errors import UsageError
from tidelog.explain.bulk import InstanceFacts, InstanceRelation, RuleInstances, instance_facts, instance_tables
from tidelog.explain.columns import InstanceTable, blocks
from tidelog.explain.explained_version import ExplainedVersion
from tidelog.explain.questions import asked
from tidelog.kernel.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "fact string, kind string, rule int, name string, body array<string>"


@dataclass(frozen=True)
class Shards:
    """A version in shards; `terms` ships the dictionary, `keep` holds what DataFrames read until Spark is let go."""

    engine: SparkEngine
    E: SparkFacts
    I: SparkFacts
    terms: Callable[[], DictionarySnapshot]
    keep: Callable[[object], None]


class ShardedInstances(RuleInstances):
    """The same table, in shards until somebody looks at it in this process."""

    def __init__(self, shards: Shards, found: InstanceFacts[SparkFacts]) -> None:
        super().__init__(shards.engine.dictionary)
        self._shards, self._joined = shards, found

    def _parts(self) -> Sequence[InstanceTable]:
        found = self._joined
        return list(instance_tables(found.explicit.to_local(), found.matches.to_local(), found.relations))

    def __len__(self) -> int:
        return len(self._joined.explicit) + len(self._joined.matches)

    def to_spark(self, spark: Any) -> Any:
        """A Spark DataFrame in the given session, made by executors; readable until the knowledge base is closed."""
        self._shards.keep(self)
        return _frame(spark, self.rows())

    def rows(self) -> InstanceRows:
        """What executors do to make the rows."""
        found = self._joined
        return InstanceRows(
            found.explicit.shard_files(), found.matches.shard_files(), found.relations, self._shards.terms()
        )


def _frame(spark: SparkSession, rows: InstanceRows) -> DataFrame:
    return spark.range(0, rows.shards, 1, rows.shards).mapInArrow(rows, _SCHEMA)


@dataclass(frozen=True)
class InstanceRows:
    """The rows of the table by shard, as `mapInArrow` wants it: shards are the first column of what it is given."""

    explicit: Sequence[str | None]  # piece files, one for each shard
    matches: Sequence[str | None]
    relations: Sequence[InstanceRelation]
    terms: DictionarySnapshot

    @property
    def shards(self) -> int:
        return len(self.explicit)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for shard in batch.column(0).to_pylist():
                yield from self.of(shard)

    def of(self, shard: int) -> Iterator[pa.RecordBatch]:
        dictionary = self.terms.open()
        explicit, matches = (_facts(paths[shard], dictionary) for paths in (self.explicit, self.matches))
        for table in blocks(dictionary, instance_tables(explicit, matches, self.relations)):
            yield from table.to_batches()


def _facts(path: str | None, dictionary: Dictionary) -> LocalFacts:
    if path is None:
        return LocalFacts(dictionary, {})
    try:
        piece = shard_files.read(path)
    except FileNotFoundError:
        raise UsageError(
            "the rule instances of this DataFrame are gone: it can be read until the knowledge base is closed, or used "
            "with another Spark session; save the DataFrame to keep it"
        ) from None
    return LocalFacts(dictionary, {relation: Table((piece.run(relation),)) for relation in piece.relations()})


def explain_all(
    shards: Shards, local: LocalEngine, state: State, pattern: str, depth: int, deep: bool
) -> ShardedInstances:
    """A table of the rule instances for all facts that match a pattern; the joins run over shards."""
    view, stored, steps = asked(local, state, pattern, depth, deep)
    explained = view.explained
    E = shards.E if explained.E is state.E else shards.engine.adopt(explained.E)
    sharded = ExplainedVersion(shards.engine, E, shards.I, explained.rules, explained.prefixes)
    return ShardedInstances(shards, instance_facts(sharded, stored, steps))
