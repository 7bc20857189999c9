"""What kind of term an id stands for, a column at a time: a byte for each term, looked up once.

Conditions such as `ISLITERAL(?x)` are asked of whole columns, most of them IRIs that need not be decoded for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog.dictionary import Dictionary
from tidelog.kernel.rows import Ints, Mask

IRI, BLANK, STRING, TYPED = range(4)  # STRING: with or without a language; TYPED: any other literal
_UNKNOWN = 255
_QUOTE, _LESS, _GREATER = b'"<>'
_AT_ONCE = 65_536  # terms decoded at a time


class Kinds:
    """The kinds of the terms of one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._kinds = np.empty(0, dtype=np.uint8)

    def of(self, ids: Ints) -> npt.NDArray[np.uint8]:
        """The kind of each id."""
        known = self._kinds
        if len(known) < len(self.dictionary):
            known = np.full(len(self.dictionary) * 3 // 2, _UNKNOWN, dtype=np.uint8)
            known[: len(self._kinds)] = self._kinds
            self._kinds = known  # another thread may do the same; what it learnt is then learnt again
        kinds = known[ids]
        if (kinds == _UNKNOWN).any():
            self._learn(known, np.unique(ids[kinds == _UNKNOWN]))
            kinds = known[ids]
        return kinds

    def are_literals(self, ids: Ints) -> Mask:
        literals: Mask = self.of(ids) >= STRING
        return literals

    def are_typed(self, ids: Ints) -> Mask:
        typed: Mask = self.of(ids) == TYPED
        return typed

    def _learn(self, known: npt.NDArray[np.uint8], ids: Ints) -> None:
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            known[some] = self._look(some)

    def _look(self, ids: Ints) -> npt.NDArray[np.uint8]:
        """By the first and the last character of each text."""
        array = self.dictionary.decode_array(ids)
        _, offsets, data = array.buffers()
        width = np.int64 if pa.types.is_large_binary(array.type) else np.int32
        ends = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1]
        texts = np.frombuffer(data, dtype=np.uint8)
        first, last = texts[ends[:-1]], texts[ends[1:] - 1]
        literal = np.where(last == _GREATER, TYPED, STRING)
        return np.where(first == _QUOTE, literal, np.where(first == _LESS, IRI, BLANK)).astype(np.uint8)
