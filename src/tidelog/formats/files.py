"""Reads and writes files. The format is given or follows from the file name.

A file is written under a temporary name and renamed at the end, so no incomplete file has the final name.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, cast
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from tidelog.dictionary.batch import Batch, compact_batch
from tidelog.errors import InputError, UsageError
from tidelog.formats import head
from tidelog.formats.delimited import read_delimited
from tidelog.formats.json_tree import read_json
from tidelog.formats.ntriples import Dialect, read_lines
from tidelog.formats.objects import parquet_columns, read_parquet, row_group_spans
from tidelog.formats.options import FormatOptions, options
from tidelog.formats.prefixes import declared_prefixes
from tidelog.formats.rdf import read_rdf
from tidelog.formats.recognise import rdf_format
from tidelog.formats.source import OnBadLine, Span, blank_scope, file_size, is_zipped
from tidelog.formats.writers import (
    TermBlock,
    write_delimited,
    write_lines,
    write_parquet,
    write_rdf,
    write_turtle_blocks,
)
from tidelog.model.addresses import output_path, text_path
from tidelog.model.terms import NOT_IN_IRI, TRIPLE, Term
from tidelog.rules.syntax import Export, Import

# Format name (Nemo's, if it has one) -> file name endings.
_ENDINGS = {
    "ntriples": ("nt",),
    "nquads": ("nq",),
    "turtle": ("ttl", "turtle", "n3"),
    "trig": ("trig",),
    "rdfxml": ("rdf", "xml", "owl"),
    "jsonld": ("jsonld",),
    "csv": ("csv",),
    "tsv": ("tsv", "facts"),
    "dsv": ("dsv",),
    "parquet": ("parquet",),
    "json": ("json",),
}
SUFFIXES = {f".{ending}": name for name, endings in _ENDINGS.items() for ending in endings}
_RDF = ("ntriples", "nquads", "turtle", "trig", "rdfxml", "jsonld")
_LINES = ("ntriples", "nquads")
_RECOGNISED = ("turtle", "trig", "rdfxml", "jsonld")
_WITH_GRAPHS = ("nquads", "trig")
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_ROWS = 1 << 16

Partition = tuple[tuple[str, Term], ...]


def format_of(path: str | os.PathLike[str]) -> str | None:
    """The format of a file by its name, without `.gz`; None if the ending is unknown."""
    return SUFFIXES.get(_ending(path))


def is_known(path: str | os.PathLike[str]) -> bool:
    """Whether the ending of a file name is that of a format."""
    return format_of(path) is not None


def is_rdf(name: str) -> bool:
    """Whether a format is an RDF format."""
    return name in _RDF


def format_name(path: Path, said: str | None) -> str:
    """The format of a file: `said`, or by its name."""
    by_name = format_of(path)
    if said == "rdf":  # in Nemo: the RDF format of the file name
        return by_name if by_name in _RDF else "rdfxml"
    if said is not None:
        name = said if said in _ENDINGS else SUFFIXES.get(f".{said}")
        if name is None:
            raise UsageError(f"unknown format {said!r}; known are: rdf, {', '.join(_ENDINGS)}")
        return name
    if by_name is None:
        known = " ".join(sorted(SUFFIXES))
        raise InputError(f"{path}: the format cannot be told from the name; known endings (also with .gz): {known}")
    return by_name


@dataclass(frozen=True)
class FactFile:
    """A file to read. Each iteration reads it again and yields its batches.

    A span is a part of the file: bytes of N-Triples and N-Quads, row groups of Parquet. See `spans`.
    """

    path: Path
    format: str
    options: FormatOptions
    on_bad_line: OnBadLine | None = None  # called for each bad line, which is then skipped
    partition: Partition = ()  # columns with one value, from the names of folders
    scope: Path | None = None  # the file that gives the scope of blank nodes, if this is a part of a directory

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def notes(self) -> list[str]:
        """Sentences about what is probably not meant in this file."""
        if self.format in _RDF:
            return []
        relation, stem = self.options.predicate, _stem(self.path)
        renamed = relation == relation_of_file(self.path) and relation not in (stem, unquote(stem))
        name = [f"{self.path}: the relation is called {relation}; relation=… (--relation) gives another name"]
        others = head.notes(self.path, self.options, self._delimiter) if self.format != "parquet" else []
        return name * renamed + others

    def columns(self) -> list[str]:
        """The names of the columns, if the file has them: from its header, its schema and its folders."""
        chosen, last = self.options.columns, [name for name, _ in self.partition]
        if self.format == "parquet":
            names = parquet_columns(self.path)
        elif self.format not in _RDF and (self.options.ignore_headers or last):
            first = next(iter(head.first_rows(self.path, self.options, self._delimiter)), [])
            names = [c.strip() if self.options.ignore_headers else f"arg{i}" for i, c in enumerate(first, 1)]
        else:
            return []
        if chosen is not None and len(chosen) == len(names):
            names = [name for name, format_ in zip(names, chosen, strict=True) if format_ != "skip"]
        return [*names, *last] if names else []

    @property
    def _delimiter(self) -> str:
        return _delimiter(self.format, self.options)

    def prefixes(self) -> dict[str, str]:
        """The prefixes that the first part of an RDF file declares."""
        return declared_prefixes(self.path, self.format) if self.format in _RECOGNISED else {}

    def skipping_bad_lines(self, on_bad_line: OnBadLine | None) -> FactFile:
        """The same file, but `on_bad_line` is called for each bad line, which is skipped. None: the first raises."""
        return replace(self, on_bad_line=on_bad_line)

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return file_size(self.path)

    def batches(self, span: Span | None = None) -> Iterator[Batch]:
        limit = self.options.limit
        found = self._batches(span) if limit is None else _limited(self._batches(span), limit)
        return (_with_constants(batch, self.partition) for batch in found) if self.partition else found

    def _batches(self, span: Span | None) -> Iterator[Batch]:
        path, name, chosen = self.path, self.format, self.options
        if name == "parquet":
            return read_parquet(path, chosen, span)
        if name == "json":
            return iter([read_json(path, chosen.predicate)])
        if name not in _RDF:
            return read_delimited(path, chosen, self._delimiter, self.on_bad_line)
        columns = _rdf_columns(name, chosen)
        if name in _LINES:
            return read_lines(path, self._dialect(columns), span, self.on_bad_line)
        return read_rdf(path, name, chosen.predicate, columns, chosen.base)

    def _dialect(self, columns: tuple[int, ...]) -> Dialect:
        return Dialect(self.options.predicate, self.format == "nquads", columns, blank_scope(self.scope or self.path))

    def spans(self, size: int) -> list[tuple[Span | None, int]]:
        """Spans of about `size` bytes, and the bytes of each. The span None is a whole file that cannot be divided."""
        whole = self.size
        if self.options.limit is None and self.format == "parquet":
            return list(row_group_spans(self.path, size))
        if self.options.limit is None and self.format in _LINES and whole > size and not is_zipped(self.path):
            return [((at, min(at + size, whole)), min(size, whole - at)) for at in range(0, whole, size)]
        return [(None, whole)]


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    predicate: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> FactFile:
    """The facts of a file.

    By default an RDF file has facts of `triple`, and any other file has facts of `relation_of_file`. Named graphs are
    dropped, or are the first column if the parameter `graphs` is true. Other RDF than the name says is recognised.
    """
    source = Path(path)
    if format is None and "delimiter" in (parameters or {}) and not is_known(source):
        format = "dsv"
    name = format_name(source, format)
    if name in _RECOGNISED and format in (None, "rdf"):
        name = rdf_format(source, name)
    if _ending(source) == ".facts":  # in Soufflé's files quotes are ordinary characters
        parameters = {"quoting": False, **(parameters or {})}
    return FactFile(
        source, name, options(predicate or (TRIPLE if name in _RDF else relation_of_file(source)), parameters)
    )


def relation_of_file(path: Path) -> str:
    """The relation of a file by its name: without folder and endings, as `relation_file` wrote it.

    In a name that no rule could use, because of a space for example, `_` replaces all characters but letters, digits
    and hyphens.

    >>> relation_of_file(Path("data/parent.csv.gz")), relation_of_file(Path("Sales (2024).csv"))
    ('parent', 'Sales_2024')
    """
    stem = _stem(path)
    if "%" in stem and file_name(name := unquote(stem)) == stem:
        return name
    if not NOT_IN_IRI.search(stem) and not stem.startswith("("):
        return stem
    words = re.sub(r"[^\w-]+", "_", stem).strip("_-")
    return words if words[:1].isalpha() else f"_{words or 'file'}"


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def _ending(path: str | os.PathLike[str]) -> str:
    """The ending of a file name, without `.gz`."""
    return Path(str(path).lower().removesuffix(".gz")).suffix


def _delimiter(name: str, chosen: FormatOptions) -> str:
    delimiter = chosen.delimiter or _DELIMITERS.get(name)
    if delimiter is None:
        raise UsageError('format dsv needs a delimiter, such as delimiter=";"')
    return delimiter


def _rdf_columns(name: str, chosen: FormatOptions) -> tuple[int, ...]:
    """The columns to return, in order: subject 0, predicate 1, object 2, graph 3."""
    columns = (3, 0, 1, 2) if chosen.graphs and name in _WITH_GRAPHS else (0, 1, 2)
    if chosen.columns is None:
        return columns
    if len(chosen.columns) != len(columns) or not set(chosen.columns) <= {"any", "skip"}:
        raise UsageError(f"format of {name} must name {len(columns)} columns, each any or skip")
    return tuple(c for c, f in zip(columns, chosen.columns, strict=True) if f == "any")


def _limited(batches: Iterator[Batch], limit: int) -> Iterator[Batch]:
    for batch in batches:
        if limit <= 0:
            return
        yield compact_batch(batch.predicate, batch.terms, [c[:limit] for c in batch.codes])
        limit -= len(batch)


def _with_constants(batch: Batch, partition: Partition) -> Batch:
    """The batch with one more column for each constant."""
    constants = pa.array([term.encode() for _, term in partition], batch.terms.type)
    start, rows = len(batch.terms), len(batch)
    columns = [np.full(rows, start + i, dtype=np.int32) for i in range(len(partition))]
    return compact_batch(batch.predicate, pa.concat_arrays([batch.terms, constants]), [*batch.codes, *columns])


def read_import(directive: Import, folder: Path) -> FactFile:
    """The facts of an `@import`; file names are relative to `folder`."""
    resource = _resource(directive)
    if resource is None:
        raise InputError(f"@import {directive.predicate} names no file; say resource=…", directive.location)
    try:
        path = folder / text_path(resource)
    except UsageError as error:
        raise InputError(str(error), directive.location) from None
    parameters = directive.parameters
    if directive.format in (*_WITH_GRAPHS, "rdf") and "graphs" not in parameters:
        parameters = {**parameters, "graphs": True}
    return read(path, directive.format, directive.predicate, parameters)


def _resource(directive: Import | Export) -> str | None:
    value = directive.parameters.get("resource")
    return None if value is None else str(value).strip('"<>')


def export_path(directive: Export, folder: Path) -> Path:
    """The file of an `@export`: its `resource`, or a file with the name of the predicate."""
    resource = _resource(directive)
    if resource is not None:
        return folder / output_path(resource)
    name = format_name(Path(), directive.format)
    zipped = options(directive.predicate, directive.parameters).gzip
    return folder / f"{relation_file(directive.predicate, name)}{'.gz' if zipped else ''}"


def relation_file(predicate: str, name: str) -> str:
    """The default file name of a relation in a format."""
    return f"{file_name(predicate)}.{_ENDINGS[name][0]}"


def file_name(predicate: str) -> str:
    """The file name of a predicate; characters with a meaning in file systems are percent-encoded."""
    safe = re.sub(r'[\x00-\x20"*/:<>?\\|%^`{}]', lambda m: f"%{ord(m[0]):02X}", predicate)
    return re.sub(r"^\.", "%2E", safe)


def write(
    path: str | os.PathLike[str],
    predicate: str,
    blocks: Iterable[TermBlock],
    format: str | None = None,
    parameters: Mapping[str, object] | None = None,
    prefixes: Mapping[str, str] | None = None,
    names: Sequence[str] = (),
) -> int:
    """Write the rows of a relation from blocks of term texts; return the number of rows.

    Turtle uses the `prefixes`. Parquet columns have the `names`; delimited text starts with them.
    """
    target = Path(path)
    name = format_name(target, format)
    chosen = options(predicate, parameters)
    rows = _cut(blocks, chosen.limit)
    with written_aside(target, chosen.gzip) as stream:
        if name == "parquet":
            return write_parquet(stream, rows, chosen, names)
        if name == "json":
            raise UsageError("json is only read; export as csv, tsv, dsv, parquet or an RDF format")
        if name in _LINES:
            return write_lines(stream, rows, chosen)
        if name == "turtle":
            return write_turtle_blocks(stream, rows, chosen, prefixes or {})
        if name in _RDF:
            return write_rdf(stream, rows, chosen, name)
        return write_delimited(stream, rows, chosen, _delimiter(name, chosen), names)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table of plain values (not terms) as Parquet."""
    with written_aside(path) as stream:
        parquet.write_table(table, stream, compression="zstd")


def _cut(blocks: Iterable[TermBlock], limit: int | None) -> Iterator[TermBlock]:
    """The first `limit` rows in blocks of moderate size. An empty block is kept, because it has the columns."""
    left = sys.maxsize if limit is None else limit
    for block in blocks:
        length = min(left, len(block[0]) if block else 0)
        left -= length
        for at in range(0, max(length, 1) if block else 0, _ROWS):
            yield [pa.concat_arrays([column.slice(at, min(_ROWS, length - at))]) for column in block]


def blocks_of(rows: Iterable[Sequence[Term]]) -> Iterator[TermBlock]:
    """The blocks of rows of terms, for `write`."""
    iterator = iter(rows)
    while some := list(islice(iterator, _ROWS)):
        yield [pa.array(column, pa.string()) for column in zip(*some, strict=True)]


@contextmanager
def written_aside(path: Path, zipped: bool | None = None) -> Iterator[IO[bytes]]:
    """A stream to a temporary file, which is renamed to `path` at the end."""
    path = output_path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as raw:
            if path.suffix == ".gz" if zipped is None else zipped:
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(aside, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        aside.unlink(missing_ok=True)
