"""What the tests of the pipeline compare: the facts, ids and shards that come out of an input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import Relation
from tidelog.engines.spark.cluster.cluster import Cluster, InProcess
from tidelog.engines.spark.ingest.ingest import Ingested, IngestOptions, IngestSource, append_terms, ingest
from tidelog.engines.spark.sharded import shard_files
from tidelog.model.terms import TRIPLE, Fact


@dataclass
class Outcome:
    """The dictionary after an input, and what was said about it."""

    dictionary: Dictionary
    ingested: Ingested

    def terms(self) -> list[str]:
        """All terms, in the order of their ids."""
        return [str(t) for t in self.dictionary.decode_many(range(len(self.dictionary)))]

    def shards(self) -> list[dict[object, list[list[int]]]]:
        """The packed rows of each relation, in their order, shard by shard."""
        parts = [shard_files.read(piece.path).all_rows() for piece in self.ingested.shard_files]
        return [{rows.relation: rows.rows.tolist() for rows in part} for part in parts]

    def counts(self) -> Counter[Relation]:
        """The number of rows of each relation in the shard files."""
        counts: Counter[Relation] = Counter()
        for shard_file in self.ingested.shard_files:
            counts.update({relation: stat.rows for relation, stat in shard_file.stats.items()})
        return counts

    def facts(self) -> set[Fact]:
        facts: set[Fact] = set()
        for piece in self.ingested.shard_files:
            for rows in shard_files.read(piece.path).all_rows():
                facts |= self._facts(rows)
        return facts

    def _facts(self, rows: shard_files.RelationRows) -> set[Fact]:
        predicate, split = rows.relation
        columns = [self.dictionary.decode_many(rows.layout.unpack(rows.rows, c)) for c in range(rows.layout.arity)]
        if predicate == TRIPLE:
            columns.insert(1, [self.dictionary.decode(split)] * len(rows))
        return {Fact(predicate, row) for row in zip(*columns, strict=True)}


def outcome(
    cluster: Cluster,
    sources: Sequence[IngestSource],
    scratch: Path,
    dictionary: Dictionary | None = None,
    shards: int = 3,
    bad_lines: str = "fail",
    quarantine: Path | None = None,
    split_size: int | None = None,
) -> Outcome:
    dictionary = Dictionary() if dictionary is None else dictionary
    scratch.mkdir(exist_ok=True)
    ingested = ingest(
        cluster,
        sources,
        dictionary,
        scratch,
        shards,
        IngestOptions(bad_lines, quarantine, split_size=split_size),
    )
    append_terms(dictionary, ingested)
    return Outcome(dictionary, ingested)


def here(sources: Sequence[IngestSource], scratch: Path, cores: int = 2, split_size: int | None = None) -> Outcome:
    """Without Spark."""
    return outcome(InProcess(cores), sources, scratch, split_size=split_size)


def loaded(sources: Sequence[IngestSource]) -> set[Fact]:
    """What the local engine makes of the same."""
    return set(LocalEngine().load(batch for source in sources for batch in source))
