"""A table: the rows of one relation, as a few sorted runs and the rows that were removed from them.

    live rows  =  (run 0 + run 1 + …)  -  dead        runs are disjoint, dead is a table, a subset of their union

Tables are immutable. `plus` adds a run and `minus` adds tombstones, so a small change to a large table copies nothing
large; runs are merged when the last is no longer much smaller than the one before it, and tombstones are carried out
when they are an eighth of the rows, so that a lookup never meets more than a logarithmic number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from functools import cached_property
from typing import TypeVar

import numpy as np

from tidelog.kernel import rows as packed
from tidelog.kernel.rows import Ints, Layout, Mask
from tidelog.kernel.run import Order, Run, merge, order_for

R = TypeVar("R", bound=Sized)

_FEW_ROWS = 4096  # rows that are quickly looked through, and may be held twice


class Table:
    """Immutable rows of one relation."""

    def __init__(self, runs: tuple[Run, ...], dead: Table | None = None) -> None:
        assert runs, "a relation without rows has no table"
        self.runs = runs
        self.dead = dead

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.runs)) - (len(self.dead) if self.dead else 0)

    def __len__(self) -> int:
        return self.size

    @property
    def arity(self) -> int:
        return self.runs[0].layout.arity

    @property
    def nbytes(self) -> int:
        return sum(r.nbytes for r in self.runs) + (self.dead.nbytes if self.dead else 0)

    def holds(self, rows: Ints, layout: Layout, order: Order, ordered: bool) -> Mask:
        """Which of some packed rows, their columns in an order, are live here; `ordered` says that they are sorted."""
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
        if self.dead is not None and found.any():
            found &= ~self.dead.holds(rows, layout, order, ordered)
        return found

    def contains_run(self, run: Run) -> Mask:
        """Which rows of the run are live here."""
        found = np.zeros(len(run), dtype=np.bool_)
        for mine in self.runs:
            found |= mine.contains_run(run)
        if self.dead is not None and found.any():
            found &= ~self.dead.contains_run(run)
        return found

    def contains_rows(self, rows: Ints) -> Mask:
        """Which of some rows, packed as the runs of a narrow relation always are, are live here."""
        found = self.runs[0].contains_rows(rows)
        for run in self.runs[1:]:
            missing = ~found
            found[missing] = run.contains_rows(rows[:, missing])
        if self.dead is not None and found.any():
            found &= ~self.dead.contains_rows(rows)
        return found

    @property
    def flat(self) -> Run:
        """All live rows as one run; kept only where that takes little memory."""
        return self._flat if len(self) <= _FEW_ROWS else self._made_flat()

    @cached_property
    def _flat(self) -> Run:
        return self._made_flat()

    def _made_flat(self) -> Run:
        run = merge(self.runs)
        return run if self.dead is None else run.keep(~self.dead.contains_run(run))

    def columns(self) -> list[Ints]:
        """The live rows column by column, run after run."""
        live = [r if self.dead is None else r.keep(~self.dead.contains_run(r)) for r in self.runs]
        return [np.concatenate([r.column(c) for r in live]) for c in range(self.arity)]

    def may_hold(self, column: int, value: int) -> bool:
        """False only if no row has the value in the column; quick where the table is small."""
        if len(self) > _FEW_ROWS:
            order = order_for(self.arity, frozenset((column,)))
            return any(bool(np.diff(r.ranges(order, (value,), 1), axis=0)[0, 0]) for r in self.runs)
        return any(bool((r.column(column) == value).any()) for r in self.runs)

    def plus(self, other: Table) -> Table:
        """This table and the other one's rows."""
        if len(other) > len(self):
            return other.plus(self)
        added = other.flat
        added = added.keep(~self.contains_run(added))
        return self._plus_new(added) if len(added) else self

    def _plus_new(self, added: Run) -> Table:
        """Add rows that are not live here; those that are only dead come back to life."""
        dead, runs = self.dead, self.runs
        if dead is not None:
            revived = dead.contains_run(added)
            if revived.any():
                dead = dead.minus(Table((added.keep(revived),)))
                added = added.keep(~revived)
        return Table(settle((*runs, added), merge) if len(added) else runs, dead)

    def minus(self, other: Table) -> Table | None:
        """This table without the other one's rows; None when nothing is left."""
        if self.dead is None and other.dead is None and self.shares_runs(other):
            own = tuple(r for r in self.runs if not any(r is o for o in other.runs))
            return Table(own).minus(other) if own else None
        if len(other) * 8 > len(self):
            mine = self.flat
            left = mine.keep(~other.contains_run(mine))
            return self if len(left) == len(self) else Table((left,)) if len(left) else None
        gone = other.flat
        gone = gone.keep(self.contains_run(gone))
        return self._bury(gone) if len(gone) else self

    def shares_runs(self, other: Table) -> bool:
        """Whether one was made from the other, so that their difference is known without looking at what they share."""
        return any(r is o for r in self.runs for o in other.runs)

    def _bury(self, gone: Run) -> Table:
        dead = Table((gone,)) if self.dead is None else self.dead.plus(Table((gone,)))
        buried = Table(self.runs, dead)
        return Table((buried.flat,)) if len(dead) * 8 > len(self) else buried

    def common(self, other: Table) -> Table | None:
        """The rows in both."""
        if len(other) < len(self):
            return other.common(self)
        mine = self.flat
        both = mine.keep(other.contains_run(mine))
        return self if len(both) == len(self) else Table((both,)) if len(both) else None


def settle(runs: tuple[R, ...], merge: Callable[[Sequence[R]], R]) -> tuple[R, ...]:
    """Merge from the end while a run is less than twice as long as what follows it."""
    start = len(runs) - 1
    tail = len(runs[start])
    while start > 0 and len(runs[start - 1]) < 2 * tail:
        start -= 1
        tail += len(runs[start])
    return (*runs[:start], merge(runs[start:]))
