"""A batch of parsed rows before encoding: each distinct term once, and rows of positions in this list of terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog.model.terms import Term

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one relation. Row i of column c is the term `terms[codes[c][i]]`.

    `terms` is an Arrow binary array of distinct canonical term texts in UTF-8 (see `tidelog.model.terms`).
    """

    predicate: str
    terms: pa.Array
    codes: tuple[Codes, ...]

    def __len__(self) -> int:
        return len(self.codes[0]) if self.codes else 0

    def rows(self) -> list[tuple[Term, ...]]:
        """The rows as tuples of terms; for small batches and tests."""
        terms = [Term(t.decode()) for t in self.terms.to_pylist()]
        return list(zip(*([terms[c] for c in column] for column in self.codes), strict=True))


def batch_of_terms(predicate: str, rows: Iterable[Sequence[Term]], arity: int = 0) -> Batch:
    """A batch of rows of terms with the same arity (`arity` is used if there are no rows)."""
    numbers: dict[Term, int] = {}
    coded = [[numbers.setdefault(t, len(numbers)) for t in row] for row in rows]
    columns = np.array(coded, dtype=np.int32).T if coded else np.empty((arity, 0), dtype=np.int32)
    terms = pa.array([t.encode() for t in numbers], pa.binary())
    return Batch(predicate, terms, tuple(np.ascontiguousarray(c) for c in columns))


def compact_batch(predicate: str, terms: pa.Array, codes: Sequence[Codes]) -> Batch:
    """A batch without repeated terms and without terms that are in no row."""
    used = np.zeros(len(terms), dtype=np.bool_)
    for column in codes:
        used[column] = True
    encoded = terms.filter(pa.array(used)).dictionary_encode()
    numbers = np.zeros(len(terms), dtype=np.int32)
    numbers[used] = encoded.indices.to_numpy()
    return Batch(predicate, encoded.dictionary, tuple(numbers[c] for c in codes))


def first_bytes(terms: pa.Array) -> npt.NDArray[np.uint8]:
    """The first byte of each term: `<` an IRI, `_` a blank node, `"` a literal (any byte for an empty text)."""
    _, raw_offsets, raw = terms.buffers()
    if raw is None or not raw.size:
        return np.zeros(len(terms), dtype=np.uint8)
    offsets = np.frombuffer(raw_offsets, dtype=np.int32)[terms.offset : terms.offset + len(terms)]
    data = np.frombuffer(raw, dtype=np.uint8)
    return data[np.minimum(offsets, len(data) - 1)]
