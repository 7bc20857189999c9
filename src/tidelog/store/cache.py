"""Facts and dictionary in one file that is memory-mapped: opening costs nothing, looking costs what is looked at.

    "tidelog1" | bytes of the header | its checksum | the header (JSON) | arrays, each at a multiple of 64 bytes

The header lists each array with its place and checksum; an array is checked when it is first looked at. The file can be
made again from `runs/` and `dictionary/` at any time, so it is removed when it is found damaged.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import Chunk, StoredChunk
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.errors import CorruptionError, StoreError
from tidelog.kernel.rows import Ints, Layout
from tidelog.kernel.run import Order, Run, order_for
from tidelog.kernel.table import Table
from tidelog.store import durable_files
from tidelog.store.durable_files import Sink

FOLDER = "cache"
_MAGIC = b"tidelog1"
_START = struct.Struct("<8sQI")
_ALIGNED = 64

AnyArray = npt.NDArray[Any]


def write(root: Path, name: str, dictionary: Dictionary, E: LocalFacts, I: LocalFacts, terms: int) -> None:
    """Best effort: a knowledge base without a cache opens too, only more slowly.

    Nothing is written if the dictionary has other terms than the first `terms`, which are those on disk.
    """
    arrays: list[AnyArray] = []
    at = 0

    def place(array: AnyArray) -> list[int]:
        nonlocal at
        arrays.append(array)
        start, at = at, at + -(-array.nbytes // _ALIGNED) * _ALIGNED
        return [start, array.nbytes, crc32(np.ascontiguousarray(array).data.cast("B")) if array.nbytes else 0]

    header = json.dumps(
        {
            "name": name,
            "E": [_table(relation, table.flat, [], place) for relation, table in E.tables.items()],
            "I": [_table(r, t.flat, _useful_orders(t.arity), place) for r, t in I.tables.items()],
            "chunks": [_chunk(chunk, place) for chunk in dictionary.chunks()],
            "slots": place(dictionary.slots),
        }
    ).encode()
    if len(dictionary) != terms:
        return

    def fill(sink: Sink) -> None:
        sink.write(_START.pack(_MAGIC, len(header), crc32(header)))
        sink.write(header)
        for array in arrays:
            sink.write(bytes(-sink.size % _ALIGNED))
            sink.write(np.ascontiguousarray(array).data.cast("B") if array.nbytes else b"")
        sink.write(bytes(-sink.size % _ALIGNED))

    try:
        (root / FOLDER).mkdir(exist_ok=True)
        durable_files.write(root, f"{FOLDER}/{name}", fill)
    except (OSError, StoreError):
        return
    for other in (root / FOLDER).iterdir():
        if other.name != name:
            durable_files.remove(other)


def _useful_orders(arity: int) -> list[Order]:
    """Orders that answer "which rows have this in that column" for each column."""
    return [order_for(arity, frozenset((column,))) for column in range(1, min(arity, 4))]


def _table(relation: Relation, run: Run, orders: list[Order], place: Callable[[AnyArray], list[int]]) -> list[object]:
    placed = [[list(order), *place(run.in_order(order))] for order in (run.natural, *orders)]
    return [*relation, run.layout.arity, run.layout.bits, len(run), placed]


def _chunk(chunk: Chunk, place: Callable[[AnyArray], list[int]]) -> list[object]:
    offsets = np.frombuffer(chunk.offsets, dtype=np.int32)[: len(chunk) + 1]
    data = np.frombuffer(chunk.data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return [chunk.start, len(chunk), place(offsets - offsets[0]), place(data)]


def read(root: Path, name: str) -> tuple[Dictionary, LocalFacts, LocalFacts] | None:
    """The dictionary, the explicit facts and all facts; None when there is no such cache, or not a whole one."""
    path = root / FOLDER / name
    if not path.exists():
        return None
    mapped = _Mapped.open(path)
    if mapped is None:
        durable_files.remove(path)
        return None
    header = mapped.header
    chunks = [mapped.chunk(*entry) for entry in header["chunks"]]
    try:
        slots = mapped.array(header["slots"], np.uint64).copy()
    except CorruptionError:  # in time to be made again
        return None
    dictionary = Dictionary.stored(chunks, slots)
    E, I = ({(p, s): mapped.table(*more) for p, s, *more in header[key]} for key in ("E", "I"))
    return dictionary, LocalFacts(dictionary, E), LocalFacts(dictionary, I)


def check(root: Path, name: str) -> Iterator[str]:
    """What is wrong with the arrays of a cache."""
    path = root / FOLDER / name
    mapped = _Mapped.open(path) if path.exists() else None
    if mapped is None:
        return
    header = mapped.header
    places = [p for _, _, *ps in header["chunks"] for p in ps] + [header["slots"]]
    places += [p for key in ("E", "I") for table in header[key] for _, *p in table[-1]]
    for place in places:
        try:
            mapped.array(place, np.uint8)
        except CorruptionError as error:
            yield str(error)
            return


class _Mapped:
    """A cache file, and the arrays in it."""

    def __init__(self, path: Path, view: memoryview, header: Any, start: int) -> None:
        self.path, self.view, self.header, self.start = path, view, header, start

    @classmethod
    def open(cls, path: Path) -> _Mapped | None:
        try:
            view = durable_files.map_file(path)
        except StoreError:
            return None
        if len(view) < _START.size:
            return None
        magic, size, checksum = _START.unpack_from(view)
        header = view[_START.size : _START.size + size]
        if magic != _MAGIC or crc32(header) != checksum:
            return None
        start = -(-(_START.size + size) // _ALIGNED) * _ALIGNED
        mapped = cls(path, view, json.loads(bytes(header)), start)
        first, nbytes, _ = mapped.header["slots"]  # placed last
        if mapped.header.get("name") != path.name:
            return None
        return mapped if start + first + -(-nbytes // _ALIGNED) * _ALIGNED == len(view) else None

    def array(self, place: list[int], kind: Any) -> AnyArray:
        at, nbytes, checksum = place
        part = self.view[self.start + at : self.start + at + nbytes]
        if durable_files.checksum(part) != checksum:
            durable_files.remove(self.path)
            raise CorruptionError(f"{self.path} was damaged and has been removed: open the knowledge base again")
        return np.frombuffer(part, dtype=kind)

    def chunk(self, start: int, length: int, offsets: list[int], data: list[int]) -> StoredChunk:
        def fetch() -> pa.Array:
            buffers = [self.array(offsets, np.uint8), self.array(data, np.uint8)]
            return pa.Array.from_buffers(pa.binary(), length, [None, *map(pa.py_buffer, buffers)])

        return StoredChunk(start, length, fetch)

    def table(self, arity: int, bits: int, length: int, placed: list[list[Any]]) -> Table:
        layout = Layout(arity, bits)

        def fetch(place: list[int]) -> Callable[[], Ints]:
            return lambda: self.array(place, np.int64).reshape(layout.words, length)

        return Table((Run.stored(layout, length, {tuple(order): fetch(place) for order, *place in placed}),))
