"""The net change of a version: explicit facts and all facts, gained and lost. It can be inverted and composed."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.kernel.rows import Ints, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table

_LENGTH = struct.Struct("<I")


class ChangeRows(NamedTuple):
    """Rows of one relation as columns. `which` is the index of their set in `Delta.sets`."""

    which: int
    relation: Relation
    columns: Sequence[Ints]
    length: int


@dataclass(frozen=True, slots=True)
class Delta:
    E_added: LocalFacts
    E_removed: LocalFacts
    I_added: LocalFacts
    I_removed: LocalFacts

    @property
    def sets(self) -> tuple[LocalFacts, LocalFacts, LocalFacts, LocalFacts]:
        return self.E_added, self.E_removed, self.I_added, self.I_removed

    def __len__(self) -> int:
        return sum(map(len, self.sets))

    def inverse(self) -> Delta:
        return Delta(self.E_removed, self.E_added, self.I_removed, self.I_added)

    def then(self, later: Delta) -> Delta:
        """This change followed by `later`. A fact that one adds and the other removes is in neither set."""
        return Delta(
            *_joined(self.E_added, self.E_removed, later.E_added, later.E_removed),
            *_joined(self.I_added, self.I_removed, later.I_added, later.I_removed),
        )

    def apply(self, E: LocalFacts, I: LocalFacts) -> tuple[LocalFacts, LocalFacts]:
        return (E - self.E_removed) | self.E_added, (I - self.I_removed) | self.I_added

    def rows(self) -> Iterator[ChangeRows]:
        for which, facts in enumerate(self.sets):
            for relation, table in facts.tables.items():
                yield ChangeRows(which, relation, table.columns(), len(table))


def _joined(
    added: LocalFacts, removed: LocalFacts, later_added: LocalFacts, later_removed: LocalFacts
) -> tuple[LocalFacts, LocalFacts]:
    return (added - later_removed) | (later_added - removed), (removed - later_added) | (later_removed - added)


def from_rows(dictionary: Dictionary, rows: Sequence[ChangeRows]) -> Delta:
    """Build a change. The rows of a set and relation may come in several pieces."""
    pieces: dict[tuple[int, Relation], list[ChangeRows]] = {}
    for some in rows:
        pieces.setdefault((some.which, some.relation), []).append(some)
    sets: list[dict[Relation, Table]] = [{}, {}, {}, {}]
    for (which, relation), parts in pieces.items():
        columns = [np.concatenate(column) for column in zip(*(p.columns for p in parts), strict=True)]
        run = Run.of(layout_for(len(columns), len(dictionary)), columns, sum(p.length for p in parts))
        sets[which][relation] = Table((run,))
    return Delta(*(LocalFacts(dictionary, tables) for tables in sets))


def encode(delta: Delta) -> bytes:
    """A small change as bytes: a JSON list of the columns, then the columns as 32-bit ids."""
    rows = list(delta.rows())
    listed = json.dumps(
        [[r.which, *r.relation, len(r.columns), r.length] for r in rows], separators=(",", ":")
    ).encode()
    columns = [column.astype("<i4").tobytes() for r in rows for column in r.columns]
    return b"".join((_LENGTH.pack(len(listed)), listed, *columns))


def decode(dictionary: Dictionary, data: bytes) -> Delta:
    (size,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + size
    rows = []
    for which, predicate, split, arity, length in json.loads(data[_LENGTH.size : at]):
        columns = []
        for _ in range(arity):
            columns.append(np.frombuffer(data, "<i4", length, at).astype(np.int64))
            at += 4 * length
        rows.append(ChangeRows(which, (predicate, split), columns, length))
    return from_rows(dictionary, rows)
