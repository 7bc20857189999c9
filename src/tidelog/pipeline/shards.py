"""The last two stages: codes become ids and rows travel to their homes, and each home sorts and writes its shard.

Facts that came more than once, in one split or in several, meet at their home, where all but one are dropped.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from tidelog.dictionary.batch import Codes
from tidelog.engines.local.relations import WHOLE, Relation
from tidelog.engines.spark import pieces
from tidelog.engines.spark.cluster import Parcel
from tidelog.engines.spark.pieces import Rows, Written, home
from tidelog.kernel.rows import Ints, Layout, layout_for
from tidelog.model.vocabulary import TRIPLE
from tidelog.pipeline.clock import Clock, Spell
from tidelog.pipeline.number import answer
from tidelog.pipeline.parse import CodesFile
from tidelog.pipeline.sections import codes_of

ROWS, CLOCK, SHARD = "rows", "clock", "shard"
_RADIX = 1 << 16  # numpy sorts keys below this by counting


@dataclass(frozen=True, slots=True)
class Routing:
    """What all tasks of the two stages are told."""

    answers: tuple[str, ...]  # files, in the order of their buckets
    first_ids: Ints  # of the new terms of each bucket
    terms: int  # with the new ones
    shards: int


class Gathered(NamedTuple):
    """What a shard tells the driver: its piece, and when those worked who have sent to it, and it itself."""

    piece: Written
    routed: list[Spell]
    spell: Spell


def route(routing: Routing, tasks: list[list[CodesFile]], place: int, _: Iterable[Parcel]) -> Iterator[Parcel]:
    """Send the rows of some sections home."""
    clock = Clock()
    for section in tasks[place]:
        starts, relations = codes_of(section.path)
        ids = _ids(routing, section.key, starts)
        by_shard: list[list[Rows]] = [[] for _ in range(routing.shards)]
        for (predicate, arity), columns in relations.items():
            send = _triples if predicate == TRIPLE and arity == 3 else partial(_rows, (predicate, WHOLE))
            for shard, rows in send(routing, ids, columns) if len(columns[0]) else ():
                by_shard[shard].append(rows)
        for shard, parts in enumerate(by_shard):
            if parts:
                yield Parcel(shard, ROWS, pieces.to_bytes(parts))
    yield Parcel(place % routing.shards, CLOCK, pickle.dumps(clock.spell()))


def _ids(routing: Routing, key: str, starts: Ints) -> Ints:
    """The ids of a section's terms, in their order."""
    ids = np.concatenate([answer(path, key) for path in routing.answers]).astype(np.int64)
    first = np.repeat(routing.first_ids, np.diff(starts))
    return np.where(ids < 0, ~ids, ids + first)


def _triples(routing: Routing, ids: Ints, columns: Sequence[Codes]) -> Iterator[tuple[int, Rows]]:
    """Triples by home and predicate, with one sort by both."""
    subject, predicate, object_ = columns
    used = np.zeros(len(ids), dtype=np.bool_)
    used[predicate] = True
    names = np.flatnonzero(used)
    keys = routing.shards * len(names)
    kind = np.dtype(np.uint16 if keys <= _RADIX else np.int64)
    numbers = np.zeros(len(ids), dtype=np.int64)
    numbers[names] = np.arange(len(names))
    key = (home(ids, routing.shards) * len(names)).astype(kind)[subject]
    key += numbers.astype(kind)[predicate]
    order = np.argsort(key, kind="stable")
    layout = layout_for(2, routing.terms)
    rows = layout.pack([ids[subject], ids[object_]], len(subject))[:, order]
    counts = np.bincount(key, minlength=keys)
    ends = np.cumsum(counts)
    for found in np.flatnonzero(counts).tolist():
        shard, name = divmod(found, len(names))
        part = rows[:, ends[found] - counts[found] : ends[found]]
        yield shard, Rows((TRIPLE, int(ids[names[name]])), layout, part)


def _rows(relation: Relation, routing: Routing, ids: Ints, columns: Sequence[Codes]) -> Iterator[tuple[int, Rows]]:
    layout = layout_for(len(columns), routing.terms)
    rows = layout.pack([ids[c] for c in columns], len(columns[0]))
    return pieces.split(Rows(relation, layout, rows), 0, routing.shards)


def gather(directory: str, place: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
    """Sort the rows of a shard, each once, and write them."""
    parts: dict[tuple[Relation, Layout], list[Ints]] = {}
    routed: list[Spell] = []
    for parcel in parcels:
        if parcel.tag == CLOCK:
            routed.append(pickle.loads(parcel.payload))
        else:
            for rows in pieces.Piece(parcel.payload).all_rows():
                parts.setdefault((rows.relation, rows.layout), []).append(rows.rows)
    clock = Clock()
    shard = [_sorted(relation, layout, parts.pop((relation, layout))) for relation, layout in sorted(parts, key=str)]
    report = Gathered(pieces.write(directory, shard), routed, clock.spell())
    yield Parcel(place, SHARD, pickle.dumps(report))


def _sorted(relation: Relation, layout: Layout, parts: list[Ints]) -> Rows:
    return Rows(relation, layout, np.concatenate(parts, axis=1)).distinct()
