"""Reads files and directories as sources of facts.

A directory is the parts of one file (`edges.parquet/part-0.parquet`), a Delta table, the parts of one relation in
folders with names such as `year=2024` (as Hive and Spark partition a table), or several relations. Names that start
with a dot or an underscore are ignored, as in Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from tidelog.dictionary.batch import Batch
from tidelog.errors import InputError
from tidelog.formats.delimited import guess
from tidelog.formats.files import FactFile, Partition, format_of, is_rdf, read, relation_of_file
from tidelog.formats.options import ReadingOptions
from tidelog.formats.tables import DeltaReading, is_delta, relation_of

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def read_path(path: Path, how: ReadingOptions | None = None) -> list[Iterable[Batch]]:
    """The sources of a file or a directory."""
    how = how or ReadingOptions()
    if not path.is_dir():
        return [_file(path, how)]
    if is_delta(path):
        return [DeltaReading(path, how.relation or relation_of(path))]
    if format_of(path) is not None:
        whole = _file(path, how)
        parts = list(_leaves(path))
        return [replace(whole, path=part, partition=by, scope=parts[0][0]) for part, by in parts]
    if any(_is_partition(each) for each in _data(path)):
        return [_partitioned(part, by, how, relation_of_file(path)) for part, by in _leaves(path)]
    found = [source for each in _data(path) for source in read_path(each, how)]
    if not found:
        raise InputError(f"{path}: there are no data files in this directory")
    return found


def _file(path: Path, how: ReadingOptions) -> FactFile:
    return read(path, how.format, how.relation, how.parameters)


def _partitioned(path: Path, by: Partition, how: ReadingOptions, relation: str) -> FactFile:
    """A file with its partition columns, of the relation of its folder. Triples have no further columns."""
    file = _file(path, how)
    if is_rdf(file.format):
        return file
    return replace(_file(path, replace(how, relation=how.relation or relation)), partition=by)


def _leaves(folder: Path, by: Partition = ()) -> Iterator[tuple[Path, Partition]]:
    """The files in a directory, also in its partitions, and the partition columns of each."""
    for each in _data(folder):
        if not _is_partition(each):
            yield each, by
            continue
        name, _, value = each.name.partition("=")
        if value == _NO_VALUE:
            raise InputError(f"{each}: the column {name} has no value here; leave this folder out")
        yield from _leaves(each, (*by, (unquote(name), guess(unquote(value)))))


def _is_partition(path: Path) -> bool:
    return "=" in path.name and path.is_dir()


def _data(folder: Path) -> Iterator[Path]:
    return (each for each in sorted(folder.iterdir()) if not each.name.startswith((".", "_")))
