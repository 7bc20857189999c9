"""The one container for arrays, in a file that is memory-mapped or in a message.

    "tidelog1" | bytes of the header | its checksum | the header (JSON) | arrays, each at a multiple of 64 bytes

The header belongs to the caller and names each array by its place: `[start, bytes]`, or `[start, bytes, checksum]`
where the array is checked when it is read.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tidelog import tuning
from tidelog.errors import CorruptionError
from tidelog.kernel.rows import Ints, Layout
from tidelog.kernel.run import ColumnOrder, Run

_MAGIC = b"tidelog1"
_START = struct.Struct("<8sQI")
_ALIGNED = 64

AnyArray = npt.NDArray[Any]
Place = list[int]


class ArrayWriter:
    """Collects arrays and gives each a place. `checked`: places include checksums."""

    def __init__(self, checked: bool = False) -> None:
        self._checked = checked
        self._arrays: list[AnyArray] = []
        self._size = 0

    def add(self, array: AnyArray) -> Place:
        """The place of the array, for the header."""
        self._arrays.append(array)
        place = [self._size, array.nbytes]
        self._size += array.nbytes + -array.nbytes % _ALIGNED
        return [*place, crc32(_bytes(array))] if self._checked else place

    def add_run(self, run: Run, orders: Iterable[ColumnOrder]) -> list[object]:
        """The sorted rows of a run in some orders, as `ArrayReader.run` reads them."""
        placed = [[list(order), *self.add(run.in_order(order))] for order in orders]
        return [run.layout.arity, run.layout.bits, len(run), placed]

    def buffers(self, header: object) -> Iterator[bytes | memoryview]:
        """The bytes of the container, buffer by buffer."""
        encoded = json.dumps(header, separators=(",", ":")).encode()
        yield (
            _START.pack(_MAGIC, len(encoded), crc32(encoded))
            + encoded
            + bytes(-(_START.size + len(encoded)) % _ALIGNED)
        )
        for array in self._arrays:
            yield _bytes(array)
            yield bytes(-array.nbytes % _ALIGNED)

    def write(self, path: Path, header: object) -> None:
        """Write a new file."""
        with path.open("xb") as file:
            file.writelines(self.buffers(header))


def _bytes(array: AnyArray) -> bytes | memoryview:
    return np.ascontiguousarray(array).data.cast("B") if array.nbytes else b""


class ArrayReader:
    """Reads a container. The arrays are views of `block`. Raises CorruptionError if the header is damaged."""

    def __init__(self, block: bytes | memoryview | mmap.mmap) -> None:
        self._block: memoryview = memoryview(block)
        if len(self._block) < _START.size:
            raise CorruptionError("a container of arrays is too short")
        magic, size, checksum = _START.unpack_from(self._block)
        encoded = self._block[_START.size : _START.size + size]
        if magic != _MAGIC or crc32(encoded) != checksum:
            raise CorruptionError("the header of a container of arrays is damaged")
        self._start: int = _START.size + size + -(_START.size + size) % _ALIGNED
        self.header: Any = json.loads(bytes(encoded))

    def ends_with(self, place: Place) -> bool:
        """Whether the block ends where the array at this place does."""
        start, nbytes, *_ = place
        return self._start + start + nbytes + -nbytes % _ALIGNED == len(self._block)

    def array(self, place: Place, dtype: npt.DTypeLike) -> AnyArray:
        """The array at a place. Raises CorruptionError if the place has a checksum, and another one than the array."""
        start, nbytes, *checksum = place
        kind = np.dtype(dtype)
        if checksum and self._checksum(start, nbytes) != checksum[0]:
            raise CorruptionError("an array is damaged: its checksum is wrong")
        return np.frombuffer(self._block, kind, nbytes // kind.itemsize, self._start + start)

    def _checksum(self, start: int, nbytes: int) -> int:
        value, part = 0, self._block[self._start + start : self._start + start + nbytes]
        for at in range(0, len(part), tuning.CHECKSUM_BYTES):
            value = crc32(part[at : at + tuning.CHECKSUM_BYTES], value)
        return value

    def run(self, arity: int, bits: int, length: int, placed: Sequence[Sequence[Any]]) -> Run:
        """What `ArrayWriter.add_run` has added; an order is read when it is first used."""
        layout = Layout(arity, bits)
        orders: dict[ColumnOrder, Callable[[], Ints]] = {
            tuple(order): partial(self.rows, layout, length, place) for order, *place in placed
        }
        return Run.stored(layout, length, orders)

    def rows(self, layout: Layout, length: int, place: Place) -> Ints:
        """Packed rows."""
        return self.array(place, np.int64).reshape(layout.words, length)


def map_arrays(path: Path | str) -> ArrayReader:
    """A file of arrays, mapped. The mapping lives as long as an array of it does."""
    with open(path, "rb") as file:
        return ArrayReader(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def pack(header: object, arrays: Sequence[AnyArray] = ()) -> bytes:
    """A header and arrays of any type as the bytes of one container; see `unpack`."""
    writer, whole = _packed(header, arrays)
    return b"".join(writer.buffers(whole))


def write_packed(directory: Path | str, header: object, arrays: Sequence[AnyArray]) -> str:
    """`pack` to a new file. Returns its path, which no other attempt of a task uses."""
    path = Path(directory) / uuid4().hex
    writer, whole = _packed(header, arrays)
    writer.write(path, whole)
    return str(path)


def _packed(header: object, arrays: Sequence[AnyArray]) -> tuple[ArrayWriter, object]:
    writer = ArrayWriter()
    return writer, [header, [[array.dtype.str, writer.add(array)] for array in arrays]]


def unpack(block: bytes | memoryview) -> tuple[Any, list[AnyArray]]:
    """The header and the arrays that were packed. An unaligned block is copied first."""
    data = np.frombuffer(block, dtype=np.uint8)
    return _unpacked(ArrayReader(data.copy().data if data.ctypes.data % 8 else data.data))


def read_packed(path: str) -> tuple[Any, list[AnyArray]]:
    """What `write_packed` has written, mapped."""
    return _unpacked(map_arrays(path))


def _unpacked(reader: ArrayReader) -> tuple[Any, list[AnyArray]]:
    header, entries = reader.header
    return header, [reader.array(place, dtype) for dtype, place in entries]
