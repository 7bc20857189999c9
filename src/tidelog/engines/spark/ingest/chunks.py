"""Chunks: parsed rows with their own small dictionary, in two parts.

    terms   the distinct terms in the order of their buckets, sent to the tasks that assign ids to these buckets
    codes   a file: the columns of each relation as positions of terms, which are replaced by ids later

The bucket of a term is some bits of its hash, so it is equal in all chunks. They are not the first bits, which choose
the slot in the table of the dictionary. The number of buckets is fixed, because ids depend on it, and they must not
depend on the number of tasks or machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog import tuning
from tidelog.dictionary.arena import hash_many, indices
from tidelog.dictionary.batch import Batch, Codes
from tidelog.kernel.array_file import AnyArray, read_packed, write_packed
from tidelog.kernel.rows import Ints

BUCKETS = 64
_SHIFT = np.uint64(26)


@dataclass(frozen=True, slots=True)
class FactChunk:
    """Distinct terms by bucket, and the relations with positions of terms."""

    terms: pa.Array
    starts: Ints  # the start of each bucket, and the end
    relations: dict[tuple[str, int], tuple[Codes, ...]]  # by (predicate, arity): the columns

    def write(self, directory: str) -> str:
        """Write the codes to a file."""
        words = [[predicate, arity] for predicate, arity in self.relations]
        columns = [column for columns in self.relations.values() for column in columns]
        return write_packed(directory, words, [self.starts, *columns])

    def rows(self) -> list[tuple[str, int, int]]:
        """Predicate, number of arguments, and number of rows of each relation."""
        return [(predicate, arity, len(columns[0])) for (predicate, arity), columns in self.relations.items()]

    def messages(self, low: int, high: int) -> Iterator[tuple[int, list[AnyArray]]]:
        """The terms of a range of buckets: (first bucket, arrays for `terms_of`)."""
        first = low
        for bucket in range(low, high):
            if bucket + 1 == high or self._bytes(first, bucket + 2) > tuning.TERM_MESSAGE_BYTES:
                yield first, self._arrays(first, bucket + 1)
                first = bucket + 1

    def _bytes(self, low: int, high: int) -> int:
        nbytes: int = self._slice(low, high).nbytes
        return nbytes

    def _slice(self, low: int, high: int) -> pa.Array:
        start, stop = int(self.starts[low]), int(self.starts[high])
        return self.terms.slice(start, stop - start)

    def _arrays(self, low: int, high: int) -> list[AnyArray]:
        return [np.diff(self.starts[low : high + 1]), *texts_as_arrays(self._slice(low, high))]


def terms_of(counts: AnyArray, offsets: AnyArray, data: AnyArray) -> Iterator[pa.Array]:
    """Yield the terms of each bucket."""
    terms = texts_of_arrays(offsets, data)
    for start, stop in pairwise([0, *np.cumsum(counts).tolist()]):
        yield terms.slice(start, stop - start)


def codes_of(path: str) -> tuple[Ints, dict[tuple[str, int], list[Codes]]]:
    """Read a file of `FactChunk.write`: the start of each bucket, and the columns of each relation."""
    words, (starts, *columns) = read_packed(path)
    left = iter(columns)
    return starts, {(predicate, arity): [next(left) for _ in range(arity)] for predicate, arity in words}


def chunks(batches: Iterable[Batch]) -> Iterator[FactChunk]:
    """Gather batches into chunks of moderate size."""
    gathered: list[Batch] = []
    rows = nbytes = 0
    for batch in batches:
        if not batch.codes:  # a table without columns
            continue
        gathered.append(batch)
        rows, nbytes = rows + len(batch), nbytes + batch.terms.nbytes
        if rows >= tuning.CHUNK_ROWS or nbytes >= tuning.CHUNK_TERM_BYTES:
            yield chunk(gathered)
            gathered, rows, nbytes = [], 0, 0
    if gathered:
        yield chunk(gathered)


def chunk(batches: list[Batch]) -> FactChunk:
    terms, numbers = _united([b.terms for b in batches])
    by_bucket, starts, places = _in_buckets(terms)
    relations: dict[tuple[str, int], list[list[Codes]]] = {}
    for batch, positions in zip(batches, numbers, strict=True):
        now = places if positions is None else places[positions]
        key = (batch.predicate, len(batch.codes))
        relations.setdefault(key, []).append([now[column] for column in batch.codes])
    joined = {key: tuple(map(np.concatenate, zip(*parts, strict=True))) for key, parts in relations.items()}
    return FactChunk(by_bucket, starts, joined)


def _united(parts: list[pa.Array]) -> tuple[pa.Array, list[Codes | None]]:
    """The distinct terms of some arrays of distinct terms, and for each array the positions of its terms."""
    if len(parts) == 1:
        return parts[0], [None]
    encoded = pa.concat_arrays(parts).dictionary_encode()
    positions = encoded.indices.to_numpy()
    ends = np.cumsum([len(p) for p in parts])
    return encoded.dictionary, np.split(positions, ends[:-1])


def _in_buckets(terms: pa.Array) -> tuple[pa.Array, Ints, npt.NDArray[np.int32]]:
    """The terms in the order of their buckets, the start of each bucket, and the new position of each term."""
    buckets = (hash_many(terms) >> _SHIFT).astype(np.uint8) % BUCKETS
    order = np.argsort(buckets, kind="stable")
    places = np.empty(len(terms), dtype=np.int32)
    places[order] = np.arange(len(terms), dtype=np.int32)
    starts = np.zeros(BUCKETS + 1, dtype=np.int64)
    np.cumsum(np.bincount(buckets, minlength=BUCKETS), out=starts[1:])
    return terms.take(indices(order)), starts, places


def texts_as_arrays(texts: pa.Array) -> list[AnyArray]:
    """A binary array as its offsets from 0 and its bytes."""
    _, raw_offsets, raw = texts.buffers()
    if not len(texts) or raw is None:
        return [np.zeros(len(texts) + 1, dtype=np.int32), np.empty(0, dtype=np.uint8)]
    offsets = np.frombuffer(raw_offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return [offsets - offsets[0], np.frombuffer(raw, dtype=np.uint8)[offsets[0] : offsets[-1]]]


def texts_of_arrays(offsets: AnyArray, data: AnyArray) -> pa.Array:
    """The binary array that `texts_as_arrays` took apart."""
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
