"""Facts of one relation in slices that any process cuts the same way.

A slice is a range of *keys*, and a key is a row: (predicate, subject, object) of a triple, (-1, argument, …) of another
fact, all ids of terms. Where a row lies in memory would not do: processes that came to a version on different ways hold
its rows in different runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.relations import Relation
from tidelog.kernel.rows import Ints, Mask
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.vocabulary import TRIPLE
from tidelog.queries import Kind

BLOCK = 1 << 15  # rows that are handed on at a time

Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows from one key up to another; None is the end on either side."""

    low: Key | None = None
    high: Key | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a relation, column by column, and which of them are explicit."""

    columns: list[Ints]
    explicit: Mask


def slices(facts: LocalFacts, count: int) -> list[Slice]:
    """So many slices, or fewer, of about the same number of rows."""
    tables = sorted(facts.tables.items())
    total = sum(len(table) for _, table in tables)
    positions = [number * total // count for number in range(1, count)]
    cuts: list[Key] = []
    before = 0
    for relation, table in tables:
        inside = [p - before for p in positions if before <= p < before + len(table)]
        cuts += [_key_at(relation, table, p / len(table)) for p in inside]
        before += len(table)
    distinct = sorted(set(cuts))
    return [Slice(low, high) for low, high in zip([None, *distinct], [*distinct, None], strict=True)]


def _key_at(relation: Relation, table: Table, fraction: float) -> Key:
    """The key about that far into a table: where it is in its longest run."""
    run = max(table.runs, key=len)
    row = run.rows[:, int(fraction * len(run)) :][:, :1]
    return (relation[1], *(int(run.layout.unpack(row, c)[0]) for c in run.natural))


def rows(facts: LocalFacts, E: LocalFacts, part: Slice, kind: Kind) -> Iterator[Rows]:
    """The rows of a slice, some at a time; E has the explicit facts."""
    for relation, table in sorted(facts.tables.items()):
        given = E.table(relation)
        for run in table.runs:
            start, stop = _position(run, relation, part.low, 0), _position(run, relation, part.high, len(run))
            for at in range(start, stop, BLOCK):
                piece = Run(run.layout, run.rows[:, at : min(at + BLOCK, stop)])
                if table.dead is not None:
                    piece = piece.keep(~table.dead.contains_run(piece))
                some = _marked(relation, piece, given, kind)
                if len(some.explicit):
                    yield some


def _marked(relation: Relation, run: Run, given: Table | None, kind: Kind) -> Rows:
    explicit = np.zeros(len(run), dtype=np.bool_) if given is None else given.contains_run(run)
    if kind == "derived":
        run = run.keep(~explicit)
        explicit = np.zeros(len(run), dtype=np.bool_)
    columns = [run.column(c) for c in run.natural]
    if relation[0] == TRIPLE:
        columns.insert(1, np.full(len(run), relation[1], dtype=np.int64))
    return Rows(columns, explicit)


def _position(run: Run, relation: Relation, key: Key | None, end: int) -> int:
    """How many rows of a run come before a key."""
    if key is None:
        return end
    if key[0] != relation[1]:
        return len(run) if relation[1] < key[0] else 0
    ids = key[1:]
    fitting = tuple(takewhile(lambda id_: id_ <= run.layout.mask, ids))  # the run holds no larger ones
    low, high = run.ranges(run.natural, fitting, 1)
    return int((low if len(fitting) == len(ids) else high)[0])
