"""A 64-bit hash of term texts that is the same for one term and for a million, on any machine and in any run.

The text is cut into 32-bit words; the hash is their multilinear sum with fixed odd 64-bit factors,

    h = n * F[-1] + w0 * F[0] + w1 * F[1] + ...   (mod 2**64)

then mixed. One Python sum does it for a single term, a few numpy operations per word for an array. Terms beyond
`LONG` bytes are rare and hashed one by one with BLAKE2. Equal hashes never mean equal terms: callers compare the texts.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from operator import mul

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

LONG = 512
_MASK = 2**64 - 1
_MIX = 0x9E3779B97F4A7C15
_BLOCK = 16384  # terms hashed at a time: the temporaries stay in the processor's cache


def _factors(count: int) -> list[int]:
    """Odd 64-bit numbers without pattern (SplitMix64 from a fixed seed)."""
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
    for start in range(0, len(terms), _BLOCK):
        stop = min(start + _BLOCK, len(terms))
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
    """How terms are hashed; replaced only by tests that want collisions."""

    one: Callable[[bytes], int] = hash_one
    many: Callable[[pa.Array], Hashes] = hash_many
