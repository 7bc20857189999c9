"""Mixed rows: the rows of several narrow relations as one sorted array, for sets of facts that are small.

    code = number of the relation << 2 * bits | column 0 << bits | column 1        one column alone is column 1

A set operation on tables costs some microseconds for every relation that takes part, however few rows it has; on codes
it costs them once. Relations of more than two columns have no codes, and there are none when ids have many bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.kernel.rows import Ints, Mask

WIDTH = 2  # columns at most
_BITS = (21, 24, 27)  # of an id: a step at a time, so that codes rarely have to be made again
_HALF = 32  # where the first of two columns is in a packed row


def bits_for(ids: int, relations: int) -> int | None:
    """How many bits an id takes in a code; None where relations, or ids, are too many for codes."""
    return next((b for b in _BITS if ids <= 1 << b and relations <= 1 << (63 - 2 * b)), None)


class Mixed:
    """An immutable set of rows of numbered relations."""

    __slots__ = ("_first", "_relations", "_second", "_segments", "_stacked", "bits", "codes")

    def __init__(self, bits: int, codes: Ints) -> None:
        """`codes` are sorted and distinct."""
        self.bits = bits
        self.codes = codes
        self._relations: Ints | None = None
        self._first: Ints | None = None
        self._second: Ints | None = None
        self._stacked: Ints | None = None
        self._segments: dict[int, tuple[int, int]] | None = None

    @classmethod
    def of(cls, bits: int, codes: Ints) -> Mixed:
        """Codes in any order, repeated or not, of an array that nobody else uses: it is sorted where it is. The stable
        sort merges stretches that are in order already.
        """
        codes.sort(kind="stable")
        again = codes[1:] == codes[:-1]
        if np.count_nonzero(again):
            codes = np.concatenate((codes[:1], codes[1:][~again]))
        return cls(bits, codes)

    @classmethod
    def of_rows(cls, bits: int, relations: Sequence[int], rows: Sequence[Ints]) -> Mixed:
        """Packed rows of some relations: arrays of one word for each row."""
        lengths = [len(r) for r in rows]
        together = np.concatenate(rows)
        numbers = np.repeat(np.array(relations, dtype=np.int64), lengths)
        return cls.of(bits, encode(bits, numbers, together >> _HALF, together & ((1 << _HALF) - 1)))

    def __len__(self) -> int:
        return len(self.codes)

    def with_bits(self, bits: int) -> Mixed:
        """The same rows coded with more bits."""
        if bits == self.bits:
            return self
        return Mixed(bits, encode(bits, self.relations, self.first, self.second))

    @property
    def relations(self) -> Ints:
        if self._relations is None:
            self._relations = self.codes >> 2 * self.bits
        return self._relations

    @property
    def first(self) -> Ints:
        if self._first is None:
            self._first = self.codes >> self.bits & ((1 << self.bits) - 1)
        return self._first

    @property
    def second(self) -> Ints:
        if self._second is None:
            self._second = self.codes & ((1 << self.bits) - 1)
        return self._second

    @property
    def stacked(self) -> Ints:
        """Nothing, the first column and the second, one behind the other: column c of row i is at c * length + i."""
        if self._stacked is None:
            self._stacked = np.concatenate((np.zeros(len(self.codes), dtype=np.int64), self.first, self.second))
        return self._stacked

    def packed(self) -> Ints:
        """The rows as tables pack them, relation after relation."""
        return self.first << _HALF | self.second

    @property
    def segments(self) -> dict[int, tuple[int, int]]:
        """Where the rows of each relation start and stop."""
        if self._segments is None:
            self._segments = {number: (start, stop) for number, start, stop in cuts(self.relations)}
        return self._segments

    def rows_of(self, relation: int) -> Ints:
        """The rows of one relation as tables pack them."""
        segment = self.segments.get(relation)
        if segment is None:
            return _NOTHING
        codes = self.codes[slice(*segment)]
        mask = (1 << self.bits) - 1
        return (codes >> self.bits & mask) << _HALF | codes & mask

    def keep(self, mask: Mask) -> Mixed:
        return self if np.count_nonzero(mask) == len(mask) else Mixed(self.bits, self.codes[mask])

    def holds(self, other: Mixed) -> Mask:
        """Which rows of the other set are here."""
        if not len(self.codes):
            return np.zeros(len(other.codes), dtype=np.bool_)
        mine, theirs = _alike(self, other)
        at = mine.codes.searchsorted(theirs.codes)
        found: Mask = mine.codes.take(at, mode="clip") == theirs.codes
        return found

    def plus(self, other: Mixed) -> Mixed:
        if not len(other.codes) or not len(self.codes):
            return other if len(other.codes) else self
        mine, theirs = _alike(self, other)
        return Mixed.of(mine.bits, np.concatenate((mine.codes, theirs.codes)))

    def minus(self, other: Mixed) -> Mixed:
        if not len(other.codes) or not len(self.codes):
            return self
        if len(self.codes) < len(other.codes):
            return self.keep(~other.holds(self))
        mine, theirs = _alike(self, other)
        at = mine.codes.searchsorted(theirs.codes)
        gone = at[mine.codes.take(at, mode="clip") == theirs.codes]
        if not len(gone):
            return self
        kept = np.ones(len(mine.codes), dtype=np.bool_)
        kept[gone] = False
        return Mixed(mine.bits, mine.codes[kept])

    def common(self, other: Mixed) -> Mixed:
        if len(other.codes) < len(self.codes):
            return other.common(self)
        return self.keep(other.holds(self)) if len(self.codes) else self


_NOTHING: Ints = np.empty(0, dtype=np.int64)
NONE = Mixed(_BITS[0], _NOTHING)


def encode(bits: int, relations: Ints | int, first: Ints, second: Ints) -> Ints:
    return relations << 2 * bits | first << bits | second


def cuts(numbers: Ints) -> list[tuple[int, int, int]]:
    """(number, start, stop) of each stretch of equal numbers."""
    if not len(numbers):
        return []
    last = (numbers[1:] != numbers[:-1]).nonzero()[0]
    stops = [*(last + 1).tolist(), len(numbers)]
    return list(zip([*numbers[last].tolist(), int(numbers[-1])], [0, *stops[:-1]], stops, strict=True))


def _alike(one: Mixed, other: Mixed) -> tuple[Mixed, Mixed]:
    bits = max(one.bits, other.bits)
    return one.with_bits(bits), other.with_bits(bits)
