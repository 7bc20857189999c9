"""An index of sorted words by their leading bits.

A binary search of many keys misses the cache at every step, one key after the other. Words that share their leading
bits are few and next to each other: with a list of where these stretches start, all keys go through the few steps that
are left together, and their misses overlap.

    starts[k]  =  how many words have leading bits below k
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidelog.kernel.rows import Ints, find

_SHORT = 64  # words that share their leading bits up to which they are searched here


class Radix:
    """Finds keys in sorted words that are not negative; takes two to four bytes for each word."""

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
        """Where each key is, or would be: how many words are less."""
        leading = keys >> self._shift
        start, stop = self._starts.take(leading, mode="clip"), self._starts.take(leading + 1, mode="clip")
        longest = int((stop - start).max(initial=0))
        if longest > _SHORT:
            return find(self._words.reshape(1, -1), keys.reshape(1, -1))[0]
        low: Ints = start.astype(np.int64)
        step = 1 << longest.bit_length() >> 1
        while step:  # words before `low` are less; is the last of so many more? Those behind its stretch are not
            less = self._words.take(low + (step - 1), mode="clip") < keys
            low += less * np.int64(step)
            step >>= 1
        return np.minimum(low, len(self._words))
