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
        found = self.runs[0].contains_run(run)
        for mine in self.runs[1:]:
            missing = ~found
            if missing.any():
                found[missing] = mine.contains_run(run.keep(missing))
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
        return self._living(merge(self.runs))

    def _living(self, run: Run) -> Run:
        """The rows of a run of this table that are live. There are far fewer dead ones: they are looked for."""
        if self.dead is None:
            return run
        gone = self.dead.flat
        if gone.layout != run.layout:
            return run.keep(~self.dead.contains_run(run))
        at, here = packed.find(run.rows, gone.rows)
        live = np.ones(len(run), dtype=np.bool_)
        live[at[here]] = False
        return run.keep(live)

    def columns(self) -> list[Ints]:
        """The live rows column by column, run after run."""
        live = [self._living(r) for r in self.runs]
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
        shared = tuple(r for r in self.runs if any(r is o for o in other.runs))
        if shared:
            return self._minus_relative(other, shared)
        if len(other) * 8 > len(self):
            left = tuple(kept for r in map(self._living, self.runs) if len(kept := r.keep(~other.contains_run(r))))
            return self if sum(map(len, left)) == len(self) else _table(left)
        gone = other.flat
        gone = gone.keep(self.contains_run(gone))
        return self._bury(gone) if len(gone) else self

    def _minus_relative(self, other: Table, shared: tuple[Run, ...]) -> Table | None:
        """The same where one was made from the other: of the runs that both have only rows that are dead there are
        left, and nobody looks at the others.
        """
        own = tuple(self._living(r) for r in self.runs if not any(r is s for s in shared))
        left = [r.keep(~other.contains_run(r)) for r in own]
        if other.dead is not None:
            dead = other.dead.flat
            left.append(dead.keep(Table(shared, self.dead).contains_run(dead)))
        return _table(tuple(r for r in left if len(r)))

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


def _table(runs: tuple[Run, ...]) -> Table | None:
    """The table of disjoint runs, each with rows; None without any."""
    return Table(settle(runs, merge)) if runs else None


def settle(runs: tuple[R, ...], merge: Callable[[Sequence[R]], R]) -> tuple[R, ...]:
    """Merge from the end while a run is less than twice as long as what follows it."""
    start = len(runs) - 1
    tail = len(runs[start])
    while start > 0 and len(runs[start - 1]) < 2 * tail:
        start -= 1
        tail += len(runs[start])
    return (*runs[:start], merge(runs[start:]))
