"""Arrays and a few words about them as bytes: in a parcel, or in a file that is mapped.

header length (8 bytes), header (JSON: the words, and type, length and place of each array), the arrays, aligned
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]
_ALIGNED = 8


def pack(words: object, arrays: Sequence[Array] = ()) -> bytes:
    return b"".join(_parts(words, arrays))


def _parts(words: object, arrays: Sequence[Array]) -> list[bytes | memoryview]:
    entries, blocks, at = [], [], 0
    for array in arrays:
        entries.append((array.dtype.str, len(array), at))
        padding = -array.nbytes % _ALIGNED
        blocks += [np.ascontiguousarray(array).data.cast("B") if len(array) else b"", bytes(padding)]
        at += array.nbytes + padding
    header = json.dumps([words, entries], separators=(",", ":")).encode()
    header += b" " * (-len(header) % _ALIGNED)
    return [len(header).to_bytes(8, "little"), header, *blocks]


def unpack(block: bytes | memoryview | mmap.mmap) -> tuple[Any, list[Array]]:
    """What was packed; the arrays are views of the block where it is aligned."""
    view = memoryview(block)
    size = int.from_bytes(view[:8], "little")
    words, entries = json.loads(bytes(view[8 : 8 + size]))
    data = np.frombuffer(view, dtype=np.uint8, offset=8 + size)
    if data.ctypes.data % _ALIGNED:
        data = data.copy()
    return words, [np.frombuffer(data, dtype, length, at) for dtype, length, at in entries]


def write(directory: str, words: object, arrays: Sequence[Array]) -> str:
    """A new file with a name that no other attempt has."""
    path = Path(directory) / uuid4().hex
    with path.open("xb") as file:
        file.writelines(_parts(words, arrays))
    return str(path)


def read(path: str) -> tuple[Any, list[Array]]:
    with open(path, "rb") as file:
        return unpack(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def texts_as_arrays(texts: pa.Array) -> list[Array]:
    """A binary array as its offsets from 0 and its bytes."""
    _, raw_offsets, raw = texts.buffers()
    if not len(texts) or raw is None:
        return [np.zeros(len(texts) + 1, dtype=np.int32), np.empty(0, dtype=np.uint8)]
    offsets = np.frombuffer(raw_offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return [offsets - offsets[0], np.frombuffer(raw, dtype=np.uint8)[offsets[0] : offsets[-1]]]


def texts_of_arrays(offsets: Array, data: Array) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
