"""Converts Python values to facts: rows, Arrow tables, pandas frames, Parquet files and rdflib graphs.

A bare `str` or an Arrow string is a plain name, an IRI or a string; see `tidelog.model.terms.bare`. Columns that
tidelog wrote have term texts and a mark in their metadata, and are read back exactly. Each distinct value of a column
is converted once; rows are codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

from tidelog.dictionary.batch import Batch, Codes, batch_of_terms, compact_batch
from tidelog.errors import InputError
from tidelog.formats.options import FormatOptions
from tidelog.formats.source import Span
from tidelog.formats.term_text import canonical
from tidelog.model.terms import DECIMAL, TRIPLE, XSD, Term, literal, to_term

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Column:
    """Terms (perhaps with repetitions) and a code for each row. A row with a negative code has no term."""

    terms: pa.Array
    codes: Codes


def encoded(values: pa.Array) -> tuple[pa.Array, Codes]:
    """(distinct values, code of each row) of an array without nulls."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    pair = values.dictionary_encode()
    return pair.dictionary, pair.indices.to_numpy()


def column_of(values: Sequence[V], codes: Codes, to_text: Callable[[V], str | None]) -> Column:
    """The column of distinct values and codes. `to_text` returns the text of a value, or None to skip its rows."""
    terms = [to_text(value) for value in values]
    texts = pa.array([(t or "").encode() for t in terms], pa.binary())
    refused = np.array([t is None for t in terms], dtype=np.bool_)
    if refused.any():
        codes = np.where(refused[codes], np.int32(-1), codes)
    return Column(texts, codes)


def batch_of_columns(predicate: str, columns: Sequence[Column]) -> Batch:
    """A batch of the rows that have a term in every column."""
    kept = complete(columns)
    codes, start = [], 0
    for column in columns:
        codes.append((column.codes[kept] + start).astype(np.int32))
        start += len(column.terms)
    return compact_batch(predicate, pa.concat_arrays([c.terms for c in columns]), codes)


def complete(columns: Sequence[Column]) -> npt.NDArray[np.bool_]:
    """A mask of the rows that have a term in every column."""
    kept = np.ones(len(columns[0].codes), dtype=np.bool_)
    for column in columns:
        kept &= column.codes >= 0
    return kept


# The mark of columns with term texts.
TERMS_METADATA = {b"tidelog": b"terms"}
_ROWS = 1 << 16


def terms_schema(names: Sequence[str]) -> pa.Schema:
    """The schema of columns of term texts, with the mark, so that they are read back exactly."""
    return pa.schema([pa.field(name, pa.string(), False, TERMS_METADATA) for name in names])


def from_rows(predicate: str, rows: Iterable[Sequence[object]]) -> Batch:
    """A batch of rows of Python values.

    >>> from_rows("age", [("ann", 42)]).rows()
    [('<ann>', '"42"^^<http://www.w3.org/2001/XMLSchema#integer>')]
    """
    terms: list[tuple[Term, ...]] = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, str) or not isinstance(row, Iterable):
            raise InputError(f"{predicate}: row {number} is {row!r}; a row is a tuple or list of values")
        terms.append(tuple(value_term(value) for value in row))
        if len(terms[-1]) != len(terms[0]):
            raise InputError(f"{predicate}: row {number} has {len(terms[-1])} values, the first has {len(terms[0])}")
    return batch_of_terms(predicate, terms)


def value_term(value: object) -> Term:
    """The term of a value: by `to_term`, and XML Schema literals for dates, times and decimals."""
    if isinstance(value, datetime):
        return literal(value.isoformat(), f"{XSD}dateTime")
    if isinstance(value, date):
        return literal(value.isoformat(), f"{XSD}date")
    if isinstance(value, Decimal):
        return literal(f"{value:f}", DECIMAL)
    return to_term(value)


def from_arrow(predicate: str, table: pa.Table | pa.RecordBatch, marked: Collection[int] = ()) -> Batch:
    """A batch of the rows of an Arrow table. Columns in `marked`, and those with the mark, have term texts."""
    columns = []
    for i, (field, values) in enumerate(zip(table.schema, table.columns, strict=True)):
        _refuse_nulls(predicate, field.name, values)
        is_marked = i in marked or TERMS_METADATA.items() <= (field.metadata or {}).items()
        columns.append(_column(predicate, values, _checked if is_marked else _arrow_term))
    return batch_of_columns(predicate, columns) if columns else Batch(predicate, pa.array([], pa.binary()), ())


