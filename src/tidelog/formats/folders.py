"""Directories of data: the parts of one file (`edges.parquet/part-0.parquet`), a Delta table, or several relations.

Names that begin with a dot or an underscore are not data, as Spark has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from tidelog.dictionary.batch import Batch
from tidelog.errors import InputError
from tidelog.formats.delta_tables import DeltaReading, is_delta, relation_of
from tidelog.formats.files import format_of, is_rdf, read


def read_folder(path: Path, predicate: str | None = None) -> list[Iterable[Batch]]:
    """All that is in a directory, each file on its own; relations are called like their files."""
    if is_delta(path):
        return [DeltaReading(path, predicate or relation_of(path))]
    name = format_of(path)
    if name is None:
        found = [each for inside in _data(path) for each in _inside(inside, predicate)]
        if not found:
            raise InputError(f"{path}: there are no data files in this directory")
        return found
    whole = read(path, predicate=predicate or _relation(path))
    parts = list(_data(path))
    return [replace(whole, path=part, scope=parts[0]) for part in parts]


def _inside(path: Path, predicate: str | None) -> list[Iterable[Batch]]:
    return read_folder(path, predicate) if path.is_dir() else [read(path, predicate=predicate or _relation(path))]


def _relation(path: Path) -> str | None:
    """The relation that was exported under this name; None for RDF, which is `triple` whatever the file is called."""
    whole = read(path)
    return None if is_rdf(whole.format) else unquote(whole.options.predicate)


def _data(folder: Path) -> Iterator[Path]:
    return (each for each in sorted(folder.iterdir()) if not each.name.startswith((".", "_")))
