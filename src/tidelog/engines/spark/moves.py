"""Tasks that derive nothing: evaluate an expression and keep it, or keep a set by another argument."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidelog.engines.local.heads import Gathered
from tidelog.engines.local.relations import Relation
from tidelog.engines.spark import pieces
from tidelog.engines.spark.cluster import Parcel
from tidelog.engines.spark.counts import weighted_rows
from tidelog.engines.spark.pieces import rows_of
from tidelog.engines.spark.site import load, site_of
from tidelog.engines.spark.specs import EVERYTHING, Part
from tidelog.engines.spark.tasks import NOTE, Note, Result, gather, handed, scattered


def evaluate(path: str, node: int, keys: tuple[int, ...], shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """A set, written or handed back: by the first argument, and the relations that are wanted so by others."""
    job = load(path)
    reader = site_of(job).reader
    read = reader.rows_read
    found = []
    for key in keys:
        parts = job.wanted.parts(key)
        rows = {r.relation: r for part in parts for r in rows_of(reader.facts(node, key, part, shard))}
        found.append(handed(job, shard, 0, "all", key, list(rows.values())))
    return [*found, Parcel(0, NOTE, pickle.dumps(Note(rows_read=reader.rows_read - read)))]


def evaluate_tally(path: str, node: int, shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """A tally, written or handed back."""
    job = load(path)
    tally = site_of(job).reader.tally(node, EVERYTHING, shard)
    return [handed(job, shard, 0, "all", 0, weighted_rows(tally))]


class Move(NamedTuple):
    """Relations of a leaf that are to be kept by another argument too."""

    leaf: int
    key: int
    relations: frozenset[Relation]


def scatter(path: str, moves: tuple[Move, ...], shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """The facts of a shard on their way to their other homes."""
    job = load(path)
    reader = site_of(job).reader
    for number, move in enumerate(moves):
        for relation in sorted(move.relations):
            facts = reader.facts(move.leaf, 0, Part.of(relation), shard)
            yield from scattered(f"m{number}", list(rows_of(facts)), move.key, job.shards)


def keep(path: str, moves: tuple[Move, ...], shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """The facts that have arrived, written."""
    job = load(path)
    site = site_of(job)
    arrived: dict[int, Gathered] = {}
    for parcel in parcels:
        number = int(parcel.tag[1:])
        gather(arrived.setdefault(number, Gathered(site.dictionary, site.engine.budget)), parcel.payload)
    for number, gathered in arrived.items():
        key = moves[number].key
        written = pieces.write(job.scratch, list(rows_of(gathered.facts())), key)
        yield Parcel(shard, "r", pickle.dumps(Result(number, "all", key, written)))
