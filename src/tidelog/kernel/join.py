"""Matching one atom: extend bindings by the rows of a table, in O(bindings log rows), in blocks that fit the budget.

An argument of the atom is a term id (a constant) or a variable; a variable that the bindings already have is bound.
The bound columns select a range in the table's matching order; two searches give the exact number of matches of every
binding before anything is allocated.

Bindings: a table of partial matches, one column of term ids per variable.

Rows need not be distinct. `weight` says how many matches a row stands for (None: one each), so that rows which
became equal when a variable was no longer needed can be folded without losing count of the matches.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tidelog.kernel.budget import Budget
from tidelog.kernel.rows import Ints, Mask, expand, layout_for
from tidelog.kernel.run import Order, Run, order_for
from tidelog.kernel.table import Table

Columns = dict[Hashable, Ints]


@dataclass(frozen=True, slots=True)
class Bindings:
    columns: Columns
    length: int
    weight: Ints | None = None

    def matches(self) -> int:
        """How many matches these rows stand for."""
        return self.length if self.weight is None else int(self.weight.sum())

    def take(self, index: Ints | Mask, needed: Collection[Hashable] | None = None) -> Bindings:
        """The rows at an index (or where a mask is true), with only the needed columns."""
        columns = {k: c[index] for k, c in self.columns.items() if needed is None or k in needed}
        weight = None if self.weight is None else self.weight[index]
        length = int(np.count_nonzero(index)) if index.dtype == np.bool_ else len(index)
        return Bindings(columns, length, weight)

    def with_column(self, key: Hashable, column: Ints | int) -> Bindings:
        if isinstance(column, int):
            column = np.full(self.length, column, dtype=np.int64)
        return Bindings({**self.columns, key: column}, self.length, self.weight)

    def only(self, needed: Collection[Hashable]) -> Bindings:
        if all(k in needed for k in self.columns):
            return self
        return Bindings({k: c for k, c in self.columns.items() if k in needed}, self.length, self.weight)

    def folded(self) -> Bindings:
        """Equal rows as one row with their weights added."""
        inverse, first = group(list(self.columns.values()), self.length)
        if len(first) == self.length:
            return self
        weight = np.bincount(inverse, weights=self.weight, minlength=len(first)).astype(np.int64)
        return Bindings({k: c[first] for k, c in self.columns.items()}, len(first), weight)

    def among(self, other: Bindings) -> Mask:
        """Which rows the other bindings, of the same variables, have too."""
        both = [np.concatenate([column, other.columns[key]]) for key, column in self.columns.items()]
        numbers, _ = group(both, self.length + other.length)
        seen = np.zeros(self.length + other.length, dtype=np.bool_)
        seen[numbers[self.length :]] = True
        mask: Mask = seen[numbers[: self.length]]
        return mask

    def split_by(self, key: Hashable) -> Iterator[tuple[int, Bindings]]:
        """The rows for each value of a column."""
        column = self.columns[key]
        if self.length and (column == column[0]).all():
            yield int(column[0]), self
            return
        order = np.argsort(column, kind="stable")
        cuts = np.flatnonzero(np.diff(column[order])) + 1
        for part in np.split(order, cuts):
            if len(part):
                yield int(column[part[0]]), self.take(part)


UNIT = Bindings({}, 1)


def group(columns: Sequence[Ints], length: int) -> tuple[Ints, Ints]:
    """Number the distinct rows of some columns: (number of each row, index of one row of each number)."""
    if not columns:
        return np.zeros(length, dtype=np.int64), np.zeros(min(1, length), dtype=np.int64)
    code = columns[0].astype(np.int64, copy=False)
    for column in columns[1:]:
        number, _ = _number(code)
        code = layout_for(2, 0).pack([number, column], length)[0]
    return _number(code)


def _number(code: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(code)
    ranked = code[order]
    fresh = np.empty(len(code), dtype=np.bool_)
    fresh[:1] = True
    np.not_equal(ranked[1:], ranked[:-1], out=fresh[1:])
    number = np.empty(len(code), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    return number, order[fresh]


Argument = Hashable  # a term id (int) or a variable


@dataclass(frozen=True, slots=True)
class _Reach:
    """For one run: where the matches of each binding lie."""

    run: Run
    low: Ints
    counts: Ints


@dataclass(frozen=True, slots=True)
class Probe:
    """The matches of an atom for given bindings, counted but not yet carried out."""

    bindings: Bindings
    table: Table
    args: Sequence[Argument]
    order: Order
    reaches: tuple[_Reach, ...]

    @property
    def total(self) -> int:
        """How many rows carrying it out will look at (tombstones and repeated variables may remove some)."""
        return sum(int(r.counts.sum()) for r in self.reaches)

    def counts(self) -> Ints:
        """The same for each binding."""
        return sum((r.counts for r in self.reaches[1:]), start=self.reaches[0].counts)

    def window(self, start: int | Ints, stop: int | Ints | None) -> Probe:
        """Only the matches number `start` up to `stop` of each binding, runs one after the other."""
        reaches, before = [], np.zeros(self.bindings.length, dtype=np.int64)
        for reach in self.reaches:
            first = np.clip(start - before, 0, reach.counts)
            last = reach.counts if stop is None else np.clip(stop - before, 0, reach.counts)
            reaches.append(_Reach(reach.run, reach.low + first, last - first))
            before = before + reach.counts
        return replace(self, reaches=tuple(reaches))

    def sample(self, size: int) -> Bindings:
        """Some of the matches of the first binding, evenly spread over the run that has most (tombstones ignored)."""
        reach = max(self.reaches, key=lambda r: int(r.counts[0]))
        count = min(size, int(reach.counts[0]))
        at = reach.low[0] + np.linspace(0, int(reach.counts[0]) - 1, count).astype(np.int64)
        rows = reach.run.in_order(self.order).take(at, axis=1)
        free = self._free()
        columns = {self.args[p]: reach.run.layout.unpack(rows, i) for i, p in enumerate(self.order) if p in free}
        return Bindings(columns, count)

    def bindings_with_match(self, budget: Budget) -> Mask:
        """Which bindings have a match at all."""
        found = np.zeros(self.bindings.length, dtype=np.bool_)
        if self.table.dead is None and not _repeats(self._free_args()):
            for reach in self.reaches:
                found |= reach.counts > 0
            return found
        for which, _ in self._live(budget):
            found[which] = True
        return found

    def carry_out(self, needed: Collection[Hashable], budget: Budget) -> Iterator[Bindings]:
        """The extended bindings, with only the needed variables, in blocks."""
        free = {a: p for p, a in enumerate(self.args) if p in self._free()}
        for which, columns in self._live(budget):
            kept = self.bindings.take(which, needed)
            fresh = {a: columns[p] for a, p in free.items() if a in needed}
            yield Bindings({**kept.columns, **fresh}, len(which), kept.weight)

    def _free(self) -> tuple[int, ...]:
        """The columns that are not bound."""
        return tuple(p for p, a in enumerate(self.args) if not _is_bound(a, self.bindings))

    def _free_args(self) -> list[Argument]:
        return [self.args[p] for p in self._free()]

    def _live(self, budget: Budget) -> Iterator[tuple[Ints, dict[int, Ints]]]:
        """(binding, free columns) of every match, repeated variables checked."""
        for which, columns in self._blocks(budget.block_rows(len(self.args) + len(self.bindings.columns) + 2)):
            mask = self._repeated(columns)
            if mask is not None and not mask.all():
                which, columns = which[mask], {p: c[mask] for p, c in columns.items()}
            yield which, columns

    def _repeated(self, columns: dict[int, Ints]) -> Mask | None:
        """Where a variable that occurs twice among the free columns has one value."""
        mask: Mask | None = None
        first: dict[Argument, int] = {}
        for position, column in columns.items():
            before = first.setdefault(self.args[position], position)
            if before != position:
                equal = columns[before] == column
                mask = equal if mask is None else mask & equal
        return mask

    def _blocks(self, size: int) -> Iterator[tuple[Ints, dict[int, Ints]]]:
        if self.total <= size:
            parts = [self._gather(r, r.low, r.counts, 0) for r in self.reaches if r.counts.any()]
            yield from [_concatenate(parts)] if parts else []
            return
        for reach in self.reaches:
            ends = np.cumsum(reach.counts)
            for start in range(0, int(ends[-1]), size):
                yield self._gather_between(reach, ends, start, min(start + size, int(ends[-1])))

    def _gather_between(self, reach: _Reach, ends: Ints, start: int, stop: int) -> tuple[Ints, dict[int, Ints]]:
        """Matches number `start` to `stop` of a run; the first and last binding may be cut."""
        first, last = np.searchsorted(ends, start, "right"), np.searchsorted(ends, stop, "left")
        low, counts = reach.low[first : last + 1].copy(), reach.counts[first : last + 1].copy()
        skipped = start - int(ends[first] - reach.counts[first])
        counts[-1] -= int(ends[last]) - stop
        low[0] += skipped
        counts[0] -= skipped
        return self._gather(reach, low, counts, int(first))

    def _gather(self, reach: _Reach, low: Ints, counts: Ints, offset: int) -> tuple[Ints, dict[int, Ints]]:
        rows, total = reach.run.in_order(self.order), int(counts.sum())
        if len(low) == 1:
            which = np.full(total, offset, dtype=np.int64)
            rows = rows[:, low[0] : low[0] + total]
        else:
            which, positions = expand(low, counts, total)
            which += offset
            rows = rows.take(positions, axis=1)
        which, rows = _live(self.table, reach.run, self.order, which, rows, ordered=len(low) == 1)
        free = self._free()
        return which, {p: reach.run.layout.unpack(rows, i) for i, p in enumerate(self.order) if p in free}


def probe(bindings: Bindings, table: Table, args: Sequence[Argument]) -> Probe:
    """Find the matches of an atom: count them for each binding, allocate nothing that grows with them."""
    bound = [p for p, a in enumerate(args) if _is_bound(a, bindings)]
    order = order_for(len(args), frozenset(bound))
    prefix = [a if isinstance(a := args[p], int) else bindings.columns[a] for p in order[: len(bound)]]
    reaches = []
    for run in table.runs:
        low, high = run.ranges(order, prefix, bindings.length)
        reaches.append(_Reach(run, low, high - low))
    return Probe(bindings, table, args, order, tuple(reaches))


def count(table: Table, args: Sequence[Argument]) -> int:
    """How many rows `probe` would find for an atom when nothing is bound but its constants."""
    bound = [p for p, a in enumerate(args) if isinstance(a, int)]
    if not bound:
        return sum(map(len, table.runs))
    order = order_for(len(args), frozenset(bound))
    prefix = [a for p in order[: len(bound)] if isinstance(a := args[p], int)]
    ranges = (run.ranges(order, prefix, 1) for run in table.runs)
    return sum(int(high[0] - low[0]) for low, high in ranges)


def _is_bound(arg: Argument, bindings: Bindings) -> bool:
    return isinstance(arg, int) or arg in bindings.columns


def _repeats(args: Sequence[Argument]) -> bool:
    return len(set(args)) < len(args)


def _live(table: Table, run: Run, order: Order, which: Ints, rows: Ints, *, ordered: bool) -> tuple[Ints, Ints]:
    """Rows of a run without those that the table has buried."""
    if table.dead is not None:
        alive = ~table.dead.holds(rows, run.layout, order, ordered)
        which, rows = which[alive], rows[:, alive]
    return which, rows


def _concatenate(parts: list[tuple[Ints, dict[int, Ints]]]) -> tuple[Ints, dict[int, Ints]]:
    if len(parts) == 1:
        return parts[0]
    columns = {p: np.concatenate([c[p] for _, c in parts]) for p in parts[0][1]}
    return np.concatenate([w for w, _ in parts]), columns
