"""The texts of terms: Arrow chunks in id order, and a short Python list of the newest terms. And their hashes.

A chunk is merged with the chunk before it if that is not twice as large, up to `TERM_CHUNK_BYTES`. So appending
single terms copies each text a logarithmic number of times. `TermTexts` is immutable except for its list of newest
terms, which only grows; its readers need no lock.

The 64-bit hash of a text is the same for one term and for an array of terms, on each machine and in each run. It is the
multilinear sum of the text's 32-bit words with fixed odd 64-bit factors,

    h = n * F[-1] + w0 * F[0] + w1 * F[1] + ...   (mod 2**64)

then mixed. For a single term it is one Python sum, for an array a few numpy operations per word. Terms of more than
`LONG` bytes are rare and hashed one by one with BLAKE2. Different terms may have the same hash: callers compare texts.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import mul
from sys import getsizeof
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog import tuning
from tidelog.model.terms import Term

_SMALL_OFFSET_TEXTS = 1 << 16  # more texts than this may need 64-bit offsets

Ids = npt.NDArray[np.int32]


class Chunk:
    """Consecutive terms from id `start`, as one Arrow array and as plain buffers for fast reads of one term."""

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
    """A chunk in storage; `fetch` reads it when one of its terms is first used."""

    __slots__ = ("_fetch", "_length")

    def __init__(self, start: int, length: int, fetch: Callable[[], pa.Array]) -> None:
        self.start, self._length, self._fetch = start, length, fetch

    def __len__(self) -> int:
        return self._length

    def __getattr__(self, name: str) -> Any:
        """Called for `array`, `offsets` and `data` before the chunk was fetched."""
        if name not in Chunk.__slots__:
            raise AttributeError(name)
        Chunk.__init__(self, self.start, self._fetch())
        return getattr(self, name)


@dataclass(frozen=True, slots=True)
class TermTexts:
    chunks: tuple[Chunk, ...] = ()
    starts: tuple[int, ...] = ()
    recent: list[str] = field(default_factory=list)
    chunked: int = 0  # number of terms in chunks; the recent terms follow

    def __len__(self) -> int:
        return self.chunked + len(self.recent)

    def text(self, id_: int) -> str:
        if id_ >= self.chunked:
            return self.recent[id_ - self.chunked]
        chunk = self.chunks[bisect_right(self.starts, id_) - 1]
        return chunk.text(id_ - chunk.start)

    def flushed(self) -> TermTexts:
        """The same terms; the recent ones are now a chunk."""
        if not self.recent:
            return self
        return self._with_chunk(pa.array([t.encode() for t in self.recent], pa.binary()))

    def _with_chunk(self, array: pa.Array) -> TermTexts:
        start, chunks = self.chunked, list(self.chunks)
        total = start + len(array)
        while chunks and _should_merge(chunks[-1].array, array):
            last = chunks.pop()
            start, array = last.start, pa.concat_arrays([last.array, array])
        chunks.append(Chunk(start, array))
        return TermTexts(tuple(chunks), tuple(c.start for c in chunks), [], total)

    def append(self, term: Term) -> TermTexts:
        """With one more term: this object itself, or a new one if the recent terms became a chunk."""
        texts = self.flushed() if len(self.recent) >= tuning.RECENT_TERMS else self
        texts.recent.append(term)
        return texts

    def extend(self, array: pa.Array) -> TermTexts:
        """With the terms of an array at the end, in pieces that an Arrow array with 32-bit offsets can hold."""
        texts = self.flushed()
        for piece in _pieces(array):
            texts = texts._with_chunk(piece)
        return texts

    def take(self, ids: Ids) -> pa.Array:
        """The texts of ids, in their order, as a binary array (a large binary array for many ids)."""
        kind = pa.large_binary() if len(ids) > _SMALL_OFFSET_TEXTS else pa.binary()
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
        """For each chunk with some of the ids: (rows of `ids`, array of the chunk, positions in this array)."""
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
        """The recent terms as a list of one chunk, or of none."""
        recent = [t.encode() for t in self.recent]
        return [Chunk(self.chunked, pa.array(recent, pa.binary()))] if recent else []

    def arrays(self, start: int, stop: int) -> Iterator[tuple[int, pa.Array]]:
        """The terms from id `start` up to `stop`, in pieces: (first id, array)."""
        for chunk in (*self.chunks, *self._newest()):
            first, last = max(start, chunk.start), min(stop, chunk.start + len(chunk))
            if first < last:
                yield first, chunk.array.slice(first - chunk.start, last - first)

    @property
    def nbytes(self) -> int:
        chunks: int = sum(c.array.nbytes for c in self.chunks)
        return chunks + sum(map(getsizeof, self.recent))


def indices(positions: npt.NDArray[np.integer]) -> pa.Array:
    """Positions as an Arrow array. Unlike `pa.array` it does not import pandas, which takes 0.2 s."""
    kind = pa.int64() if positions.itemsize == 8 else pa.int32()
    return pa.Array.from_buffers(kind, len(positions), [None, pa.py_buffer(np.ascontiguousarray(positions))])


def _should_merge(before: pa.Array, after: pa.Array) -> bool:
    return len(before) < 2 * len(after) and bool(before.nbytes + after.nbytes <= tuning.TERM_CHUNK_BYTES)


def _pieces(array: pa.Array) -> list[pa.Array]:
    """An array of binary terms in pieces: compact `BinaryArray`s of at most about `TERM_CHUNK_BYTES`."""
    if not len(array):
        return []
    count = max(1, -(-array.nbytes // tuning.TERM_CHUNK_BYTES))
    size = -(-len(array) // count)
    return [pa.concat_arrays([array.slice(at, size)]).cast(pa.binary()) for at in range(0, len(array), size)]


Hashes = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

LONG = 512
_MASK = 2**64 - 1
_MIX = 0x9E3779B97F4A7C15


def _factors(count: int) -> list[int]:
    """Pseudo-random odd 64-bit numbers (SplitMix64 from a fixed seed)."""
    state, out = 0x7464656C6F67, []
    for _ in range(count):
        state = (state + _MIX) & _MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        out.append((z ^ (z >> 31)) | 1)
    return out


_FACTORS = _factors(LONG // 4 + 1)
_LENGTH_FACTOR = _FACTORS[-1]
_VECTOR = np.array(_FACTORS, dtype=np.uint64)
_WORDS = [struct.Struct(f"<{2 * count}I").unpack for count in range(LONG // 8 + 1)]
_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)  # the first n bytes of a word
_LOW, _HALF = np.uint64(2**32 - 1), np.uint64(32)


def hash_one(term: bytes) -> int:
    size = len(term)
    if size > LONG:
        return _hash_long(term)
    words = (size + 7) // 8
    total: int = sum(map(mul, _WORDS[words](term.ljust(8 * words, b"\0")), _FACTORS), size * _LENGTH_FACTOR) & _MASK
    return ((total ^ (total >> 32)) * _MIX) & _MASK


def _hash_long(term: bytes) -> int:
    return int.from_bytes(blake2b(term, digest_size=8).digest(), "little")


def hash_many(terms: pa.Array) -> Hashes:
    """The hashes of a binary array; `hash_one` of each element."""
    offsets, data = extents(terms)
    padded = np.zeros(len(data) + 8, dtype=np.uint8)
    padded[: len(data)] = data
    hashes = np.empty(len(terms), dtype=np.uint64)
    for start in range(0, len(terms), tuning.HASHED_TERMS):
        stop = min(start + tuning.HASHED_TERMS, len(terms))
        hashes[start:stop] = _hash_block(padded, offsets[start : stop + 1])
    for i in np.flatnonzero(np.diff(offsets) > LONG):
        hashes[i] = _hash_long(data[offsets[i] : offsets[i + 1]].tobytes())
    return hashes


def extents(terms: pa.Array) -> tuple[Positions, npt.NDArray[np.uint8]]:
    """A binary array as (offsets from 0, bytes)."""
    width = np.int64 if pa.types.is_large_binary(terms.type) else np.int32
    _, raw_offsets, raw_data = terms.buffers()
    if not len(terms) or raw_data is None:
        return np.zeros(len(terms) + 1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    offsets = np.frombuffer(raw_offsets, dtype=width)[terms.offset : terms.offset + len(terms) + 1].astype(np.int64)
    data = np.frombuffer(raw_data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return offsets - offsets[0], data


def _hash_block(padded: npt.NDArray[np.uint8], offsets: Positions) -> Hashes:
    words_at = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    sizes = np.minimum(np.diff(offsets), LONG)
    hashes = sizes.astype(np.uint64) * _VECTOR[-1]
    rows, at, left, total = np.arange(len(sizes)), offsets[:-1], sizes, hashes
    for word in range(0, LONG // 4, 2):
        words = words_at[at]
        words &= _KEEP[np.clip(left, 0, 8)]
        total += (words & _LOW) * _VECTOR[word]
        total += (words >> _HALF) * _VECTOR[word + 1]
        left, at = left - 8, np.minimum(at + 8, len(padded) - 8)
        longer = np.count_nonzero(left > 0)
        if 2 * longer < len(rows):  # go on with the longer terms only
            hashes[rows] = total
            rows, at, left, total = (a[left > 0] for a in (rows, at, left, total))
        if not longer:
            break
    mixed: Hashes = (hashes ^ (hashes >> _HALF)) * np.uint64(_MIX)
    return mixed


@dataclass(frozen=True, slots=True)
class Hashing:
    """The hash functions; only tests replace them, to get collisions."""

    one: Callable[[bytes], int] = hash_one
    many: Callable[[pa.Array], Hashes] = hash_many
