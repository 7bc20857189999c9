"""Tables of solutions: columns of ids, -1 where a variable is unbound; and the join of two tables.

Two solutions are compatible when they agree on the variables that both bind. Most rows bind the same variables, so rows
are first split by the variables they bind. Then a match is equality of some columns: the right rows are sorted, the
left rows are searched in them, and the matches are counted before anything is allocated.

The kernel's join matches bindings with a stored relation, whose rows are packed, sorted and distinct. Solutions repeat,
have any number of columns and are used once: to make a relation of them would cost more than the join.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import numpy as np

from tidelog import tuning
from tidelog.kernel.join import Bindings, Columns, group
from tidelog.kernel.rows import Ints, Mask, expand
from tidelog.queries.limits import QueryBudget
from tidelog.queries.sparql.evaluate.query_dictionary import UNBOUND
from tidelog.rules.syntax import Variable

Pairs = tuple[Ints, Ints]  # rows of the left table, rows of the right one


def gathered(
    blocks: Iterable[Bindings], budget: QueryBudget, check: Callable[[int], None] = lambda rows: None
) -> Bindings:
    """The blocks as one table. `check` is called with the number of rows so far."""
    parts, rows = [], 0
    for block in blocks:
        rows += block.length
        check(rows)
        budget.claim_table(rows, len(block.columns))
        parts.append(block)
    return concatenated(parts, budget)


def concatenated(parts: Sequence[Bindings], budget: QueryBudget) -> Bindings:
    """The tables as one. A column that a table does not have is unbound in its rows."""
    parts = [p for p in parts if p.length]
    if len(parts) == 1:
        return parts[0]
    length = sum(p.length for p in parts)
    names = list(dict.fromkeys(name for p in parts for name in p.columns))
    budget.claim_table(length, len(names))
    columns = {n: np.concatenate([column_of(p, n) for p in parts] or [_NONE]) for n in names}
    return Bindings(columns, length)


_NONE = np.empty(0, dtype=np.int64)


def column_of(table: Bindings, name: Hashable) -> Ints:
    column = table.columns.get(name)
    return np.full(table.length, UNBOUND, dtype=np.int64) if column is None else column


def numbered(columns: Sequence[Ints], length: int) -> tuple[Ints, Ints]:
    """Number the distinct rows of columns that may be unbound: (number of each row, one row for each number)."""
    return group([c + 1 for c in columns], length)


def distinct(table: Bindings) -> Bindings:
    """Each row once, in order of first appearance."""
    number, some = numbered(list(table.columns.values()), table.length)
    if len(some) == table.length:
        return table
    first = np.empty(len(some), dtype=np.int64)
    first[number[::-1]] = np.arange(table.length - 1, -1, -1)  # for equal rows, the last assignment wins
    return table.take(np.sort(first))


def is_among(table: Bindings, others: Bindings) -> Mask:
    """Which rows of `table` are also in `others`, which has the same columns."""
    length = table.length + others.length
    number, some = numbered([np.concatenate([c, column_of(others, n)]) for n, c in table.columns.items()], length)
    known = np.zeros(len(some), dtype=np.bool_)
    known[number[table.length :]] = True
    return known[number[: table.length]]


def seeds_of(table: Bindings, variables: frozenset[Variable]) -> Bindings | None:
    """The distinct values of those variables that all rows bind: seeds for a pattern that is joined with the table."""
    names = [v for v in variables if v in table.columns and bool((table.columns[v] >= 0).all())]
    return distinct(table.only(names)) if names else None


def _by_bound(table: Bindings, names: Sequence[Hashable]) -> Iterator[tuple[Ints | None, frozenset[Hashable]]]:
    """Group the rows by the variables in `names` that they bind: (indices of the rows or None for all, variables)."""
    code = np.zeros(table.length, dtype=np.int64)
    always: set[Hashable] = set()
    open_: list[Hashable] = []
    for name in names:
        bound = column_of(table, name) >= 0
        if bound.all():
            always.add(name)
        elif bound.any():
            code |= bound.astype(np.int64) << len(open_)
            open_.append(name)
    if not open_:
        yield None, frozenset(always)
        return
    for value in np.unique(code).tolist():
        some = {n for i, n in enumerate(open_) if value >> i & 1}
        yield np.flatnonzero(code == value), frozenset(always | some)


def bound_alike(table: Bindings, names: Sequence[Hashable]) -> Iterator[Bindings]:
    """Split the table into parts whose rows bind the same variables of `names`. Unbound variables have no column."""
    for rows, bound in _by_bound(table, names):
        part = table if rows is None else table.take(rows)
        unbound = [n for n in names if n not in bound]
        yield part.only([n for n in part.columns if n not in unbound]) if unbound else part


def pairs(left: Bindings, right: Bindings, budget: QueryBudget) -> Iterator[Pairs]:
    """All compatible pairs of rows, in blocks: (indices of left rows, indices of right rows)."""
    width = len(left.columns.keys() | right.columns.keys())
    for left_rows, right_rows, on in _groups(left, right):
        for i, j in _equal_rows(_ranges(left, left_rows, right, right_rows, on), width, budget):
            yield (i if left_rows is None else left_rows[i]), (j if right_rows is None else right_rows[j])


def _groups(left: Bindings, right: Bindings) -> Iterator[tuple[Ints | None, Ints | None, list[Hashable]]]:
    """Pairs of groups of rows: (left rows, right rows, the variables that both bind). None stands for all rows."""
    if not left.length or not right.length:
        return
    shared = [n for n in left.columns if n in right.columns]
    right_groups = list(_by_bound(right, shared))
    for left_rows, left_bound in _by_bound(left, shared):
        for right_rows, right_bound in right_groups:
            yield left_rows, right_rows, [n for n in shared if n in left_bound and n in right_bound]


def _equal_rows(ranges: _Ranges, width: int, budget: QueryBudget) -> Iterator[Pairs]:
    """Pairs of rows that are equal in all columns. No value is unbound."""
    order, low, counts = ranges
    budget.claim_table(min(int(counts.sum()), tuning.PAIRED_ROWS), width)
    ends = np.cumsum(counts)
    start = 0
    while start < len(low):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + tuning.PAIRED_ROWS, "right")))
        some = counts[start:stop]
        size = int(some.sum())
        if size:
            budget.claim_table(size, width)
            which, position = expand(low[start:stop], some, size)
            yield which + start, position if order is None else order[position]
        start = stop


_Ranges = tuple[Ints | None, Ints, Ints]


def _ranges(
    left: Bindings, left_rows: Ints | None, right: Bindings, right_rows: Ints | None, on: list[Hashable]
) -> _Ranges:
    """(sort order of the right rows, first position in it of the matches of each left row, their number)."""
    length = left.length if left_rows is None else len(left_rows)
    if not on:
        matches = right.length if right_rows is None else len(right_rows)
        return None, np.zeros(length, dtype=np.int64), np.full(length, matches, dtype=np.int64)
    columns = [(_taken(left.columns[n], left_rows), _taken(right.columns[n], right_rows)) for n in on]
    ours, theirs = columns[0]
    if len(on) > 1:  # one number for each row of either side, equal for equal rows
        number, _ = numbered([np.concatenate(both) for both in columns], len(ours) + len(theirs))
        ours, theirs = number[:length], number[length:]
    order = np.argsort(theirs, kind="stable")
    ranked = theirs[order]
    low = np.searchsorted(ranked, ours, "left")
    return order, low, np.searchsorted(ranked, ours, "right") - low


def _taken(column: Ints, rows: Ints | None) -> Ints:
    return column if rows is None else column[rows]


def merged(left: Bindings, right: Bindings, rows: Pairs) -> Bindings:
    """The solutions that result from pairs of compatible rows."""
    i, j = rows
    columns: Columns = {n: c[i] for n, c in left.columns.items()}
    for name, column in right.columns.items():
        mine, theirs = columns.get(name), column[j]
        if mine is None:
            columns[name] = theirs
        elif (mine < 0).any():
            columns[name] = np.where(mine < 0, theirs, mine)
    return Bindings(columns, len(i))


def excluded(left: Bindings, right: Bindings, constants: frozenset[Hashable]) -> Mask:
    """Which rows of the left table MINUS removes: those with a compatible right row that shares a bound variable.

    `constants` are variables that stand for constants: they must agree, but do not count as shared.
    """
    removed = np.zeros(left.length, dtype=np.bool_)
    for left_rows, right_rows, on in _groups(left, right):
        if not constants.issuperset(on):
            _, _, counts = _ranges(left, left_rows, right, right_rows, on)
            removed[slice(None) if left_rows is None else left_rows] |= counts > 0
    return removed
