"""Small sets: the rows of several narrow relations as one array, and lookups of few rows in a changed relation.

    code  =  number of the relation << 2 * bits | column 0 << bits | column 1        a single column is column 1

A set operation on tables costs some microseconds per relation, even for few rows; on codes it costs them once.
Relations of more than two columns have no codes, and there are no codes if ids have too many bits.

    rows  =  (table - deleted) | added        `deleted` and `added` are small; `added` may be the only part

A lookup reads these rows without applying the corrections to the table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.kernel.rows import HALF, LOW, Ints, Mask, expand, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table

WIDTH = 2  # columns of a coded relation at most
_BITS = (21, 24, 27)  # widths of an id; in large steps, so that rows are rarely coded again


def bits_for(ids: int, relations: int) -> int | None:
    """The width of an id in codes; None if there are too many ids or relations for codes."""
    return next((b for b in _BITS if ids <= 1 << b and relations <= 1 << (63 - 2 * b)), None)


class CodedRows:
    """An immutable set of rows of numbered relations."""

    __slots__ = ("_first", "_relations", "_second", "_segments", "_stacked", "bits", "codes")

    def __init__(self, bits: int, codes: Ints) -> None:
        """`codes` are sorted and distinct."""
        self.bits = bits
        self.codes = codes
        self._relations: Ints | None = None
        self._first: Ints | None = None
        self._second: Ints | None = None
        self._stacked: Ints | None = None
        self._segments: dict[int, tuple[int, int]] | None = None

    @classmethod
    def of(cls, bits: int, codes: Ints) -> CodedRows:
        """Codes in any order, with repetitions. Sorts the array in place; the stable sort is fast for parts that are
        already sorted.
        """
        codes.sort(kind="stable")
        again = codes[1:] == codes[:-1]
        if np.count_nonzero(again):
            codes = np.concatenate((codes[:1], codes[1:][~again]))
        return cls(bits, codes)

    @classmethod
    def of_rows(cls, bits: int, relations: Sequence[int], rows: Sequence[Ints]) -> CodedRows:
        """Packed rows of some relations: for each relation number an array with one word per row."""
        lengths = [len(r) for r in rows]
        together = np.concatenate(rows)
        numbers = np.repeat(np.array(relations, dtype=np.int64), lengths)
        return cls.of(bits, encode(bits, numbers, together >> HALF, together & ((1 << HALF) - 1)))

    def __len__(self) -> int:
        return len(self.codes)

    def with_bits(self, bits: int) -> CodedRows:
        """The same rows with ids of `bits` bits, which must be enough for them."""
        if bits == self.bits:
            return self
        assert bits > self.bits or not (self.first | self.second).max(initial=0) >> bits
        return CodedRows(bits, encode(bits, self.relations, self.first, self.second))

    @property
    def relations(self) -> Ints:
        if self._relations is None:
            self._relations = self.codes >> 2 * self.bits
        return self._relations

    @property
    def first(self) -> Ints:
        if self._first is None:
            self._first = self.codes >> self.bits & ((1 << self.bits) - 1)
        return self._first

    @property
    def second(self) -> Ints:
        if self._second is None:
            self._second = self.codes & ((1 << self.bits) - 1)
        return self._second

    @property
    def stacked(self) -> Ints:
        """Zeros, the first column and the second column in one array: column c of row i is at c * length + i."""
        if self._stacked is None:
            self._stacked = np.concatenate((np.zeros(len(self.codes), dtype=np.int64), self.first, self.second))
        return self._stacked

    def packed(self) -> Ints:
        """The rows as packed in tables, relation after relation."""
        return self.first << HALF | self.second

    @property
    def segments(self) -> dict[int, tuple[int, int]]:
        """The start and stop of the rows of each relation, by its number."""
        if self._segments is None:
            self._segments = {number: (start, stop) for number, start, stop in cuts(self.relations)}
        return self._segments

    def rows_of(self, relation: int) -> Ints:
        """The rows of one relation as packed in tables."""
        segment = self.segments.get(relation)
        if segment is None:
            return _NOTHING
        codes = self.codes[slice(*segment)]
        mask = (1 << self.bits) - 1
        return (codes >> self.bits & mask) << HALF | codes & mask

    def keep(self, mask: Mask) -> CodedRows:
        return self if np.count_nonzero(mask) == len(mask) else CodedRows(self.bits, self.codes[mask])

    def holds(self, other: CodedRows) -> Mask:
        """Which rows of the other set are in this set."""
        if not len(self.codes):
            return np.zeros(len(other.codes), dtype=np.bool_)
        mine, theirs = _alike(self, other)
        at = mine.codes.searchsorted(theirs.codes)
        found: Mask = mine.codes.take(at, mode="clip") == theirs.codes
        return found

    def plus(self, other: CodedRows) -> CodedRows:
        if not len(other.codes) or not len(self.codes):
            return other if len(other.codes) else self
        mine, theirs = _alike(self, other)
        return CodedRows.of(mine.bits, np.concatenate((mine.codes, theirs.codes)))

    def minus(self, other: CodedRows) -> CodedRows:
        if not len(other.codes) or not len(self.codes):
            return self
        if len(self.codes) < len(other.codes):
            return self.keep(~other.holds(self))
        mine, theirs = _alike(self, other)
        at = mine.codes.searchsorted(theirs.codes)
        removed = at[mine.codes.take(at, mode="clip") == theirs.codes]
        if not len(removed):
            return self
        kept = np.ones(len(mine.codes), dtype=np.bool_)
        kept[removed] = False
        return CodedRows(mine.bits, mine.codes[kept])

    def common(self, other: CodedRows) -> CodedRows:
        if len(other.codes) < len(self.codes):
            return other.common(self)
        return self.keep(other.holds(self)) if len(self.codes) else self


_NOTHING: Ints = np.empty(0, dtype=np.int64)
NO_ROWS = CodedRows(_BITS[0], _NOTHING)


def encode(bits: int, relations: Ints | int, first: Ints, second: Ints) -> Ints:
    return relations << 2 * bits | first << bits | second


def cuts(numbers: Ints) -> list[tuple[int, int, int]]:
    """(number, start, stop) of each sequence of equal numbers."""
    if not len(numbers):
        return []
    last = (numbers[1:] != numbers[:-1]).nonzero()[0]
    stops = [*(last + 1).tolist(), len(numbers)]
    return list(zip([*numbers[last].tolist(), int(numbers[-1])], [0, *stops[:-1]], stops, strict=True))


def _alike(one: CodedRows, other: CodedRows) -> tuple[CodedRows, CodedRows]:
    bits = max(one.bits, other.bits)
    return one.with_bits(bits), other.with_bits(bits)


class RelationLookup:
    """Lookups in one relation of at most two columns, which has a table or rows in `added`."""

    def __init__(self, table: Table | None, deleted: CodedRows, added: CodedRows, number: int) -> None:
        """`number` is the number of the relation in `deleted` and `added`."""
        self.table = table
        self.added = added.rows_of(number)
        self._deleted, self._number = deleted, number
        self._deleted_rows: Ints | None = None
        self._runs: tuple[Run, ...] | None = None

    @property
    def deleted(self) -> Ints:
        """Deleted rows; decoded on first use, because most lookups find no row that could be deleted."""
        if self._deleted_rows is None:
            self._deleted_rows = self._deleted.rows_of(self._number)
        return self._deleted_rows

    def values(self, column: int) -> int:
        """The estimated number of distinct values in a column."""
        return len(self.added) + sum(run.values(column) for run in (() if self.table is None else self.table.runs))

    def holds(self, rows: Ints) -> Mask:
        """Which of the given packed rows exist."""
        if self.table is None:
            return is_among(self.added, rows)
        found = self._kept(rows)
        return found | is_among(self.added, rows) if len(self.added) else found

    def _kept(self, rows: Ints) -> Mask:
        assert self.table is not None
        found = self.table.contains_rows(rows.reshape(1, -1))
        if np.count_nonzero(found) and len(self.deleted):
            found &= ~is_among(self.deleted, rows)
        return found

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the table and a run of the added rows that are not in the table: no row occurs twice."""
        if self._runs is None:
            self._runs = self._all_runs()
        return self._runs

    def _all_runs(self) -> tuple[Run, ...]:
        if self.table is None:
            return (Run(layout_for(2, 0), self.added.reshape(1, -1)),)
        if not len(self.added):
            return self.table.runs
        added = self.added[~self._kept(self.added)]
        own = (Run(layout_for(2, 0), added.reshape(1, -1)),) if len(added) else ()
        return (*self.table.runs, *own)

    def first(self, column: int, values: Ints) -> tuple[Ints, Ints]:
        """For each value with rows: its position in `values` and the other column of its first row, if that is live."""
        which, others = self._first_in(0, column, values)
        for number in range(1, len(self.runs)):
            missing = np.ones(len(values), dtype=np.bool_)
            missing[which] = False
            rest = np.flatnonzero(missing)
            found, added = self._first_in(number, column, values[rest])
            which, others = np.concatenate((which, rest[found])), np.concatenate((others, added))
        return which, others

    def _first_in(self, number: int, column: int, values: Ints) -> tuple[Ints, Ints]:
        return self.live(number, column, values, *self.runs[number].first((column, 1 - column), values))

    def ranges(self, column: int, values: Ints) -> RowRanges:
        """The ranges of the rows that have one of the values in a column."""
        order = (column, 1 - column)
        return RowRanges(self, column, values, [run.ranges(order, (values,), len(values)) for run in self.runs])

    def live(self, number: int, column: int, values: Ints, which: Ints, others: Ints) -> tuple[Ints, Ints]:
        """The rows found in a run, without the deleted rows."""
        if self.table is None or not len(which) or number >= len(self.table.runs):
            return which, others
        tombstones = self.table.tombstones
        if tombstones is None and not len(self.deleted):
            return which, others
        bound = values[which]
        rows = bound << HALF | others if column == 0 else others << HALF | bound
        deleted = is_among(self.deleted, rows)
        if tombstones is not None:
            deleted |= tombstones.contains_rows(rows.reshape(1, -1))
        if not np.count_nonzero(deleted):
            return which, others
        live = ~deleted
        return which[live], others[live]


