"""Matching one atom: extend bindings by the rows of a table, in O(bindings log rows), in blocks that fit the budget.

An argument of the atom is a term id (a constant) or a variable; a variable with a column in the bindings is bound. The
bound columns select a range of the table in the matching column order. Two searches give the exact number of matches of
each binding before the result is allocated.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tidelog.kernel.budget import Budget
from tidelog.kernel.rows import Ints, Mask, expand, layout_for
from tidelog.kernel.run import ColumnOrder, Run, order_for
from tidelog.kernel.table import Table

Columns = dict[Hashable, Ints]


@dataclass(frozen=True, slots=True)
class Bindings:
    """Partial matches: one column of term ids per variable.

    Rows need not be distinct. `weight` is the number of matches that each row stands for (None: one), so that rows
    which became equal when a variable was dropped can be merged without losing count of the matches.
    """

    columns: Columns
    length: int
    weight: Ints | None = None

    def matches(self) -> int:
        """The number of matches that the rows stand for."""
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

    def deduplicated(self) -> Bindings:
        """Each distinct row once, with the sum of its weights."""
        inverse, first = group(list(self.columns.values()), self.length)
        if len(first) == self.length:
            return self
        weight = np.bincount(inverse, weights=self.weight, minlength=len(first)).astype(np.int64)
        return Bindings({k: c[first] for k, c in self.columns.items()}, len(first), weight)

    def among(self, other: Bindings) -> Mask:
        """Which rows are also in `other`, which has the same variables."""
        both = [np.concatenate([column, other.columns[key]]) for key, column in self.columns.items()]
        numbers, _ = group(both, self.length + other.length)
        seen = np.zeros(self.length + other.length, dtype=np.bool_)
        seen[numbers[self.length :]] = True
        mask: Mask = seen[numbers[: self.length]]
        return mask

    def split_by(self, key: Hashable) -> Iterator[tuple[int, Bindings]]:
        """The values of a column, each with its rows."""
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


JoinArgument = Hashable  # a term id (int) or a variable


@dataclass(frozen=True, slots=True)
class _RunRanges:
    """For one run: the range of the matches of each binding."""

    run: Run
    low: Ints
    counts: Ints


@dataclass(frozen=True, slots=True)
class Probe:
    """The matches of an atom for given bindings, counted but not yet read."""

    bindings: Bindings
    table: Table
    args: Sequence[JoinArgument]
    order: ColumnOrder
    ranges: tuple[_RunRanges, ...]

    @property
    def total(self) -> int:
        """The number of rows to read (tombstones and repeated variables may remove some)."""
        return sum(int(r.counts.sum()) for r in self.ranges)

    def counts(self) -> Ints:
        """The number of rows to read for each binding."""
        return sum((r.counts for r in self.ranges[1:]), start=self.ranges[0].counts)

    def window(self, start: int | Ints, stop: int | Ints | None) -> Probe:
        """Only the matches from number `start` up to `stop` of each binding, in the order of the runs."""
        ranges, before = [], np.zeros(self.bindings.length, dtype=np.int64)
        for part in self.ranges:
            first = np.clip(start - before, 0, part.counts)
            last = part.counts if stop is None else np.clip(stop - before, 0, part.counts)
            ranges.append(_RunRanges(part.run, part.low + first, last - first))
            before = before + part.counts
        return replace(self, ranges=tuple(ranges))

    def sample(self, size: int) -> Bindings:
        """At most `size` matches of the first binding, sampled evenly from the run with most (ignores tombstones)."""
        part = max(self.ranges, key=lambda r: int(r.counts[0]))
        count = min(size, int(part.counts[0]))
        at = part.low[0] + np.linspace(0, int(part.counts[0]) - 1, count).astype(np.int64)
        rows = part.run.in_order(self.order).take(at, axis=1)
        free = self._free()
        columns = {self.args[p]: part.run.layout.unpack(rows, i) for i, p in enumerate(self.order) if p in free}
        return Bindings(columns, count)

    def bindings_with_match(self, budget: Budget) -> Mask:
        """Which bindings have a match."""
        found = np.zeros(self.bindings.length, dtype=np.bool_)
        if self.table.tombstones is None and not _repeats(self._free_args()):
            for part in self.ranges:
                found |= part.counts > 0
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
        """The positions of the free columns."""
        return tuple(p for p, a in enumerate(self.args) if not _is_bound(a, self.bindings))

    def _free_args(self) -> list[JoinArgument]:
        return [self.args[p] for p in self._free()]

    def _live(self, budget: Budget) -> Iterator[tuple[Ints, dict[int, Ints]]]:
        """(binding, free columns) of each match, with repeated variables checked."""
        for which, columns in self._blocks(budget.block_rows(len(self.args) + len(self.bindings.columns) + 2)):
            mask = self._repeated(columns)
            if mask is not None and not mask.all():
                which, columns = which[mask], {p: c[mask] for p, c in columns.items()}
            yield which, columns

    def _repeated(self, columns: dict[int, Ints]) -> Mask | None:
        """Where each variable that occurs twice among the free columns has one value; None if none occurs twice."""
        mask: Mask | None = None
        first: dict[JoinArgument, int] = {}
        for position, column in columns.items():
            before = first.setdefault(self.args[position], position)
            if before != position:
                equal = columns[before] == column
                mask = equal if mask is None else mask & equal
        return mask

    def _blocks(self, size: int) -> Iterator[tuple[Ints, dict[int, Ints]]]:
        if self.total <= size:
            parts = [self._gather(r, r.low, r.counts, 0) for r in self.ranges if r.counts.any()]
            yield from [_concatenate(parts)] if parts else []
            return
        for part in self.ranges:
            ends = np.cumsum(part.counts)
            for start in range(0, int(ends[-1]), size):
                yield self._gather_between(part, ends, start, min(start + size, int(ends[-1])))

    def _gather_between(self, part: _RunRanges, ends: Ints, start: int, stop: int) -> tuple[Ints, dict[int, Ints]]:
        """The matches from number `start` up to `stop` of a run; the first and the last binding may be incomplete."""
        first, last = np.searchsorted(ends, start, "right"), np.searchsorted(ends, stop, "left")
        low, counts = part.low[first : last + 1].copy(), part.counts[first : last + 1].copy()
        skipped = start - int(ends[first] - part.counts[first])
        counts[-1] -= int(ends[last]) - stop
        low[0] += skipped
        counts[0] -= skipped
        return self._gather(part, low, counts, int(first))

    def _gather(self, part: _RunRanges, low: Ints, counts: Ints, offset: int) -> tuple[Ints, dict[int, Ints]]:
        rows, total = part.run.in_order(self.order), int(counts.sum())
        if len(low) == 1:
            which = np.full(total, offset, dtype=np.int64)
            rows = rows[:, low[0] : low[0] + total]
        else:
            which, positions = expand(low, counts, total)
            which += offset
            rows = rows.take(positions, axis=1)
        which, rows = _live(self.table, part.run, self.order, which, rows, ordered=len(low) == 1)
        free = self._free()
        return which, {p: part.run.layout.unpack(rows, i) for i, p in enumerate(self.order) if p in free}


def probe(bindings: Bindings, table: Table, args: Sequence[JoinArgument]) -> Probe:
    """Find the matches of an atom and count them for each binding, without reading them."""
    bound = [p for p, a in enumerate(args) if _is_bound(a, bindings)]
    order = order_for(len(args), frozenset(bound))
    prefix = [a if isinstance(a := args[p], int) else bindings.columns[a] for p in order[: len(bound)]]
    ranges = []
    for run in table.runs:
        low, high = run.ranges(order, prefix, bindings.length)
        ranges.append(_RunRanges(run, low, high - low))
    return Probe(bindings, table, args, order, tuple(ranges))


def count(table: Table, args: Sequence[JoinArgument]) -> int:
    """The number of rows that `probe` would find for an atom if no variable is bound."""
    bound = [p for p, a in enumerate(args) if isinstance(a, int)]
    if not bound:
        return sum(map(len, table.runs))
    order = order_for(len(args), frozenset(bound))
    prefix = [a for p in order[: len(bound)] if isinstance(a := args[p], int)]
    ranges = (run.ranges(order, prefix, 1) for run in table.runs)
    return sum(int(high[0] - low[0]) for low, high in ranges)


def _is_bound(arg: JoinArgument, bindings: Bindings) -> bool:
    return isinstance(arg, int) or arg in bindings.columns


def _repeats(args: Sequence[JoinArgument]) -> bool:
    return len(set(args)) < len(args)


def _live(table: Table, run: Run, order: ColumnOrder, which: Ints, rows: Ints, *, ordered: bool) -> tuple[Ints, Ints]:
    """Rows of a run without the deleted rows of its table."""
    if table.tombstones is not None:
        live = ~table.tombstones.holds(rows, run.layout, order, ordered)
        which, rows = which[live], rows[:, live]
    return which, rows


def _concatenate(parts: list[tuple[Ints, dict[int, Ints]]]) -> tuple[Ints, dict[int, Ints]]:
    if len(parts) == 1:
        return parts[0]
    columns = {p: np.concatenate([c[p] for _, c in parts]) for p in parts[0][1]}
    return np.concatenate([w for w, _ in parts]), columns
