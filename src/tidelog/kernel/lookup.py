"""Looking up few rows in a narrow relation that was changed a little, without carrying the change out.

rows  =  (table - dead) | plus        dead and plus are small arrays of packed rows; plus may be all there is
"""

from __future__ import annotations

import numpy as np

from tidelog.kernel.mixed import Mixed
from tidelog.kernel.rows import HALF, LOW, Ints, Mask, expand, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table


class Lookup:
    """The rows of one relation of at most two columns; there is a table, or something in `plus`."""

    def __init__(self, table: Table | None, dead: Mixed, plus: Mixed, number: int) -> None:
        """`number` is that of the relation in `dead` and `plus`."""
        self.table = table
        self.plus = plus.rows_of(number)
        self._dead, self._number = dead, number
        self._gone: Ints | None = None
        self._runs: tuple[Run, ...] | None = None

    @property
    def dead(self) -> Ints:
        """Written out when first asked for: most lookups find nothing that could be dead."""
        if self._gone is None:
            self._gone = self._dead.rows_of(self._number)
        return self._gone

    def values(self, column: int) -> int:
        """About how many values there are in a column."""
        return len(self.plus) + sum(run.values(column) for run in (() if self.table is None else self.table.runs))

    def holds(self, rows: Ints) -> Mask:
        """Which of some packed rows are here."""
        if self.table is None:
            return is_among(self.plus, rows)
        found = self._kept(rows)
        return found | is_among(self.plus, rows) if len(self.plus) else found

    def _kept(self, rows: Ints) -> Mask:
        assert self.table is not None
        found = self.table.contains_rows(rows.reshape(1, -1))
        if np.count_nonzero(found) and len(self.dead):
            found &= ~is_among(self.dead, rows)
        return found

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the table, and one of what is only in `plus`, so that no row is met twice."""
        if self._runs is None:
            self._runs = self._all_runs()
        return self._runs

    def _all_runs(self) -> tuple[Run, ...]:
        if self.table is None:
            return (Run(layout_for(2, 0), self.plus.reshape(1, -1)),)
        if not len(self.plus):
            return self.table.runs
        added = self.plus[~self._kept(self.plus)]
        own = (Run(layout_for(2, 0), added.reshape(1, -1)),) if len(added) else ()
        return (*self.table.runs, *own)

    def first(self, column: int, values: Ints) -> tuple[Ints, Ints]:
        """One row for each value that has some, by its number, and the other column: the first, if it is alive."""
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

    def reach(self, column: int, values: Ints) -> Reach:
        """Where the rows lie that have one of the values in a column."""
        order = (column, 1 - column)
        return Reach(self, column, values, [run.ranges(order, (values,), len(values)) for run in self.runs])

    def live(self, number: int, column: int, values: Ints, which: Ints, others: Ints) -> tuple[Ints, Ints]:
        """The rows found in a run, without those that are in the table no more."""
        if self.table is None or not len(which) or number >= len(self.table.runs):
            return which, others
        buried = self.table.dead
        if buried is None and not len(self.dead):
            return which, others
        bound = values[which]
        rows = bound << HALF | others if column == 0 else others << HALF | bound
        gone = is_among(self.dead, rows)
        if buried is not None:
            gone |= buried.contains_rows(rows.reshape(1, -1))
        if not np.count_nonzero(gone):
            return which, others
        alive = ~gone
        return which[alive], others[alive]


class Reach:
    """The rows for each of some values, counted (dead ones too) but not yet looked at."""

    def __init__(self, lookup: Lookup, column: int, values: Ints, ranges: list[tuple[Ints, Ints]]) -> None:
        self.lookup, self.column, self.values = lookup, column, values
        self.starts = [low for low, _ in ranges]
        self.lengths = [high - low for low, high in ranges]
        self.counts: Ints = sum(self.lengths[1:], start=self.lengths[0])

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def window(self, start: int, stop: int | None) -> tuple[Ints, Ints]:
        """The rows number `start` up to `stop` of each value: which value, and the other column."""
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
    """Which range, and which position, of the elements number `start` up to `stop` behind `before` others."""
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
    """Which of the keys are among sorted words."""
    if not len(rows):
        return np.zeros(len(keys), dtype=np.bool_)
    found: Mask = rows.take(rows.searchsorted(keys), mode="clip") == keys
    return found
