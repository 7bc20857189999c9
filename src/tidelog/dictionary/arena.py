"""Where the texts of terms live: Arrow chunks in id order, and a short Python list of the newest.

A chunk is merged with the one before it when that is not twice as large, up to `CHUNK` bytes: appending one term at
a time copies each text a logarithmic number of times, and never the whole. `Texts` is immutable except for its
list of newest terms, which only grows; readers that hold one need no lock.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from sys import getsizeof

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog.model.terms import Term

CHUNK = 1 << 26
_MANY = 1 << 16  # texts beyond this number may need 64-bit offsets
_RECENT = 1024  # single terms kept as Python strings before they become a chunk

Ids = npt.NDArray[np.int32]


class Chunk:
    """Consecutive terms from id `start`, as one Arrow array and as plain buffers for reading one of them quickly."""

    __slots__ = ("array", "data", "offsets", "start")

    def __init__(self, start: int, array: pa.Array) -> None:
        self.start, self.array = start, array
        _, offsets, data = array.buffers()
        self.offsets = memoryview(offsets).cast("i")[array.offset :]
        self.data = memoryview(data or b"")

    def __len__(self) -> int:
        return len(self.array)

    def text(self, position: int) -> str:
        return str(self.data[self.offsets[position] : self.offsets[position + 1]], "utf-8")


@dataclass(frozen=True, slots=True)
class Texts:
    chunks: tuple[Chunk, ...] = ()
    starts: tuple[int, ...] = ()
    recent: list[str] = field(default_factory=list)
    chunked: int = 0  # how many terms the chunks hold; the recent ones follow

    def __len__(self) -> int:
        return self.chunked + len(self.recent)

    def text(self, id_: int) -> str:
        if id_ >= self.chunked:
            return self.recent[id_ - self.chunked]
        chunk = self.chunks[bisect_right(self.starts, id_) - 1]
        return chunk.text(id_ - chunk.start)

    def settled(self) -> Texts:
        """The same terms without recent ones: they have become a chunk."""
        if not self.recent:
            return self
        return self._with_chunk(pa.array([t.encode() for t in self.recent], pa.binary()))

    def _with_chunk(self, array: pa.Array) -> Texts:
        start, chunks = self.chunked, list(self.chunks)
        total = start + len(array)
        while chunks and _should_merge(chunks[-1].array, array):
            last = chunks.pop()
            start, array = last.start, pa.concat_arrays([last.array, array])
        chunks.append(Chunk(start, array))
        return Texts(tuple(chunks), tuple(c.start for c in chunks), [], total)

    def append(self, term: Term) -> Texts:
        """With one more term: this very object, or a new one when the recent terms became a chunk."""
        texts = self.settled() if len(self.recent) >= _RECENT else self
        texts.recent.append(term)
        return texts

    def extend(self, array: pa.Array) -> Texts:
        """With the terms of an array after all others, in pieces an Arrow array of 32-bit offsets can hold."""
        texts = self.settled()
        for piece in _pieces(array):
            texts = texts._with_chunk(piece)
        return texts

    def take(self, ids: Ids) -> pa.Array:
        """The texts of many ids, in their order, as a binary array; a large one when there are many."""
        kind = pa.large_binary() if len(ids) > _MANY else pa.binary()
        parts: list[pa.Array] = []
        places: list[npt.NDArray[np.int64]] = []
        for rows, array, positions in self.spread(ids):
            parts.append(array.cast(kind).take(pa.array(positions)))
            places.append(rows)
        if len(parts) <= 1:
            return parts[0] if parts else pa.array([], kind)
        order = np.empty(len(ids), dtype=np.int64)
        order[np.concatenate(places)] = np.arange(len(ids))
        return pa.concat_arrays(parts).take(pa.array(order))

    def spread(self, ids: Ids) -> list[tuple[npt.NDArray[np.int64], pa.Array, Ids]]:
        """Which rows of `ids` are in which chunk, and where: (rows, array, positions in it)."""
        arrays = [(c.start, c.array) for c in self.chunks]
        if self.recent:
            arrays.append((self.chunked, pa.array([t.encode() for t in self.recent], pa.binary())))
        if len(arrays) == 1:
            return [(np.arange(len(ids)), arrays[0][1], ids)] if len(ids) else []
        owner = np.searchsorted(np.array([start for start, _ in arrays]), ids, side="right") - 1
        spread = []
        for i, (start, array) in enumerate(arrays):
            rows = np.flatnonzero(owner == i)
            if len(rows):
                spread.append((rows, array, (ids[rows] - start).astype(np.int32)))
        return spread

    @property
    def nbytes(self) -> int:
        chunks: int = sum(c.array.nbytes for c in self.chunks)
        return chunks + sum(map(getsizeof, self.recent))


def _should_merge(before: pa.Array, after: pa.Array) -> bool:
    return len(before) < 2 * len(after) and bool(before.nbytes + after.nbytes <= CHUNK)


def _pieces(array: pa.Array) -> list[pa.Array]:
    """An array of binary terms cut so that each piece is a compact `BinaryArray` of at most about `CHUNK` bytes."""
    if not len(array):
        return []
    count = max(1, -(-array.nbytes // CHUNK))
    size = -(-len(array) // count)
    return [pa.concat_arrays([array.slice(at, size)]).cast(pa.binary()) for at in range(0, len(array), size)]