class RowRanges:
    """The rows for each of some values, counted (with deleted rows) but not yet read."""

    def __init__(self, lookup: RelationLookup, column: int, values: Ints, ranges: list[tuple[Ints, Ints]]) -> None:
        self.lookup, self.column, self.values = lookup, column, values
        self.starts = [low for low, _ in ranges]
        self.lengths = [high - low for low, high in ranges]
        self.counts: Ints = sum(self.lengths[1:], start=self.lengths[0])

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def window(self, start: int, stop: int | None) -> tuple[Ints, Ints]:
        """The rows from number `start` up to `stop` of each value: positions of values, and the other column."""
        before: Ints | int = 0
        order, parts = (self.column, 1 - self.column), []
        for number, (low, counts) in enumerate(zip(self.starts, self.lengths, strict=True)):
            which, positions = _cut(low, counts, before, start, stop)
            before = counts + before
            if len(positions):
                others = self.lookup.runs[number].in_order(order)[0].take(positions) & LOW
                parts.append(self.lookup.live(number, self.column, self.values, which, others))
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return self.values[:0], self.values[:0]
        return np.concatenate([w for w, _ in parts]), np.concatenate([o for _, o in parts])


def _cut(low: Ints, counts: Ints, before: Ints | int, start: int, stop: int | None) -> tuple[Ints, Ints]:
    """(range, position) of the elements from number `start` up to `stop`, if `before` elements come first."""
    if start == 0 and stop is None:
        return expand(low, counts, int(counts.sum()))
    first = np.minimum(np.maximum(start - before, 0), counts)
    last = counts if stop is None else np.minimum(np.maximum(stop - before, 0), counts)
    if stop is not None and stop - start == 1:
        which = (last > first).nonzero()[0]
        return which, (low + first)[which]
    length = last - first
    return expand(low + first, length, int(length.sum()))


def is_among(rows: Ints, keys: Ints) -> Mask:
    """Which of the keys are among the sorted words `rows`."""
    if not len(rows):
        return np.zeros(len(keys), dtype=np.bool_)
    found: Mask = rows.take(rows.searchsorted(keys), mode="clip") == keys
    return found
