"""Rows packed into 64-bit words, and the array operations on them.

A row of term ids is packed into one int64 word if its columns fit (`s << 32 | o` for two columns of up to 31 bits,
three columns of 21 bits). So to sort or search a relation is to sort or search one integer array. Wider rows take
several words. Packed rows are arrays of shape (words, n), ordered by the first word, then the second, ….

numpy's `unique` is many times slower than sorting and dropping equal neighbours, and `searchsorted` is ten times faster
for sorted keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from tidelog import tuning

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
SearchSide = Literal["left", "right"]

WIDE = 31  # bits of a term id at most; two ids fill a word
HALF = 32  # the shift of the first of two such columns
LOW = (1 << HALF) - 1


@dataclass(frozen=True)
class Layout:
    """How rows of some arity are packed: the word and the shift of each column."""

    arity: int
    bits: int

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """(word, shift) of each column; the leftmost column is the most significant."""
        per_word = 2 if self.bits == WIDE else 63 // self.bits
        stride = 32 if self.bits == WIDE else self.bits
        places = []
        for column in range(self.arity):
            word, index = divmod(column, per_word)
            width = min(per_word, self.arity - word * per_word)
            places.append((word, stride * (width - 1 - index)))
        return tuple(places)

    @cached_property
    def words(self) -> int:
        return self.places[-1][0] + 1 if self.places else 1

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1

    def pack(self, columns: Sequence[Ints | int], length: int, fill: int = 0) -> Ints:
        """Pack leading columns (arrays or constants); the missing last columns are `fill`."""
        constants: list[int] = [0] * self.words
        arrays: list[Ints | None] = [None] * self.words
        for place, (word, shift) in enumerate(self.places):
            value = columns[place] if place < len(columns) else fill
            if isinstance(value, int):
                constants[word] |= value << shift
            else:
                shifted = value << shift if shift else value
                before = arrays[word]
                arrays[word] = shifted if before is None else before | shifted
        rows = np.empty((self.words, length), dtype=np.int64)
        for word, (constant, array) in enumerate(zip(constants, arrays, strict=True)):
            rows[word] = constant if array is None else array | constant if constant else array
        return rows

    def unpack(self, rows: Ints, column: int) -> Ints:
        word, shift = self.places[column]
        value: Ints = rows[word] >> shift if shift else rows[word]
        leftmost = column == 0 or self.places[column - 1][0] != word
        return value if leftmost else value & self.mask

    def repacked(self, rows: Ints, layout: Layout) -> Ints:
        """The same rows in another layout of the same arity that is wide enough."""
        return layout.pack([self.unpack(rows, c) for c in range(self.arity)], rows.shape[1])


@lru_cache(maxsize=256)
def layout_for(arity: int, ids: int) -> Layout:
    """The tightest layout for ids below `ids`: three or four columns fit into one word if there are few ids."""
    if arity == 3 and ids <= 1 << 21:
        return Layout(3, 21)
    if arity == 4 and ids <= 1 << 15:
        return Layout(4, 15)
    return Layout(arity, WIDE)


def sort(rows: Ints) -> Ints:
    if rows.shape[0] == 1:
        return np.sort(rows)
    return rows[:, sorting(rows)]


def sorting(rows: Ints) -> Ints:
    """The order that sorts the rows."""
    return np.argsort(rows[0]) if rows.shape[0] == 1 else np.lexsort(rows[::-1])


def distinct(rows: Ints) -> Ints:
    """The rows sorted, each once."""
    return drop_equal_neighbours(sort(rows))


def drop_equal_neighbours(rows: Ints) -> Ints:
    if rows.shape[1] < 2:
        return rows
    keep = first_of_equals(rows)
    return rows if keep.all() else rows[:, keep]


def first_of_equals(rows: Ints) -> Mask:
    """Which of the sorted rows differ from the row before."""
    keep = np.empty(rows.shape[1], dtype=np.bool_)
    keep[:1] = True
    np.not_equal(rows[0, 1:], rows[0, :-1], out=keep[1:])
    for word in rows[1:]:
        keep[1:] |= word[1:] != word[:-1]
    return keep


def search(rows: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """For each pair of keys, the range of sorted rows from `low` to `high` (both included): (starts, ends)."""
    order = None if _is_ordered(low[0]) else np.argsort(low[0])
    if order is None:
        return _search(rows, low, "left"), _search(rows, high, "right")
    starts, ends = np.empty((2, low.shape[1]), dtype=np.int64)
    starts[order], ends[order] = _search(rows, low[:, order], "left"), _search(rows, high[:, order], "right")
    return starts, ends


def _is_ordered(keys: Ints) -> bool:
    """Whether sorting the keys would not make a search faster."""
    return len(keys) < tuning.SORTED_KEYS or bool((keys[1:] >= keys[:-1]).all())


def _search(rows: Ints, keys: Ints, side: SearchSide) -> Ints:
    """The position of each key among the sorted rows: before ("left") or after ("right") equal rows."""
    if rows.shape[0] == 1:
        found: Ints = rows[0].searchsorted(keys[0], side)
        return found
    low, high = rows[0].searchsorted(keys[0], "left"), rows[0].searchsorted(keys[0], "right")
    for word, key in zip(rows[1:-1], keys[1:-1], strict=True):
        low, high = _bisect(word, key, low, high, "left"), _bisect(word, key, low, high, "right")
    return _bisect(rows[-1], keys[-1], low, high, side)


def _bisect(word: Ints, keys: Ints, low: Ints, high: Ints, side: SearchSide) -> Ints:
    """Binary search of each key within its own range [low, high) of the word, all ranges at once."""
    low, high = low.copy(), high.copy()
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        value = word[np.minimum(middle, len(word) - 1)]
        right = (value < keys if side == "left" else value <= keys) & open_
        low = np.where(right, middle + 1, low)
        high = np.where(open_ & ~right, middle, high)
    return low


def contains(rows: Ints, keys: Ints) -> Mask:
    """Which of the keys are among the sorted rows."""
    if rows.shape[0] == 1 and tuning.COMPARED_KEYS < keys.shape[1] < 2 * rows.shape[1] and _is_ordered(keys[0]):
        found = _contains_similar(rows[0], keys[0])
        if found is not None:
            return found
    return find(rows, keys)[1]


def _contains_similar(rows: Ints, keys: Ints) -> Mask | None:
    """`contains` for sorted keys that are mostly the same as the rows: stretches of keys are compared with stretches of
    rows, and only keys in different stretches are searched. None if a sample shows that most are different.
    """
    count = len(keys) // tuning.STRETCH_KEYS
    first = keys[: count * tuning.STRETCH_KEYS : tuning.STRETCH_KEYS]
    sample = np.arange(0, count, -(-count // tuning.SAMPLED_STRETCHES))
    if np.count_nonzero(_same(rows, keys, sample, rows.searchsorted(first[sample]))) < len(sample) // 2:
        return None
    same = _same(rows, keys, np.arange(count), rows.searchsorted(first))
    found = np.empty(len(keys), dtype=np.bool_)
    found[: count * tuning.STRETCH_KEYS] = np.repeat(same, tuning.STRETCH_KEYS)
    found[count * tuning.STRETCH_KEYS :] = False
    rest = np.flatnonzero(~found)
    found[rest] = _find(rows.reshape(1, -1), keys[rest].reshape(1, -1))[1]
    return found


def _same(rows: Ints, keys: Ints, stretches: Ints, at: Ints) -> Mask:
    """Which of the given stretches of keys are equal to the rows from positions `at`."""
    within = np.arange(tuning.STRETCH_KEYS)
    mine = rows.take(at[:, None] + within, mode="clip")
    whole = keys[: len(keys) // tuning.STRETCH_KEYS * tuning.STRETCH_KEYS]
    same: Mask = (mine == whole.reshape(-1, tuning.STRETCH_KEYS)[stretches]).all(axis=1)
    return same


def find(rows: Ints, keys: Ints) -> tuple[Ints, Mask]:
    """The position of each key among the sorted rows, and whether it is one of them."""
    n = rows.shape[1]
    if n == 0:
        return np.zeros(keys.shape[1], dtype=np.int64), np.zeros(keys.shape[1], dtype=np.bool_)
    order = None if _is_ordered(keys[0]) else np.argsort(keys[0])
    if order is None:
        return _find(rows, keys)
    at, found = np.empty(keys.shape[1], dtype=np.int64), np.empty(keys.shape[1], dtype=np.bool_)
    at[order], found[order] = _find(rows, keys[:, order])
    return at, found


def _find(rows: Ints, keys: Ints) -> tuple[Ints, Mask]:
    at = _search(rows, keys, "left")
    found = rows[0].take(at, mode="clip") == keys[0]
    for word, key in zip(rows[1:], keys[1:], strict=True):
        found &= word.take(at, mode="clip") == key
    return at, found


def starts_of(rows: Ints, layout: Layout) -> npt.NDArray[np.int32]:
    """For each value of the leading column the start of its rows, and the end: gives ranges without a search."""
    leading = layout.unpack(rows, 0)
    counts = np.bincount(leading, minlength=int(leading[-1]) + 1)
    starts = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    return starts


def expand(low: Ints, counts: Ints, total: int) -> tuple[Ints, Ints]:
    """For ranges from `low` with `counts` elements: the number of the range and the position of each element."""
    which = np.repeat(np.arange(len(low), dtype=np.int64), counts)
    ends = np.cumsum(counts)
    positions = np.arange(total, dtype=np.int64) + np.repeat(low - (ends - counts), counts)
    return which, positions
