"""Looking up few rows in a narrow relation that was changed a little, without carrying the change out.

    rows  =  (table - dead) | plus        dead and plus are small arrays of packed rows; plus may be all there is
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tidelog.kernel.rows import HALF, LOW, Ints, Mask, expand, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table


class Lookup:
    """The rows of one relation of at most two columns."""

    def __init__(self, table: Table | None, dead: Ints, plus: Ints) -> None:
        """`dead` and `plus` are sorted and distinct rows, each in one word."""
        self.table = table
        self.dead = dead
        self.plus = plus

    def holds(self, rows: Ints) -> Mask:
        """Which of some packed rows are here."""
        if self.table is None:
            return is_among(self.plus, rows)
        found = self._kept(rows)
        return found | is_among(self.plus, rows) if len(self.plus) else found

    def _kept(self, rows: Ints) -> Mask:
        assert self.table is not None
        found = self.table.contains_rows(rows.reshape(1, -1))
        return found & ~is_among(self.dead, rows) if len(self.dead) else found

    @cached_property
    def _runs(self) -> tuple[Run, ...]:
        """The runs of the table, and one of what is only in `plus`, so that no row is met twice."""
        if self.table is None:
            return (Run(layout_for(2, 0), self.plus.reshape(1, -1)),)
        added = self.plus[~self._kept(self.plus)] if len(self.plus) else self.plus
        own = (Run(layout_for(2, 0), added.reshape(1, -1)),) if len(added) else ()
        return (*self.table.runs, *own)

    def window(
        self, column: int, values: Ints, start: int, stop: int | None, most: int | None = None
    ) -> tuple[Ints, Ints, Ints] | None:
        """The rows that have one of the values in a column, number `start` up to `stop` of each: which value, the
        other column, and how many rows each value has, dead ones included. None if that would be more than `most`.
        """
        before = np.zeros(len(values), dtype=np.int64)
        parts = []
        order = (column, 1 - column)
        for number, run in enumerate(self._runs):
            low, high = run.ranges(order, (values,), len(values))
            counts = high - low
            which, positions = _cut(low, counts, before, start, stop)
            before = before + counts
            if most is not None and len(positions) > most:
                return None
            if len(positions):
                others = run.in_order(order)[0].take(positions) & LOW
                parts.append(self._live(number, column, values, which, others))
        if len(parts) == 1:
            return *parts[0], before
        if not parts:
            return before[:0], before[:0], before
        return np.concatenate([w for w, _ in parts]), np.concatenate([o for _, o in parts]), before

    def total(self, column: int, values: Ints) -> int:
        """How many rows have one of the values in a column, dead ones included."""
        ranges = (run.ranges((column, 1 - column), (values,), len(values)) for run in self._runs)
        return sum(int((high - low).sum()) for low, high in ranges)

    def _live(self, number: int, column: int, values: Ints, which: Ints, others: Ints) -> tuple[Ints, Ints]:
        """Without rows that are in the table no more."""
        if self.table is None or number >= len(self.table.runs):
            return which, others
        buried = self.table.dead
        if buried is None and not len(self.dead):
            return which, others
        bound = values[which]
        rows = bound << HALF | others if column == 0 else others << HALF | bound
        gone = is_among(self.dead, rows)
        if buried is not None:
            gone |= buried.contains_rows(rows.reshape(1, -1))
        alive = ~gone
        return which[alive], others[alive]


def _cut(low: Ints, counts: Ints, before: Ints, start: int, stop: int | None) -> tuple[Ints, Ints]:
    """Which range, and which position, of the elements number `start` up to `stop` behind `before` others."""
    if start == 0 and stop is None:
        return expand(low, counts, int(counts.sum()))
    first = np.minimum(np.maximum(start - before, 0), counts)
    last = counts if stop is None else np.minimum(np.maximum(stop - before, 0), counts)
    if stop is not None and stop - start == 1:
        which = np.flatnonzero(last > first)
        return which, (low + first)[which]
    length = last - first
    return expand(low + first, length, int(length.sum()))


def is_among(rows: Ints, keys: Ints) -> Mask:
    """Which of the keys are among sorted words."""
    if not len(rows):
        return np.zeros(len(keys), dtype=np.bool_)
    found: Mask = rows.take(rows.searchsorted(keys), mode="clip") == keys
    return found
