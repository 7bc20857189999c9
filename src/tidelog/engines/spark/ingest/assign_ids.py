"""The later stages of ingest: assign ids to the terms of each bucket; send the rows to their shards; sort each shard.

A term of the dictionary keeps its id. The new terms are sorted, bucket by bucket. The id of a new term is

    terms in the dictionary + new terms in the buckets before + new terms before it in its bucket

so it depends only on the set of new terms. The driver knows the first two numbers only when all tasks are done. So a
task answers each chunk with the third, the rank, or with `~id` for a term that has an id.

`route` replaces codes by ids and sends rows to their shards. `sort_shard` sorts and writes a shard without duplicates.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import Ids, indices
from tidelog.dictionary.batch import Codes
from tidelog.engines.local.facts import WHOLE, Relation
from tidelog.engines.spark.cluster.cluster import Message
from tidelog.engines.spark.ingest.chunks import codes_of, terms_of, texts_as_arrays, texts_of_arrays
from tidelog.engines.spark.ingest.parse import FAILED, REPORT, Clock, CodesFile, Interval, ParseReport, ParseTask
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.shard_files import RelationRows, ShardFile, shards_of_ids
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot
from tidelog.errors import InputError
from tidelog.kernel.array_file import AnyArray, read_packed, unpack, write_packed
from tidelog.kernel.rows import Ints, Layout, layout_for
from tidelog.model.terms import TRIPLE

NUMBERED = "numbered"


class IdAssignment(NamedTuple):
    """The report of a task about its buckets, and the reports of the first stage that it has received."""

    low: int  # the first bucket
    counts: list[int]  # the number of new terms of each bucket
    terms: str  # the file of the new terms, see `new_terms`
    answers: str  # the file of the answers, see `answer`
    interval: Interval
    parsed: list[ParseReport]


@dataclass
class _Arrived:
    """The messages of the first stage to one task."""

    terms: dict[int, list[tuple[str, pa.Array]]] = field(default_factory=dict)  # by bucket: (key of the chunk, terms)
    parsed: list[ParseReport] = field(default_factory=list)
    failed: list[tuple[tuple[int, int], InputError]] = field(default_factory=list)

    @classmethod
    def of(cls, messages: Iterable[Message]) -> _Arrived:
        arrived = cls()
        for message in messages:
            if message.tag == FAILED:
                arrived.failed.append(pickle.loads(message.payload))
            elif message.tag == REPORT:
                arrived.parsed.append(pickle.loads(message.payload))
            elif not arrived.failed:
                arrived._add_terms(message)
        return arrived

    def _add_terms(self, message: Message) -> None:
        (key, low), texts = unpack(message.payload)
        for bucket, terms in enumerate(terms_of(*texts), low):
            if len(terms):
                self.terms.setdefault(bucket, []).append((key, terms))


def assign_ids(
    parsing: ParseTask, snapshot: DictionarySnapshot | None, partition: int, messages: Iterable[Message]
) -> Iterator[Message]:
    arrived = _Arrived.of(messages)
    if arrived.failed:
        yield Message(partition, FAILED, pickle.dumps(min(arrived.failed, key=lambda f: f[0])))
        return
    clock, (low, high) = Clock(), parsing.buckets(partition)
    dictionary = snapshot.open() if snapshot else None
    counts, texts, answers = [], [], _IdAnswers()
    for bucket in range(low, high):
        new = _number_bucket(arrived.terms.pop(bucket, []), dictionary, answers)
        counts.append(len(new))
        texts += texts_as_arrays(new)
    written = write_packed(parsing.directory, None, texts), answers.write(parsing.directory)
    report = IdAssignment(low, counts, *written, clock.interval(), arrived.parsed)
    yield Message(partition, NUMBERED, pickle.dumps(report))


def _number_bucket(parts: list[tuple[str, pa.Array]], dictionary: Dictionary | None, answers: _IdAnswers) -> pa.Array:
    """Answer the chunks that have terms in a bucket, and return the sorted new terms."""
    if not parts:
        return pa.array([], pa.binary())
    encoded = pa.concat_arrays([terms for _, terms in parts]).dictionary_encode()
    terms, positions = encoded.dictionary, encoded.indices.to_numpy()
    known = np.full(len(terms), -1, dtype=np.int32) if dictionary is None else dictionary.lookup_many(terms)
    is_new = np.flatnonzero(known < 0)
    new = terms if len(is_new) == len(terms) else terms.take(indices(is_new))
    order = pc.sort_indices(new)
    numbers = ~known
    numbers[is_new[order.to_numpy()]] = np.arange(len(new), dtype=np.int32)
    answers.add([key for key, _ in parts], [len(t) for _, t in parts], numbers[positions])
    return new.take(order)


class _IdAnswers:
    """The answers to each chunk, bucket by bucket."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Ids]] = {}

    def add(self, keys: list[str], counts: list[int], numbers: Ids) -> None:
        for key, part in zip(keys, np.split(numbers, np.cumsum(counts)[:-1]), strict=True):
            self.parts.setdefault(key, []).append(part)

    def write(self, directory: str) -> str:
        """Write one file for all chunks, in which `answer` finds the part of a chunk."""
        parts: list[AnyArray] = [np.concatenate(parts) for parts in self.parts.values()]
        ends = np.cumsum([len(p) for p in parts]).tolist()
        words = {key: [end - len(p), end] for key, p, end in zip(self.parts, parts, ends, strict=True)}
        return write_packed(directory, words, [np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)])


