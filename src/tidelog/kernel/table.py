"""A table: the rows of one relation, as a few sorted runs and the rows that were deleted from them.

    live rows  =  (run 0 + run 1 + …)  -  tombstones        runs are disjoint; tombstones are some of their rows

Tables are immutable. `plus` adds a run and `minus` adds tombstones, so a small change to a large table copies no large
array. Runs are merged if the last is not much smaller than the one before it, and tombstones are applied if they are
more than an eighth of the rows. So a lookup reads a logarithmic number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from functools import cached_property
from typing import TypeVar

import numpy as np

from tidelog import tuning
from tidelog.kernel import rows as packed
from tidelog.kernel.rows import Ints, Layout, Mask
from tidelog.kernel.run import ColumnOrder, Run, merge, order_for

R = TypeVar("R", bound=Sized)


class Table:
    """Immutable rows of one relation."""

    def __init__(self, runs: tuple[Run, ...], tombstones: Table | None = None) -> None:
        assert runs, "a relation without rows has no table"
        self.runs = runs
        self.tombstones = tombstones

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.runs)) - (len(self.tombstones) if self.tombstones else 0)

    def __len__(self) -> int:
        return self.size

    @property
    def arity(self) -> int:
        return self.runs[0].layout.arity

    @property
    def nbytes(self) -> int:
        return sum(r.nbytes for r in self.runs) + (self.tombstones.nbytes if self.tombstones else 0)

    def holds(self, rows: Ints, layout: Layout, order: ColumnOrder, ordered: bool) -> Mask:
        """Which of the given packed rows, with columns in `order`, are live; `ordered` if the rows are sorted."""
        found = np.zeros(rows.shape[1], dtype=np.bool_)
        for run in self.runs:
            if run.layout.bits > layout.bits:
                rows, layout = layout.repacked(rows, run.layout), run.layout
            mine = run.with_layout(layout).in_order(order)
            if ordered and mine.shape[1] < rows.shape[1]:
                at, here = packed.find(rows, mine)
                found[at[here]] = True
            else:
                found |= packed.contains(mine, rows)
        if self.tombstones is not None and found.any():
            found &= ~self.tombstones.holds(rows, layout, order, ordered)
        return found

    def contains_run(self, run: Run) -> Mask:
        """Which rows of the run are live rows of this table."""
        found = self.runs[0].contains_run(run)
        for mine in self.runs[1:]:
            missing = ~found
            if missing.any():
                found[missing] = mine.contains_run(run.keep(missing))
        if self.tombstones is not None and found.any():
            found &= ~self.tombstones.contains_run(run)
        return found

    def contains_rows(self, rows: Ints) -> Mask:
        """Which of some rows, packed as the runs of a narrow relation always are, are live here."""
        found = self.runs[0].contains_rows(rows)
        for run in self.runs[1:]:
            missing = ~found
            found[missing] = run.contains_rows(rows[:, missing])
        if self.tombstones is not None and found.any():
            found &= ~self.tombstones.contains_rows(rows)
        return found

    @property
    def flat(self) -> Run:
        """All live rows as one run; cached only if it is small."""
        return self._flat if len(self) <= tuning.FLAT_ROWS else self._made_flat()

    @cached_property
    def _flat(self) -> Run:
        return self._made_flat()

    def _made_flat(self) -> Run:
        return self._live(merge(self.runs))

    def _live(self, run: Run) -> Run:
        """The live rows of a run of this table. There are few tombstones, so these are searched in the run."""
        if self.tombstones is None:
            return run
        deleted = self.tombstones.flat
        if deleted.layout != run.layout:
            return run.keep(~self.tombstones.contains_run(run))
        at, here = packed.find(run.rows, deleted.rows)
        live = np.ones(len(run), dtype=np.bool_)
        live[at[here]] = False
        return run.keep(live)

    def columns(self) -> list[Ints]:
        """The live rows column by column, run after run."""
        live = [self._live(r) for r in self.runs]
        return [np.concatenate([r.column(c) for r in live]) for c in range(self.arity)]

    def may_hold(self, column: int, value: int) -> bool:
        """False only if no row has the value in the column."""
        if len(self) > tuning.FLAT_ROWS:
            order = order_for(self.arity, frozenset((column,)))
            return any(bool(np.diff(r.ranges(order, (value,), 1), axis=0)[0, 0]) for r in self.runs)
        return any(bool((r.column(column) == value).any()) for r in self.runs)

    def plus(self, other: Table) -> Table:
        """The rows of both tables."""
        if len(other) > len(self):
            return other.plus(self)
        added = other.flat
        added = added.keep(~self.contains_run(added))
        return self._plus_new(added) if len(added) else self

    def _plus_new(self, added: Run) -> Table:
        """Add rows that are not live; for rows with a tombstone, the tombstone is removed."""
        tombstones, runs = self.tombstones, self.runs
        if tombstones is not None:
            revived = tombstones.contains_run(added)
            if revived.any():
                tombstones = tombstones.minus(Table((added.keep(revived),)))
                added = added.keep(~revived)
        return Table(compact_runs((*runs, added), merge) if len(added) else runs, tombstones)

    def minus(self, other: Table) -> Table | None:
        """The rows that are not in the other table; None if there are none."""
        shared = tuple(r for r in self.runs if any(r is o for o in other.runs))
        if shared:
            return self._minus_relative(other, shared)
        if len(other) * 8 > len(self):
            left = tuple(kept for r in map(self._live, self.runs) if len(kept := r.keep(~other.contains_run(r))))
            return self if sum(map(len, left)) == len(self) else _table(left)
        deleted = other.flat
        deleted = deleted.keep(self.contains_run(deleted))
        return self._add_tombstones(deleted) if len(deleted) else self

    def _minus_relative(self, other: Table, shared: tuple[Run, ...]) -> Table | None:
        """`minus` for a table that shares runs with the other one. Of a shared run only the rows with a tombstone in
        the other table are left; its other rows are not read.
        """
        own = tuple(self._live(r) for r in self.runs if not any(r is s for s in shared))
        left = [r.keep(~other.contains_run(r)) for r in own]
        if other.tombstones is not None:
            deleted = other.tombstones.flat
            left.append(deleted.keep(Table(shared, self.tombstones).contains_run(deleted)))
        return _table(tuple(r for r in left if len(r)))

    def _add_tombstones(self, deleted: Run) -> Table:
        tombstones = Table((deleted,)) if self.tombstones is None else self.tombstones.plus(Table((deleted,)))
        table = Table(self.runs, tombstones)
        return Table((table.flat,)) if len(tombstones) * 8 > len(self) else table

    def common(self, other: Table) -> Table | None:
        """The rows in both."""
        if len(other) < len(self):
            return other.common(self)
        mine = self.flat
        both = mine.keep(other.contains_run(mine))
        return self if len(both) == len(self) else Table((both,)) if len(both) else None


def _table(runs: tuple[Run, ...]) -> Table | None:
    """The table of disjoint runs that have rows; None without runs."""
    return Table(compact_runs(runs, merge)) if runs else None


def compact_runs(runs: tuple[R, ...], merge: Callable[[Sequence[R]], R]) -> tuple[R, ...]:
    """Merge runs from the end while a run is less than twice as long as the runs after it."""
    start = len(runs) - 1
    tail = len(runs[start])
    while start > 0 and len(runs[start - 1]) < 2 * tail:
        start -= 1
        tail += len(runs[start])
    return (*runs[:start], merge(runs[start:]))
