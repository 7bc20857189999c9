"""Shard files: packed rows of some relations as bytes, in a mapped file or in a message; and the shard of a row.

    header length (8 bytes), header (JSON), then aligned int64 arrays: the sorted rows of each relation

A shard file is written once, under a name that no other attempt has, and never changes. Processes map it, so all
processes of a machine share its pages. Facts are partitioned by the hash of one argument, the *key*:

    key 0   the first argument; facts without arguments are in shard 0
    key i   argument i; the arguments of a triple are 0 subject, 1 predicate, 2 object
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.kernel import rows as packed
from tidelog.kernel.array_file import ArrayReader, ArrayWriter, Place, map_arrays
from tidelog.kernel.counts import RowCounts, WeightedRun
from tidelog.kernel.rows import Ints, Layout
from tidelog.kernel.run import ColumnOrder, Run, order_for
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(33)


@dataclass(frozen=True, slots=True)
class RelationRows:
    """Packed rows of one relation; in a tally, each with its weight."""

    relation: Relation
    layout: Layout
    rows: Ints
    weight: Ints | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[1])

    def take(self, index: Ints | slice) -> RelationRows:
        weight = None if self.weight is None else self.weight[index]
        return RelationRows(self.relation, self.layout, self.rows[:, index], weight)

    def distinct(self) -> RelationRows:
        """The rows sorted, without duplicates."""
        return RelationRows(self.relation, self.layout, packed.distinct(self.rows))

    def counts(self) -> RowCounts:
        """The rows of a tally with their weights."""
        assert self.weight is not None
        return RowCounts.of_run(WeightedRun(Run(self.layout, self.rows), self.weight))

    def key_column(self, key: int) -> Ints | int:
        """The ids of an argument: a column, or one id if all rows have the same id."""
        if self.relation[0] == TRIPLE:
            return self.relation[1] if key == 1 else self.layout.unpack(self.rows, key // 2)
        return self.layout.unpack(self.rows, key)


def has_argument(relation: Relation, arity: int, key: int) -> bool:
    """Whether the facts of a relation with `arity` columns can be partitioned by an argument."""
    return key == 0 or relation[0] == TRIPLE or key < arity


def shards_of_ids(ids: Ints, shards: int) -> Ints:
    """The shard of each id: a fixed hash of its bits, equal in all processes."""
    mixed = (ids.astype(np.uint64) * _MIX) >> _HIGH
    return (mixed % np.uint64(shards)).astype(np.int64)


def shard_of_id(id_: int, shards: int) -> int:
    return int(shards_of_ids(np.array([id_], dtype=np.int64), shards)[0])


def split_by_shard(rows: RelationRows, key: int, shards: int) -> Iterator[tuple[int, RelationRows]]:
    """Yield (shard, rows) for each shard that has rows, by the key argument. The order of the rows is kept."""
    if not rows.layout.arity:
        yield 0, rows
        return
    column = rows.key_column(key)
    if isinstance(column, int) or shards == 1:
        yield shard_of_id(column, shards) if isinstance(column, int) else 0, rows
        return
    by_shard = shards_of_ids(column, shards)
    for shard in range(shards):
        there = np.flatnonzero(by_shard == shard)
        if len(there):
            yield shard, rows.take(there)


def rows_of(facts: LocalFacts) -> Iterator[RelationRows]:
    """The facts as sorted rows, relation by relation."""
    for relation in facts.tables:
        table = facts.table(relation)
        if table is not None:
            run = table.flat
            yield RelationRows(relation, run.layout, run.rows)


def weighted_rows(tally: LocalTally) -> list[RelationRows]:
    """A tally as sorted rows with their weights."""
    flat = ((relation, counts.flat) for relation, counts in tally.counts.items())
    return [RelationRows(relation, w.run.layout, w.run.rows, w.weight) for relation, w in flat if len(w)]


def in_messages(rows: RelationRows) -> Iterator[RelationRows]:
    """Yield the rows in parts that are small enough for a message."""
    most = tuning.MESSAGE_ROWS // rows.layout.words
    for start in range(0, len(rows), most):
        yield rows.take(slice(start, start + most))


def to_bytes(parts: Sequence[RelationRows]) -> bytes:
    """The rows as bytes for a message."""
    writer, header = _container(parts, 0)
    return b"".join(writer.buffers(header))


def _container(parts: Sequence[RelationRows], key: int) -> tuple[ArrayWriter, object]:
    """The arrays and the header. With a key, the rows are also stored in the order that starts with its column."""
    writer, header = ArrayWriter(), []
    for part in parts:
        entry = writer.add_run(Run(part.layout, part.rows), _orders(part, key))
        header.append([*part.relation, *entry, None if part.weight is None else writer.add(part.weight)])
    return writer, header


def _orders(part: RelationRows, key: int) -> list[ColumnOrder]:
    natural = tuple(range(part.layout.arity))
    column = key // 2 if part.relation[0] == TRIPLE else key
    keyed = order_for(part.layout.arity, frozenset((column,))) if column else natural
    return list(dict.fromkeys((natural, keyed)))


class _BlockEntry(NamedTuple):
    """A relation in the header: what `ArrayWriter.add_run` returned, and the place of the weights."""

    arity: int
    bits: int
    length: int
    placed: Sequence[Sequence[Any]]
    weight: Place | None


class RowBlock:
    """Reads what `to_bytes` or `write` packed."""

    def __init__(self, arrays: ArrayReader) -> None:
        self._arrays = arrays
        self._entries = {(predicate, split_): _BlockEntry(*entry) for predicate, split_, *entry in arrays.header}
        self._runs: dict[Relation, Run] = {}
        self._scans: dict[Relation, int] = {}

    @classmethod
    def of_bytes(cls, block: bytes | memoryview) -> RowBlock:
        return cls(ArrayReader(block))

    def relations(self) -> Collection[Relation]:
        return self._entries.keys()

    def count(self, relation: Relation) -> int:
        """The number of rows of a relation."""
        return self._entries[relation].length

    def rows(self, relation: Relation) -> RelationRows:
        entry = self._entries[relation]
        layout, natural = Layout(entry.arity, entry.bits), list(entry.placed[0][1:])
        weight = None if entry.weight is None else self._arrays.array(entry.weight, np.int64)
        return RelationRows(relation, layout, self._arrays.rows(layout, entry.length, natural), weight)

    def all_rows(self) -> Iterator[RelationRows]:
        return map(self.rows, self._entries)

    def run(self, relation: Relation) -> Run:
        """The rows of a relation as a run. It is the same object each time, so each column order is made once."""
        if relation not in self._runs:
            self._runs[relation] = self._arrays.run(*self._entries[relation][:4])
        return self._runs[relation]

    def having(self, relation: Relation, value: int) -> RelationRows:
        """The rows of a binary relation with this second column. After a few scans they are found by sorted order."""
        rows, order = self.rows(relation), (1, 0)
        scans = self._scans[relation] = self._scans.get(relation, 0) + 1
        run = self.run(relation)
        if scans <= tuning.SCANS_BEFORE_SORT and order not in run.orders():
            return rows.take(np.flatnonzero(rows.layout.unpack(rows.rows, 1) == value))
        (low,), (high,) = run.ranges(order, (value,), 1)
        first = rows.layout.unpack(run.in_order(order)[:, low:high], 1)
        return RelationRows(relation, rows.layout, rows.layout.pack([first, value], high - low))


@dataclass(frozen=True, slots=True)
class Stat:
    """Statistics of a relation in a set, for plans.

    `popular`: the number of rows of each value of the second column, if that column has few values, like the column
    of rdf:type. A plan does not partition by such a column.
    """

    rows: int
    arity: int
    popular: Mapping[int, int] | None = None

    def plus(self, other: Stat) -> Stat:
        popular = None
        if self.popular is not None and other.popular is not None:
            popular = {v: self.popular.get(v, 0) + other.popular.get(v, 0) for v in (*self.popular, *other.popular)}
        return Stat(self.rows + other.rows, self.arity, popular)


def stat(rows: RelationRows) -> Stat:
    arity = rows.layout.arity
    return Stat(len(rows), arity, _popular(rows.layout.unpack(rows.rows, 1)) if arity == 2 and len(rows) else None)


def _popular(values: Ints) -> dict[int, int] | None:
    """The number of occurrences of each value, or None if there are many values. A sample avoids most full counts."""
    sample = values[:: max(1, len(values) // tuning.VALUE_SAMPLE_ROWS)][: tuning.VALUE_SAMPLE_ROWS]
    if len(values) > tuning.VALUE_SAMPLE_ROWS and len(np.unique(sample)) > tuning.VALUE_SAMPLE_ROWS // 2:
        return None
    low = int(values.min())
    if int(values.max()) - low < 4 * len(values) + tuning.VALUE_SAMPLE_ROWS:
        counts = np.bincount(values - low)
        found = np.flatnonzero(counts)
        counts, found = counts[found], found + low
    else:
        found, counts = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True)) if len(found) <= tuning.VALUE_SAMPLE_ROWS else None


@dataclass(frozen=True, slots=True)
class ShardFile:
    """The path of a shard file, and the statistics of its relations."""

    path: str
    stats: dict[Relation, Stat] = field(default_factory=dict)


def write(directory: Path | str, parts: Sequence[RelationRows], key: int = 0) -> ShardFile:
    """Write sorted, distinct rows, at most one part for each relation, to a new file with a unique name."""
    path = Path(directory) / f"{uuid4().hex}.shard"
    writer, header = _container(parts, key)
    writer.write(path, header)
    return ShardFile(str(path), {part.relation: stat(part) for part in parts})


def read(path: Path | str) -> RowBlock:
    """Map a shard file. The mapping lives as long as one of its arrays."""
    return RowBlock(map_arrays(path))


def read_facts(path: str | None, dictionary: Dictionary) -> LocalFacts:
    """The facts of a shard file, or no facts for None."""
    if path is None:
        return LocalFacts(dictionary, {})
    block = read(path)
    return LocalFacts(dictionary, {relation: Table((block.run(relation),)) for relation in block.relations()})