_opened = lru_cache(maxsize=64)(read_packed)


def answer(path: str, key: str) -> Ids:
    """The answers to a chunk in a file. They are empty if it had no terms in the buckets of the file."""
    words, (numbers,) = _opened(path)
    start, stop = words.get(key, (0, 0))
    answered: Ids = numbers[start:stop]
    return answered


def new_terms(path: str) -> Iterator[pa.Array]:
    """Yield the new terms of each bucket."""
    _, texts = read_packed(path)
    return (texts_of_arrays(o, d) for o, d in zip(texts[::2], texts[1::2], strict=True))


ROWS, CLOCK, SHARD = "rows", "clock", "shard"
_RADIX = 1 << 16  # numpy sorts keys below this by counting


@dataclass(frozen=True, slots=True)
class Routing:
    """The arguments of all tasks of the last two stages."""

    answers: tuple[str, ...]  # files, in the order of their buckets
    first_ids: Ints  # the first id of the new terms of each bucket
    terms: int  # the number of terms, with the new ones
    shards: int


class SortedShard(NamedTuple):
    """The report about a shard: its file, and the working times of the tasks that sent to it and of its own task."""

    shard_file: ShardFile
    routed: list[Interval]
    interval: Interval


def route(routing: Routing, tasks: list[list[CodesFile]], partition: int, _: Iterable[Message]) -> Iterator[Message]:
    """Send the rows of some chunks to their shards."""
    clock = Clock()
    for chunk in tasks[partition]:
        starts, relations = codes_of(chunk.path)
        ids = _ids(routing, chunk.key, starts)
        by_shard: list[list[RelationRows]] = [[] for _ in range(routing.shards)]
        for (predicate, arity), columns in relations.items():
            send = _triples if predicate == TRIPLE and arity == 3 else partial(_rows, (predicate, WHOLE))
            for shard, rows in send(routing, ids, columns) if len(columns[0]) else ():
                by_shard[shard].append(rows)
        for shard, parts in enumerate(by_shard):
            if parts:
                yield Message(shard, ROWS, shard_files.to_bytes(parts))
    yield Message(partition % routing.shards, CLOCK, pickle.dumps(clock.interval()))


def _ids(routing: Routing, key: str, starts: Ints) -> Ints:
    """The ids of the terms of a chunk, in the order of the terms."""
    ids = np.concatenate([answer(path, key) for path in routing.answers]).astype(np.int64)
    first = np.repeat(routing.first_ids, np.diff(starts))
    return np.where(ids < 0, ~ids, ids + first)


def _triples(routing: Routing, ids: Ints, columns: Sequence[Codes]) -> Iterator[tuple[int, RelationRows]]:
    """Divide triples by shard and predicate, with one sort by both."""
    subject, predicate, object_ = columns
    used = np.zeros(len(ids), dtype=np.bool_)
    used[predicate] = True
    names = np.flatnonzero(used)
    keys = routing.shards * len(names)
    kind = np.dtype(np.uint16 if keys <= _RADIX else np.int64)
    numbers = np.zeros(len(ids), dtype=np.int64)
    numbers[names] = np.arange(len(names))
    key = (shards_of_ids(ids, routing.shards) * len(names)).astype(kind)[subject]
    key += numbers.astype(kind)[predicate]
    order = np.argsort(key, kind="stable")
    layout = layout_for(2, routing.terms)
    rows = layout.pack([ids[subject], ids[object_]], len(subject))[:, order]
    counts = np.bincount(key, minlength=keys)
    ends = np.cumsum(counts)
    for found in np.flatnonzero(counts).tolist():
        shard, name = divmod(found, len(names))
        part = rows[:, ends[found] - counts[found] : ends[found]]
        yield shard, RelationRows((TRIPLE, int(ids[names[name]])), layout, part)


def _rows(
    relation: Relation, routing: Routing, ids: Ints, columns: Sequence[Codes]
) -> Iterator[tuple[int, RelationRows]]:
    layout = layout_for(len(columns), routing.terms)
    rows = layout.pack([ids[c] for c in columns], len(columns[0]))
    return shard_files.split_by_shard(RelationRows(relation, layout, rows), 0, routing.shards)


def sort_shard(directory: str, partition: int, messages: Iterable[Message]) -> Iterator[Message]:
    """Sort the rows of a shard without duplicates, and write them."""
    parts: dict[tuple[Relation, Layout], list[Ints]] = {}
    routed: list[Interval] = []
    for message in messages:
        if message.tag == CLOCK:
            routed.append(pickle.loads(message.payload))
        else:
            for rows in shard_files.RowBlock.of_bytes(message.payload).all_rows():
                parts.setdefault((rows.relation, rows.layout), []).append(rows.rows)
    clock = Clock()
    shard = [_sorted(relation, layout, parts.pop((relation, layout))) for relation, layout in sorted(parts, key=str)]
    report = SortedShard(shard_files.write(directory, shard), routed, clock.interval())
    yield Message(partition, SHARD, pickle.dumps(report))


def _sorted(relation: Relation, layout: Layout, parts: list[Ints]) -> RelationRows:
    return RelationRows(relation, layout, np.concatenate(parts, axis=1)).distinct()
