"""Bindings: a table of partial matches, one column of term ids per variable.

Rows need not be distinct. `weight` says how many matches a row stands for (None: one each), so that rows which
became equal when a variable was no longer needed can be folded without losing count of the matches.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidelog.kernel.rows import Ints, Mask, layout_for

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
