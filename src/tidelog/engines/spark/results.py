"""What tasks hand back, as sets and tallies: files of shards, or few rows that the driver keeps."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidelog.dictionary import Dictionary
from tidelog.engines.local.heads import Gathered
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark import pieces
from tidelog.engines.spark.cluster import Parcel
from tidelog.engines.spark.counts import TallyHeld, TallyLeaf, TallyNode
from tidelog.engines.spark.files import delete
from tidelog.engines.spark.nodes import Leaf, Node
from tidelog.engines.spark.pieces import Piece, Rows, Written
from tidelog.engines.spark.tasks import NOTE, Note, Result, gather
from tidelog.kernel.counts import Counts, Weighted
from tidelog.kernel.run import Run

if TYPE_CHECKING:
    from tidelog.engines.spark.driver import Driver

Found = list[tuple[int, Result]]  # shard, and what it handed back


def opened(parcels: Iterable[Parcel]) -> tuple[Found, Note]:
    """Results, and all notes as one."""
    found: Found = []
    notes = [Note()]
    for parcel in parcels:
        told = pickle.loads(parcel.payload)
        if parcel.tag == NOTE:
            notes.append(told)
        else:
            found.append((parcel.target, told))
    created = tuple(dict.fromkeys(term for note in notes for term in note.created))
    return found, Note(sum(n.derivations for n in notes), created, sum(n.rows_read for n in notes))


def facts_of(driver: Driver, found: Found, number: int, kind: str = "all") -> Node:
    """What came back as a set."""
    mine = [(shard, r) for shard, r in found if (r.result, r.kind) == (number, kind)]
    if all(r.written is None for _, r in mine if r.key == 0):
        gathered = Gathered(driver.dictionary, driver.local.budget)
        for _, r in mine:
            if r.key == 0:
                gather(gathered, r.rows)
        facts = gathered.facts()
        if len(facts) <= driver.small:
            delete([r.written.path for _, r in mine if r.written is not None])
            return driver.hold(facts)
    leaf = Leaf(by_shard(driver, mine, number, kind, 0))
    for key in sorted({r.key for _, r in mine} - {0}):
        written = by_shard(driver, mine, number, kind, key)
        kept = (r for r, stat in leaf.stats.items() if key in driver.wanted.keys(r, stat.arity))
        leaf.add(key, frozenset(kept), written)
    return leaf


def tally_of(driver: Driver, found: Found) -> TallyNode:
    """What came back as a tally."""
    if all(r.written is None for _, r in found):
        rows = [rows for _, r in found for rows in Piece(r.rows).all_rows()]
        if sum(map(len, rows)) <= driver.small:
            return TallyHeld(
                LocalTally.sum(driver.dictionary, (_counted(driver.dictionary, r) for r in rows)), driver.scratch
            )
    return TallyLeaf(by_shard(driver, found, 0, "all", 0))


def _counted(dictionary: Dictionary, rows: Rows) -> LocalTally:
    assert rows.weight is not None
    counts = Counts.of_run(Weighted(Run(rows.layout, rows.rows), rows.weight))
    return LocalTally(dictionary, {rows.relation: counts})


def by_shard(driver: Driver, found: Found, number: int, kind: str, key: int) -> list[Written | None]:
    """The files of a result; the driver writes what came back as rows."""
    files: list[Written | None] = [None] * driver.shards
    for shard, r in found:
        if (r.result, r.kind, r.key) == (number, kind, key):
            rows = [] if r.written else [rows for rows in Piece(r.rows).all_rows() if len(rows)]
            files[shard] = r.written or (pieces.write(driver.scratch, rows, key) if rows else None)
    return files
