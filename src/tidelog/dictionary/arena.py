"""Where the texts of terms live: Arrow chunks in id order, and a short Python list of the newest.

A chunk is merged with the one before it when that is not twice as large, up to `CHUNK` bytes: appending one term at
a time copies each text a logarithmic number of times, and never the whole. `Texts` is immutable except for its
list of newest terms, which only grows; readers that hold one need no lock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Any

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


class StoredChunk(Chunk):
    """A chunk that is kept elsewhere, and fetched when a term of it is first looked at."""

    __slots__ = ("_fetch", "_length")

    def __init__(self, start: int, length: int, fetch: Callable[[], pa.Array]) -> None:
        self.start, self._length, self._fetch = start, length, fetch

    def __len__(self) -> int:
        return self._length

    def __getattr__(self, name: str) -> Any:
        """Called for `array`, `offsets` and `data` as long as they are not there."""
        if name not in Chunk.__slots__:
            raise AttributeError(name)
        Chunk.__init__(self, self.start, self._fetch())
        return getattr(self, name)


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
            parts.append(array.cast(kind).take(indices(positions)))
            places.append(rows)
        if len(parts) <= 1:
            return parts[0] if parts else pa.array([], kind)
        order = np.empty(len(ids), dtype=np.int64)
        order[np.concatenate(places)] = np.arange(len(ids))
        return pa.concat_arrays(parts).take(indices(order))

    def spread(self, ids: Ids) -> list[tuple[npt.NDArray[np.int64], pa.Array, Ids]]:
        """Which rows of `ids` are in which chunk, and where: (rows, array, positions in it)."""
        chunks = [*self.chunks, *self._newest()]
        if len(chunks) == 1:
            return [(np.arange(len(ids)), chunks[0].array, ids)] if len(ids) else []
        owner = np.searchsorted(np.array([c.start for c in chunks]), ids, side="right") - 1
        spread = []
        for i, chunk in enumerate(chunks):
            rows = np.flatnonzero(owner == i)
            if len(rows):
                spread.append((rows, chunk.array, (ids[rows] - chunk.start).astype(np.int32)))
        return spread

    def _newest(self) -> list[Chunk]:
        """The recent terms as a chunk, if there are any."""
        recent = [t.encode() for t in self.recent]
        return [Chunk(self.chunked, pa.array(recent, pa.binary()))] if recent else []

    def arrays(self, start: int, stop: int) -> Iterator[tuple[int, pa.Array]]:
        """The terms from one id up to another, in pieces: (first id, array)."""
        for chunk in (*self.chunks, *self._newest()):
            first, last = max(start, chunk.start), min(stop, chunk.start + len(chunk))
            if first < last:
                yield first, chunk.array.slice(first - chunk.start, last - first)

    @property
    def nbytes(self) -> int:
        chunks: int = sum(c.array.nbytes for c in self.chunks)
        return chunks + sum(map(getsizeof, self.recent))


def indices(positions: npt.NDArray[np.integer]) -> pa.Array:
    """Positions as an Arrow array. `pa.array` would do, but it imports pandas where that is installed: 0.2 s."""
    kind = pa.int64() if positions.itemsize == 8 else pa.int32()
    return pa.Array.from_buffers(kind, len(positions), [None, pa.py_buffer(np.ascontiguousarray(positions))])


def _should_merge(before: pa.Array, after: pa.Array) -> bool:
    return len(before) < 2 * len(after) and bool(before.nbytes + after.nbytes <= CHUNK)


def _pieces(array: pa.Array) -> list[pa.Array]:
    """An array of binary terms cut so that each piece is a compact `BinaryArray` of at most about `CHUNK` bytes."""
    if not len(array):
        return []
    count = max(1, -(-array.nbytes // CHUNK))
    size = -(-len(array) // count)
    return [pa.concat_arrays([array.slice(at, size)]).cast(pa.binary()) for at in range(0, len(array), size)]