def _refuse_nulls(source: str, name: str, values: pa.Array | pa.ChunkedArray) -> None:
    """Refuse nulls. The message has a row number for a table, but not for a batch, which is only a part."""
    if values.null_count:
        row = next(i for i, value in enumerate(values) if not value.is_valid) + 1
        where = f" in row {row}" if isinstance(values, pa.ChunkedArray) else ""
        raise InputError(f"{source}: column {name!r} has no value{where}; drop such rows or fill them")


def _column(source: str, values: pa.Array | pa.ChunkedArray, term: Callable[[str, Any], Term]) -> Column:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    distinct, codes = encoded(values)
    return column_of(distinct.to_pylist(), codes, partial(term, source))


def _checked(source: str, text: str) -> Term:
    term = canonical(text)
    if term is None:
        raise InputError(f"{source}: {text!r} is not a term")
    return term


def _arrow_term(source: str, value: object) -> Term:
    if not isinstance(value, bytes):
        return value_term(value)
    try:
        return value_term(value.decode())
    except UnicodeDecodeError:
        raise InputError(f"{source}: binary values must be UTF-8 text, not {value[:20]!r}") from None


def from_pandas(predicate: str, frame: Any) -> Batch:
    """A batch of the rows of a pandas frame, without its index."""
    try:
        return from_arrow(predicate, pa.Table.from_pandas(frame, preserve_index=False))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):  # columns of mixed Python values
        return from_rows(predicate, frame.itertuples(index=False, name=None))


def from_spark(predicate: str, frame: Any) -> Batch:
    """A batch of the rows of a Spark DataFrame, collected into this process."""
    return from_arrow(predicate, frame.toArrow(), marked_columns(frame.schema))


def marked_columns(schema: Any) -> list[int]:
    """The numbers of the columns with term texts in a Spark DataFrame. Spark does not pass this mark to Arrow."""
    return [i for i, field in enumerate(schema.fields) if (field.metadata or {}).get("tidelog") == "terms"]


def from_rdflib(graph: Any, predicate: str = TRIPLE) -> Batch:
    """A batch of the triples of an rdflib graph, in the order of their texts."""
    return batch_of_terms(predicate, sorted(tuple(value_term(t) for t in triple) for triple in graph), arity=3)


def read_parquet(path: Path, options: FormatOptions, span: Span | None = None) -> Iterator[Batch]:
    """The rows of a Parquet file, or of the row groups in a span."""
    with _opened_parquet(path) as file:
        chosen = _chosen(path, file.schema_arrow, options)
        groups = range(file.num_row_groups) if span is None else range(*span)
        for rows in file.iter_batches(_ROWS, list(groups), chosen) if groups else ():
            yield from_arrow(options.predicate, rows)


_UNNAMED = re.compile(r"(?:c|arg)\d+")


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a Parquet file; none if they are only numbers, or if the file cannot be read."""
    with suppress(InputError), _opened_parquet(path) as file:
        names: list[str] = file.schema_arrow.names
        return [] if all(map(_UNNAMED.fullmatch, names)) else names
    return []


def row_group_spans(path: Path, size: int) -> Iterator[tuple[Span, int]]:
    """Spans of adjacent row groups with about `size` bytes each, and their bytes."""
    with _opened_parquet(path) as file:
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
    start, together = 0, 0
    for i, bytes_ in enumerate(sizes):
        together += bytes_
        if together >= size or i + 1 == len(sizes):
            yield (start, i + 1), together
            start, together = i + 1, 0


@contextmanager
def _opened_parquet(path: Path) -> Iterator[parquet.ParquetFile]:
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {error}") from None


def _chosen(path: Path, schema: pa.Schema, options: FormatOptions) -> list[str]:
    """The names of the columns that are not skipped."""
    formats = options.columns or ("any",) * len(schema.names)
    if len(formats) != len(schema.names):
        found = ", ".join(schema.names)
        raise InputError(f"{path}: expected {len(formats)} columns, found {len(schema.names)}: {found}")
    return [name for name, format_ in zip(schema.names, formats, strict=True) if format_ != "skip"]


class SparkFrame(Protocol):
    """The part of a Spark DataFrame that is used here, so that Spark need not be imported."""

    schema: Any

    def toArrow(self) -> Any: ...  # noqa: N802  Spark's name


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A Spark DataFrame with the rows of a relation. Iteration collects them; the Spark engine reads them in place."""

    predicate: str
    frame: SparkFrame

    def __iter__(self) -> Iterator[Batch]:
        yield from_spark(self.predicate, self.frame)
