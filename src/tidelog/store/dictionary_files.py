"""The dictionary as Parquet files of (id, term). The ids of a file continue those of the file before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from tidelog.dictionary import Dictionary
from tidelog.errors import CorruptionError
from tidelog.model.terms import Term
from tidelog.store import durable_files
from tidelog.store.durable_files import ADVICE, Sink
from tidelog.store.records import Segment

FOLDER = "dictionary"
_FEW = 1000  # up to this number, terms are added one by one
_SCHEMA = pa.schema([pa.field("id", pa.int32(), False), pa.field("term", pa.binary(), False)])


def write(root: Path, name: str, dictionary: Dictionary, start: int, stop: int) -> Segment:
    """Write the terms with ids from `start` to `stop` - 1."""
    return write_arrays(root, name, start, stop, (array for _, array in dictionary.arrays(start, stop)))


def write_arrays(root: Path, name: str, start: int, stop: int, arrays: Iterable[pa.Array]) -> Segment:
    """Write terms that have consecutive ids from `start` on."""

    def fill(sink: Sink) -> None:
        first = start
        with parquet.ParquetWriter(
            pa.PythonFile(sink, "w"), _SCHEMA, compression="zstd", use_dictionary=False
        ) as writer:
            for array in arrays:
                ids = pa.array(np.arange(first, first + len(array), dtype=np.int32))
                writer.write_table(pa.Table.from_arrays([ids, array], schema=_SCHEMA))
                first += len(array)
        assert first == stop

    return Segment(start, stop, durable_files.write(root, f"{FOLDER}/{name}.parquet", fill))


def read(root: Path, segment: Segment, dictionary: Dictionary) -> None:
    """Add the terms of a segment to a dictionary that ends where the segment starts."""
    view = durable_files.mapped(root, segment.file)
    try:
        terms = parquet.ParquetFile(pa.BufferReader(pa.py_buffer(view))).read(["term"]).column("term")
    except (pa.ArrowException, OSError) as error:
        raise CorruptionError(f"{root / segment.file.name} cannot be read: {error}{ADVICE}") from error
    for chunk in terms.chunks:
        dictionary.encode_many(chunk)
    if len(dictionary) != segment.stop:
        raise CorruptionError(f"{root / segment.file.name} does not hold the terms the catalog says{ADVICE}")


def add(dictionary: Dictionary, start: int, texts: Sequence[str]) -> None:
    """Add the terms of a commit. The dictionary must end at `start`, or contain these terms already."""
    if start + len(texts) <= len(dictionary):
        return
    if len(dictionary) != start:
        raise CorruptionError(f"the terms of the catalog start at {start}, not {len(dictionary)}{ADVICE}")
    if len(texts) > _FEW:
        dictionary.encode_many(pa.array([t.encode() for t in texts], pa.binary()))
    else:
        for text in texts:
            dictionary.encode(Term(text))


def texts(dictionary: Dictionary, start: int, stop: int) -> tuple[str, ...]:
    """The terms with ids from `start` to `stop` - 1."""
    return tuple(map(dictionary.decode, range(start, stop)))
