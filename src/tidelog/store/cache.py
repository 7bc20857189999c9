"""Facts and dictionary in one memory-mapped file. Opening it is instant; only the parts that are used are read.

The file is a container of `tidelog.kernel.array_file` with a checksum for each array: an array is checked when it is
first read. The file can be made again from `runs/` and `dictionary/` at any time, so a damaged one is removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import Chunk, StoredChunk
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.errors import CorruptionError, StoreError
from tidelog.kernel.array_file import AnyArray, ArrayReader, ArrayWriter, Place
from tidelog.kernel.run import ColumnOrder, Run, order_for
from tidelog.kernel.table import Table
from tidelog.store import durable_files
from tidelog.store.durable_files import Sink

FOLDER = "cache"


def write(root: Path, name: str, dictionary: Dictionary, E: LocalFacts, I: LocalFacts, terms: int) -> None:
    """Write the cache. Errors are ignored: without a cache a knowledge base only opens more slowly.

    Nothing is written if the dictionary has other terms than the first `terms`, which are those on disk.
    """
    arrays = ArrayWriter(checked=True)
    header = {
        "name": name,
        "E": [_table(relation, table.flat, [], arrays) for relation, table in E.tables.items()],
        "I": [_table(r, t.flat, _useful_orders(t.arity), arrays) for r, t in I.tables.items()],
        "chunks": [_chunk(chunk, arrays) for chunk in dictionary.chunks()],
        "slots": arrays.add(dictionary.slots),
    }
    if len(dictionary) != terms:
        return

    def fill(sink: Sink) -> None:
        for buffer in arrays.buffers(header):
            sink.write(buffer)
        if len(dictionary) != terms:  # another thread has just added terms, maybe to the slots that were written
            raise StoreError("the dictionary has changed")

    try:
        (root / FOLDER).mkdir(exist_ok=True)
        durable_files.write(root, f"{FOLDER}/{name}", fill)
    except (OSError, StoreError):
        return
    for other in (root / FOLDER).iterdir():
        if other.name != name:
            durable_files.remove(other)


def _useful_orders(arity: int) -> list[ColumnOrder]:
    """Sort orders that find the rows with a given value in one column, for each column."""
    return [order_for(arity, frozenset((column,))) for column in range(1, min(arity, 4))]


def _table(relation: Relation, run: Run, orders: list[ColumnOrder], arrays: ArrayWriter) -> list[object]:
    return [*relation, *arrays.add_run(run, (run.natural, *orders))]


def _chunk(chunk: Chunk, arrays: ArrayWriter) -> list[object]:
    offsets = np.frombuffer(chunk.offsets, dtype=np.int32)[: len(chunk) + 1]
    data = np.frombuffer(chunk.data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return [chunk.start, len(chunk), arrays.add(offsets - offsets[0]), arrays.add(data)]


def read(root: Path, name: str) -> tuple[Dictionary, LocalFacts, LocalFacts] | None:
    """The dictionary, the explicit facts and all facts; None if there is no complete cache of this name."""
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
    except CorruptionError:  # found early enough to rebuild the cache
        return None
    dictionary = Dictionary.stored(chunks, slots)
    E, I = ({(p, s): Table((mapped.run(*more),)) for p, s, *more in header[key]} for key in ("E", "I"))
    return dictionary, LocalFacts(dictionary, E), LocalFacts(dictionary, I)


def check(root: Path, name: str) -> Iterator[str]:
    """Yield the damage found in the arrays of a cache."""
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


class _Mapped(ArrayReader):
    """A cache file. It is removed when an array is found damaged."""

    def __init__(self, path: Path, view: memoryview) -> None:
        super().__init__(view)
        self.path = path

    @classmethod
    def open(cls, path: Path) -> _Mapped | None:
        """The file, or None if it is damaged or is not the cache that its name says."""
        try:
            mapped = cls(path, durable_files.map_file(path))
        except StoreError:
            return None
        if mapped.header.get("name") != path.name:
            return None
        return mapped if mapped.ends_with(mapped.header["slots"]) else None  # `slots` is the last array

    def array(self, place: Place, dtype: npt.DTypeLike) -> AnyArray:
        try:
            return super().array(place, dtype)
        except CorruptionError:
            durable_files.remove(self.path)
            message = f"{self.path} was damaged and has been removed: open the knowledge base again"
            raise CorruptionError(message) from None

    def chunk(self, start: int, length: int, offsets: Place, data: Place) -> StoredChunk:
        def fetch() -> pa.Array:
            buffers = [self.array(offsets, np.uint8), self.array(data, np.uint8)]
            return pa.Array.from_buffers(pa.binary(), length, [None, *map(pa.py_buffer, buffers)])

        return StoredChunk(start, length, fetch)
