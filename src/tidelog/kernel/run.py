"""A run: an immutable sorted set of rows. Other column orders are made on first use.

A column order is a permutation of the columns: rows sorted by (column 1, column 0) answer "which rows have this value
in column 1" by one range. All orders of a run have the same rows; they are cached and never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from threading import Lock

import numpy as np
import numpy.typing as npt

from tidelog import tuning
from tidelog.kernel import rows as packed
from tidelog.kernel.rows import Ints, Layout, Mask, find


class PrefixIndex:
    """An index of sorted, non-negative words by their leading bits; takes two to four bytes per word.

        starts[k]  =  the number of words with leading bits below k

    A binary search of many keys misses the processor's cache at each step, for one key after the other. With this index
    few steps are left, and all keys take each step together, so that their cache misses overlap.
    """

    def __init__(self, words: Ints) -> None:
        self._words = words
        self._shift = max(0, int(words[-1]).bit_length() - len(words).bit_length() + 1)
        counts = np.bincount(words >> self._shift)
        self._starts: npt.NDArray[np.int32] = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=self._starts[1:])

    @property
    def nbytes(self) -> int:
        return self._starts.nbytes

    def search(self, keys: Ints) -> Ints:
        """The position of each key: the number of words that are less."""
        leading = keys >> self._shift
        start, stop = self._starts.take(leading, mode="clip"), self._starts.take(leading + 1, mode="clip")
        longest = int((stop - start).max(initial=0))
        if longest > tuning.PREFIX_STRETCH:
            return find(self._words.reshape(1, -1), keys.reshape(1, -1))[0]
        low: Ints = start.astype(np.int64)
        step = 1 << longest.bit_length() >> 1
        while step:  # all words before `low` are less; test the last of the next `step` words
            less = self._words.take(low + (step - 1), mode="clip") < keys
            low += less * np.int64(step)
            step >>= 1
        return np.minimum(low, len(self._words))


ColumnOrder = tuple[int, ...]


@lru_cache(maxsize=1024)
def order_for(arity: int, bound: frozenset[int]) -> ColumnOrder:
    """The order that starts with the bound columns. Rotations are preferred: three of them are enough for arity 3."""
    for start in range(arity):
        rotation = tuple((start + i) % arity for i in range(arity))
        if bound == frozenset(rotation[: len(bound)]):
            return rotation
    return (*sorted(bound), *(c for c in range(arity) if c not in bound))


class Run:
    """Sorted rows, each once."""

    __slots__ = (
        "_asked",
        "_length",
        "_lock",
        "_orders",
        "_radix",
        "_starts",
        "_stored",
        "_values",
        "layout",
        "natural",
    )

    def __init__(self, layout: Layout, rows: Ints) -> None:
        """`rows` are sorted and distinct, in natural column order."""
        self.layout = layout
        self.natural: ColumnOrder = tuple(range(layout.arity))
        self._length = int(rows.shape[1])
        self._orders: dict[ColumnOrder, Ints] = {self.natural: rows}
        self._stored: Mapping[ColumnOrder, Callable[[], Ints]] = {}
        self._starts: dict[ColumnOrder, npt.NDArray[np.int32]] = {}
        self._radix: dict[ColumnOrder, PrefixIndex] = {}
        self._asked: dict[ColumnOrder, int] = {}  # number of lookups so far
        self._values: dict[int, int] = {}
        self._lock = Lock()

    @classmethod
    def stored(cls, layout: Layout, length: int, orders: Mapping[ColumnOrder, Callable[[], Ints]]) -> Run:
        """Rows in storage, at least in natural order; the functions in `orders` read them on first use."""
        run = cls(layout, np.empty((layout.words, 0), dtype=np.int64))
        run._length, run._orders, run._stored = length, {}, orders
        return run

    @classmethod
    def of(cls, layout: Layout, columns: Sequence[Ints | int], length: int) -> Run:
        return cls(layout, packed.distinct(layout.pack(columns, length)))

    def __len__(self) -> int:
        return self._length

    @property
    def rows(self) -> Ints:
        return self.in_order(self.natural)

    @property
    def nbytes(self) -> int:
        caches = (self._orders, self._starts, self._radix)
        return sum(made.nbytes for cache in caches for made in cache.copy().values())  # another thread may add to them

    def in_order(self, order: ColumnOrder) -> Ints:
        rows = self._orders.get(order)
        if rows is None:
            with self._lock:
                rows = self._orders.get(order)
                if rows is None:
                    rows = self._orders[order] = self._made(order)
        return rows

    def _made(self, order: ColumnOrder) -> Ints:
        stored = self._stored.get(order)
        if stored is not None:
            return stored()
        natural = self._orders.get(self.natural)
        if natural is None:
            natural = self._orders[self.natural] = self._stored[self.natural]()
        return packed.sort(self.layout.pack([self.layout.unpack(natural, c) for c in order], len(self)))

    def orders(self) -> set[ColumnOrder]:
        """The orders that are in memory or in storage."""
        return {*self._orders.copy(), *self._stored}

    def column(self, column: int) -> Ints:
        return self.layout.unpack(self.rows, column)

    def with_layout(self, layout: Layout) -> Run:
        """The same rows in another layout."""
        if layout == self.layout:
            return self
        return Run(layout, self.layout.repacked(self.rows, layout))

    def ranges(self, order: ColumnOrder, prefix: Sequence[Ints | int], length: int) -> tuple[Ints, Ints]:
        """For each of `length` prefixes (arrays or constants), the range [low, high) of rows that start with it."""
        rows = self.in_order(order)
        if not prefix:
            return np.zeros(length, dtype=np.int64), np.full(length, len(self), dtype=np.int64)
        is_narrow = self.layout.arity <= 2 and self.layout.bits == packed.WIDE
        if length < tuning.UNSORTED_LOOKUPS and is_narrow and len(self):
            return self._narrow_ranges(rows[0], prefix, length)
        absent = self._absent(prefix, length)
        starts = self._starts_for(order, prefix)
        if starts is not None:
            last = len(starts) - 1
            leading = np.minimum(prefix[0], last)
            return starts[leading].astype(np.int64), starts[np.minimum(leading + 1, last)].astype(np.int64)
        first = self.layout.pack(prefix, length)
        if len(prefix) == len(order):
            low, found = packed.find(rows, first)
            high = low + found
        else:
            low, high = packed.search(rows, first, self.layout.pack(prefix, length, self.layout.mask))
        if absent is not None:
            high = np.where(absent, low, high)
        return low, high

    def _narrow_ranges(self, rows: Ints, prefix: Sequence[Ints | int], length: int) -> tuple[Ints, Ints]:
        """`ranges` for few prefixes of at most two columns, with `pack` and `search` specialised for their layout."""
        first = prefix[0] if self.layout.arity == 1 else prefix[0] << packed.HALF
        if len(prefix) == 2:
            first = first | prefix[1]
        keys = np.full(length, first, dtype=np.int64) if isinstance(first, int) else first
        low = rows.searchsorted(keys)
        if len(prefix) == self.layout.arity:
            return low, low + (rows.take(low, mode="clip") == keys)
        return low, rows.searchsorted(keys | packed.LOW, "right")

    def _starts_for(self, order: ColumnOrder, prefix: Sequence[Ints | int]) -> npt.NDArray[np.int32] | None:
        """A direct index of the leading column, if there are many lookups by this column and the index is small."""
        (leading, *others) = prefix
        if others or isinstance(leading, int) or len(leading) < tuning.DIRECT_LOOKUPS:
            return None
        starts = self._starts.get(order)
        if starts is None:
            rows = self.in_order(order)
            if int(self.layout.unpack(rows[:, -1:], 0)[0]) >= 2 * len(self) + tuning.DIRECT_LOOKUPS:
                return None
            starts = self._starts[order] = packed.starts_of(rows, self.layout)
        return starts

    def _absent(self, prefix: Sequence[Ints | int], length: int) -> Mask | None:
        """Which prefixes have an id that is too large for this layout, and so no rows."""
        if self.layout.bits == packed.WIDE:
            return None
        absent = np.zeros(length, dtype=np.bool_)
        for value in prefix:
            absent |= value > self.layout.mask
        return absent if absent.any() else None

    def contains(self, columns: Sequence[Ints | int], length: int) -> Mask:
        """Which of the given rows are in this run."""
        found = packed.contains(self.rows, self.layout.pack(columns, length))
        absent = self._absent(columns, length)
        return found if absent is None else found & ~absent

    def contains_rows(self, rows: Ints) -> Mask:
        """Which of the given rows of one word are in this run."""
        mine = self.rows
        (keys,), (words,) = rows, mine
        radix = self._radix_for(self.natural, len(keys))
        if radix is None and (len(keys) >= tuning.UNSORTED_LOOKUPS or not len(self)):
            return packed.contains(mine, rows)
        at = words.searchsorted(keys) if radix is None else radix.search(keys)
        found: Mask = words.take(at, mode="clip") == keys
        return found

    def first(self, order: ColumnOrder, values: Ints) -> tuple[Ints, Ints]:
        """For a run of two columns: the positions of the values that lead rows, and the other column of the first row
        of each.
        """
        (words,) = self.in_order(order)
        keys, radix = values << packed.HALF, self._radix_for(order, len(values))
        found = words.take(words.searchsorted(keys) if radix is None else radix.search(keys), mode="clip")
        others = found ^ keys  # at most half a word if the value is the same
        which = (others <= packed.LOW).nonzero()[0]
        return which, others[which]

    def _radix_for(self, order: ColumnOrder, lookups: int) -> PrefixIndex | None:
        """An index of rows of one word, if there were enough lookups to pay for it."""
        if lookups < tuning.UNINDEXED_LOOKUPS or len(self) < tuning.INDEXED_ROWS:
            return None
        radix = self._radix.get(order)
        if radix is None:
            self._asked[order] = asked = self._asked.get(order, 0) + lookups
            if tuning.ROWS_PER_LOOKUP * asked >= len(self):
                radix = self._radix[order] = PrefixIndex(self.in_order(order)[0])
        return radix

    def values(self, column: int) -> int:
        """Estimated distinct values in the column (from collisions in a sample); never more than the number of rows."""
        known = self._values.get(column)
        if known is None:
            at = np.random.default_rng(0).integers(0, len(self), tuning.SAMPLED_ROWS)
            sample = packed.sort(self.layout.unpack(self.rows[:, at], column).reshape(1, -1))
            lengths = np.diff(np.flatnonzero(packed.first_of_equals(sample)), append=tuning.SAMPLED_ROWS)
            pairs = int((lengths * (lengths - 1)).sum())
            all_pairs = tuning.SAMPLED_ROWS * (tuning.SAMPLED_ROWS - 1)
            known = self._values[column] = min(len(self), all_pairs // max(1, pairs))
        return known

    def contains_run(self, other: Run) -> Mask:
        """Which rows of the other run are in this run."""
        if other.layout == self.layout:
            return packed.contains(self.rows, other.rows)
        return self.contains([other.column(c) for c in other.natural], len(other))

    def keep(self, mask: Mask) -> Run:
        """The rows where the mask is true."""
        return self if mask.all() else Run(self.layout, self.rows[:, mask])


def merge(runs: Sequence[Run]) -> Run:
    """One run of disjoint runs, with each order that all of them already have."""
    if len(runs) == 1:
        return runs[0]
    layout = max((r.layout for r in runs), key=lambda layout: layout.bits)
    same = [r.with_layout(layout) for r in runs]
    merged = Run(layout, packed.sort(np.concatenate([r.rows for r in same], axis=1)))
    shared = set.intersection(*(r.orders() for r in same)) - {merged.natural}
    for order in shared:
        merged._orders[order] = packed.sort(np.concatenate([r.in_order(order) for r in same], axis=1))
    return merged
