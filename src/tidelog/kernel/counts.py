"""Counts: the rows of one relation, each with the number of times it occurs.

    count of a row  =  the sum of its weights in run 0, run 1, …        a row with the count zero is absent

A weight may be negative, so addition and subtraction both append a run. Runs are merged like those of a table; a merge
adds the weights of equal rows and drops zeros. So a small change to many counts copies no large array, and a lookup
reads a logarithmic number of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from tidelog.kernel import rows as packed
from tidelog.kernel.rows import Ints, Layout
from tidelog.kernel.run import Run
from tidelog.kernel.table import compact_runs


@dataclass(frozen=True, slots=True)
class WeightedRun:
    """A run and the weight of each of its rows, none of them zero."""

    run: Run
    weight: Ints

    def __len__(self) -> int:
        return len(self.run)

    @classmethod
    def once(cls, run: Run) -> WeightedRun:
        """Each row of a run with the weight one; the weights take no memory."""
        return cls(run, np.broadcast_to(np.int64(1), len(run)))

    @classmethod
    def summed(cls, layout: Layout, rows: Ints, weight: Ints) -> WeightedRun:
        """Rows in any order; the weights of equal rows are added."""
        order = packed.sorting(rows)
        rows, weight = rows[:, order], weight[order]
        fresh = packed.first_of_equals(rows)
        if not fresh.all():
            rows, weight = rows[:, fresh], np.add.reduceat(weight, np.flatnonzero(fresh))
        nonzero = weight != 0
        return cls(Run(layout, rows), weight) if nonzero.all() else cls(Run(layout, rows[:, nonzero]), weight[nonzero])

    def negative(self) -> WeightedRun:
        return WeightedRun(self.run, -self.weight)

    def counts_of(self, asked: Run) -> Ints:
        """The weight of each row of another run, zero for a row that is absent."""
        layout = self.run.layout
        if asked.layout.bits <= layout.bits:
            return self._weights_of(asked.with_layout(layout).rows)
        fits = reduce(np.logical_and, [asked.column(c) <= layout.mask for c in asked.natural])
        weight = np.zeros(len(asked), dtype=np.int64)
        weight[fits] = self._weights_of(asked.keep(fits).with_layout(layout).rows)
        return weight

    def _weights_of(self, rows: Ints) -> Ints:
        at, found = packed.find(self.run.rows, rows)
        weight = np.zeros(rows.shape[1], dtype=np.int64)
        weight[found] = self.weight[at[found]]
        return weight


def _merge(runs: Sequence[WeightedRun]) -> WeightedRun:
    if len(runs) == 1:
        return runs[0]
    layout = max((w.run.layout for w in runs), key=lambda layout: layout.bits)
    rows = np.concatenate([w.run.with_layout(layout).rows for w in runs], axis=1)
    return WeightedRun.summed(layout, rows, np.concatenate([w.weight for w in runs]))


class RowCounts:
    """Immutable counts of the rows of one relation."""

    def __init__(self, runs: tuple[WeightedRun, ...], size: int) -> None:
        self.runs = runs
        self.size = size

    @classmethod
    def of_run(cls, weighted: WeightedRun) -> RowCounts:
        return cls((weighted,), len(weighted))

    @classmethod
    def sum(cls, counts: Sequence[RowCounts]) -> RowCounts:
        """The sum of several counts, by one merge."""
        return counts[0] if len(counts) == 1 else cls.of_run(_merge([w for c in counts for w in c.runs]))

    def __len__(self) -> int:
        """The number of rows with a count."""
        return self.size

    def counts_of(self, asked: Run) -> Ints:
        """The count of each row of a run."""
        count = np.zeros(len(asked), dtype=np.int64)
        for weighted in self.runs:
            count += weighted.counts_of(asked)
        return count

    def among(self, asked: Run) -> RowCounts:
        """The counts of the rows of a run, without zeros."""
        count = self.counts_of(asked)
        nonzero = count != 0
        return RowCounts.of_run(WeightedRun(asked.keep(nonzero), count[nonzero]))

    @cached_property
    def flat(self) -> WeightedRun:
        """All rows with their counts, as one run."""
        return _merge(self.runs)

    def plus(self, other: RowCounts) -> RowCounts:
        if len(other) > len(self):
            return other.plus(self)
        added = other.flat
        before = self.counts_of(added.run)
        after = before + added.weight
        size = self.size + int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        return RowCounts(compact_runs((*self.runs, added), _merge), size)

    def negative(self) -> RowCounts:
        return RowCounts(tuple(w.negative() for w in self.runs), self.size)

    def positive(self) -> Run:
        """The rows that occur at least once."""
        return self.flat.run.keep(self.flat.weight > 0)
