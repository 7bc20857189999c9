"""Rule instances found by joins over shards, and their table as a DataFrame.

Instances are facts of their own relations (`tidelog.explain.bulk`), in shard files by their first argument. When the
DataFrame is read, executors turn the files into texts, shard by shard, with a snapshot of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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

_SCHEMA = "fact string, kind string, rule int, name string, body array<string>"


@dataclass(frozen=True)
class Shards:
    """A version in shards. `terms` takes a snapshot of the dictionary, `keep` keeps sets alive for DataFrames."""

    engine: SparkEngine
    E: SparkFacts
    I: SparkFacts
    terms: Callable[[], DictionarySnapshot]
    keep: Callable[[object], None]


class ShardedInstances(RuleInstances):
    """A table of rule instances in shards. This process reads them only if it needs the rows."""

    def __init__(self, shards: Shards, found: InstanceFacts[SparkFacts]) -> None:
        super().__init__(shards.engine.dictionary)
        self._shards, self._joined = shards, found

    def _parts(self) -> Sequence[InstanceTable]:
        found = self._joined
        return list(instance_tables(found.explicit.to_local(), found.matches.to_local(), found.relations))

    def __len__(self) -> int:
        return len(self._joined.explicit) + len(self._joined.matches)

    def to_spark(self, spark: Any) -> Any:
        """A DataFrame in the given session. It is readable until the knowledge base is closed."""
        self._shards.keep(self)
        rows = self.rows()
        return spark.range(0, rows.shards, 1, rows.shards).mapInArrow(rows, _SCHEMA)

    def rows(self) -> InstanceRows:
        """The function with which executors make the rows."""
        found = self._joined
        return InstanceRows(
            found.explicit.shard_files(), found.matches.shard_files(), found.relations, self._shards.terms()
        )


@dataclass(frozen=True)
class InstanceRows:
    """A function for `mapInArrow` that yields the rows of shards. The first column of its input has their numbers."""

    explicit: Sequence[str | None]  # shard files
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
    try:
        return shard_files.read_facts(path, dictionary)
    except FileNotFoundError:
        raise UsageError(
            "the rule instances of this DataFrame are gone: it can be read until the knowledge base is closed, or used "
            "with another Spark session; save the DataFrame to keep it"
        ) from None


def explain_all(
    shards: Shards, local: LocalEngine, state: State, pattern: str, depth: int, deep: bool
) -> ShardedInstances:
    """A table of the rule instances for all facts that match a pattern; the joins run over shards."""
    view, stored, steps = asked(local, state, pattern, depth, deep)
    explained = view.explained
    E = shards.E if explained.E is state.E else shards.engine.adopt(explained.E)
    sharded = ExplainedVersion(shards.engine, E, shards.I, explained.rules, explained.prefixes)
    return ShardedInstances(shards, instance_facts(sharded, stored, steps))
