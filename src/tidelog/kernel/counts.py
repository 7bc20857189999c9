"""Counts: rows of one relation, each with how often it occurs.

    count of a row  =  the sum of its weights in run 0, run 1, …        a row whose count is zero is not there

A weight may be negative, so adding and taking away are the same: another run behind the large ones. Runs are merged as
those of a table are, which adds up the weights of equal rows and drops zeros: a small change to many counts copies
nothing large, and a lookup meets a logarithmic number of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from tidelog.kernel import rows as packed
from tidelog.kernel.rows import Ints, Layout
from tidelog.kernel.run import Run
from tidelog.kernel.table import settle


@dataclass(frozen=True, slots=True)
class Weighted:
    """A run and the weight of each of its rows, none of them zero."""

    run: Run
    weight: Ints

    def __len__(self) -> int:
        return len(self.run)

    @classmethod
    def once(cls, run: Run) -> Weighted:
        """Every row of a run, once: takes no memory of its own."""
        return cls(run, np.broadcast_to(np.int64(1), len(run)))

    @classmethod
    def summed(cls, layout: Layout, rows: Ints, weight: Ints) -> Weighted:
        """Any rows, the weights of equal ones added."""
        order = packed.sorting(rows)
        rows, weight = rows[:, order], weight[order]
        fresh = packed.first_of_equals(rows)
        if not fresh.all():
            rows, weight = rows[:, fresh], np.add.reduceat(weight, np.flatnonzero(fresh))
        nonzero = weight != 0
        return cls(Run(layout, rows), weight) if nonzero.all() else cls(Run(layout, rows[:, nonzero]), weight[nonzero])

    def negative(self) -> Weighted:
        return Weighted(self.run, -self.weight)

    def of(self, asked: Run) -> Ints:
        """The weight of each row of another run, zero where it is not here."""
        layout = self.run.layout
        if asked.layout.bits <= layout.bits:
            return self._of(asked.with_layout(layout).rows)
        fits = reduce(np.logical_and, [asked.column(c) <= layout.mask for c in asked.natural])
        weight = np.zeros(len(asked), dtype=np.int64)
        weight[fits] = self._of(asked.keep(fits).with_layout(layout).rows)
        return weight

    def _of(self, rows: Ints) -> Ints:
        at, found = packed.find(self.run.rows, rows)
        weight = np.zeros(rows.shape[1], dtype=np.int64)
        weight[found] = self.weight[at[found]]
        return weight


def _merge(runs: Sequence[Weighted]) -> Weighted:
    if len(runs) == 1:
        return runs[0]
    layout = max((w.run.layout for w in runs), key=lambda layout: layout.bits)
    rows = np.concatenate([w.run.with_layout(layout).rows for w in runs], axis=1)
    return Weighted.summed(layout, rows, np.concatenate([w.weight for w in runs]))


class Counts:
    """Immutable counts of the rows of one relation."""

    def __init__(self, runs: tuple[Weighted, ...], size: int) -> None:
        self.runs = runs
        self.size = size

    @classmethod
    def of_run(cls, weighted: Weighted) -> Counts:
        return cls((weighted,), len(weighted))

    @classmethod
    def sum(cls, counts: Sequence[Counts]) -> Counts:
        """All of them together, in one go."""
        return counts[0] if len(counts) == 1 else cls.of_run(_merge([w for c in counts for w in c.runs]))

    def __len__(self) -> int:
        """How many rows have a count."""
        return self.size

    def of(self, asked: Run) -> Ints:
        """The count of each row of a run."""
        count = np.zeros(len(asked), dtype=np.int64)
        for weighted in self.runs:
            count += weighted.of(asked)
        return count

    def among(self, asked: Run) -> Counts:
        """The counts of those rows of a run that have one."""
        count = self.of(asked)
        nonzero = count != 0
        return Counts.of_run(Weighted(asked.keep(nonzero), count[nonzero]))

    @cached_property
    def flat(self) -> Weighted:
        """All rows with their counts, as one run."""
        return _merge(self.runs)

    def plus(self, other: Counts) -> Counts:
        if len(other) > len(self):
            return other.plus(self)
        added = other.flat
        before = self.of(added.run)
        after = before + added.weight
        size = self.size + int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        return Counts(settle((*self.runs, added), _merge), size)

    def negative(self) -> Counts:
        return Counts(tuple(w.negative() for w in self.runs), self.size)

    def positive(self) -> Run:
        """The rows that occur at least once."""
        return self.flat.run.keep(self.flat.weight > 0)
