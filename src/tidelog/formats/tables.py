"""Tables in memory (pandas, Spark, Arrow) as relations, and Delta tables through the optional `deltalake` package.

A commit to the log of a Delta table makes all rows of a write visible at once. Older rows stay in its history.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as parquet

from tidelog.dictionary.batch import Batch
from tidelog.errors import InputError, UsageError
from tidelog.formats.objects import from_arrow, terms_schema
from tidelog.formats.writers import TermBlock
from tidelog.model.terms import TRIPLE

LOG = "_delta_log"
_PLAIN = re.compile(r"[A-Za-z0-9][\w-]*", re.ASCII)
_UNSAFE = re.compile(r"\W+", re.ASCII)


def is_delta(path: Path) -> bool:
    """Whether a directory is a Delta table."""
    return (path / LOG).is_dir()


def table_name(predicate: str) -> str:
    """The directory name of a relation. It has no percent signs, because `deltalake` does not accept them."""
    if _PLAIN.fullmatch(predicate):
        return predicate
    digest = blake2b(predicate.encode(), digest_size=4).hexdigest()
    return f"r{_UNSAFE.sub('-', predicate)}-{digest}"


def check_delta() -> None:
    """Raise an error with advice if the package is missing."""
    try:
        import deltalake  # noqa: F401
    except ImportError:
        raise UsageError("Delta tables need the deltalake package: pip install 'tidelog[delta]'") from None


@dataclass(frozen=True)
class DeltaReading:
    """The rows of a Delta table. A path is opened at its newest version when iteration starts."""

    table: Any  # a path, or a deltalake.DeltaTable at any version
    predicate: str
    columns: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[Batch]:
        table = open_delta(self.table) if isinstance(self.table, Path) else self.table
        for rows in _dataset(table).to_batches(columns=self.columns and list(self.columns)):
            if rows.num_rows:
                yield from_arrow(self.predicate, rows)


def open_delta(path: Path) -> Any:
    check_delta()
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        return DeltaTable(path)
    except DeltaError as error:
        raise InputError(f"{path}: not a readable Delta table: {error}") from None


def relation_of(path: Path) -> str:
    """The relation of a Delta table: its exported name, or else the name of its directory."""
    if path.suffix == ".delta":
        return path.stem
    return open_delta(path).metadata().name or path.name


def _dataset(table: Any) -> Any:
    """The rows of a table. Deletion vectors are refused, because reading the files alone would return deleted rows."""
    from deltalake.exceptions import DeltaError

    if "deletionVectors" in (table.protocol().reader_features or ()):
        raise InputError(f"{table.table_uri}: deletion vectors are not read; rewrite the table without (REORG)")
    try:
        return table.to_pyarrow_dataset()
    except DeltaError as error:
        raise InputError(f"{table.table_uri}: not a readable Delta table: {error}") from None


@dataclass(frozen=True, slots=True)
class DeltaTarget:
    """A Delta table to write: path, relation, columns and partition columns."""

    path: Path
    relation: str
    columns: Sequence[str]
    partition_by: Sequence[str] = ()

    @property
    def by(self) -> list[str] | None:
        return list(self.partition_by) or None


def write_delta(target: DeltaTarget, blocks: Iterable[TermBlock]) -> int:
    """Write blocks of term texts as a table or as its next version; return the number of rows."""
    check_delta()
    import deltalake

    schema, written = terms_schema(target.columns), 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal written
        for block in blocks:
            written += len(block[0])
            yield _batch(block, schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with _explained(target.path):
        deltalake.write_deltalake(
            target.path,
            reader,
            name=target.relation,
            partition_by=target.by,
            mode="overwrite",
            schema_mode="overwrite",
        )
    return written


def write_delta_file(path: Path, names: Sequence[str], blocks: Iterable[TermBlock]) -> int:
    """Write a Parquet file that `commit_delta` can add to a table; return the number of rows."""
    schema = terms_schema(names)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in blocks:
            writer.write_batch(_batch(block, schema))
    return int(parquet.read_metadata(path).num_rows)


def _batch(block: TermBlock, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([c.cast(pa.string()) for c in block], schema=schema)


@dataclass(frozen=True, slots=True)
class DeltaFile:
    """A Parquet file in the directory of a table that is not yet committed."""

    name: str
    size: int
    rows: int
    partition: Mapping[str, str]


def commit_delta(target: DeltaTarget, files: Iterable[DeltaFile]) -> None:
    """Commit the files as a table or as its next version."""
    from deltalake import Schema
    from deltalake.transaction import AddAction, create_table_with_add_actions

    schema, now = Schema.from_arrow(terms_schema(target.columns)), int(time.time() * 1000)
    adds = [AddAction(f.name, f.size, f.partition, now, True, json.dumps({"numRecords": f.rows})) for f in files]
    with _explained(target.path):
        create_table_with_add_actions(
            str(target.path), schema, adds, mode="overwrite", name=target.relation, partition_by=target.by
        )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError) as error:
        raise InputError(f"{path}: cannot be written as a Delta table: {error}") from error


KINDS = ("pandas", "pyarrow", "pyspark", "deltalake")
_TRIPLES = (("subject", "predicate", "object"), ("s", "p", "o"))


def table_kind(value: object) -> str | None:
    """The library of a table object, or None. Imports no library."""
    library = type(value).__module__.partition(".")[0]
    is_table = hasattr(value, "columns") if library in ("pandas", "pyspark") else hasattr(value, "schema")
    return library if library in KINDS and is_table else None


def column_names_of(table: Any) -> list[Any]:
    """The names of the columns of a table object, which need not be texts."""
    library = table_kind(table)
    assert library is not None
    return list(_names_of(library, table))


def _names_of(library: str, table: Any) -> Iterable[Any]:
    if library in ("pandas", "pyspark"):
        return cast(Iterable[Any], table.columns)
    return [field.name for field in (table.schema if library == "pyarrow" else table.schema().fields)]


def as_relation(table: Any, relation: str | None) -> tuple[str, Any]:
    """(relation, rows) of a table. Without `relation` the columns must be subject, predicate, object (or s, p, o)."""
    if relation is not None:
        return relation, table
    library, names = str(table_kind(table)), column_names_of(table)
    lower = [str(name).lower() for name in names]
    for triple in _TRIPLES:
        if sorted(lower) == sorted(triple):
            return TRIPLE, _select(library, table, [names[lower.index(name)] for name in triple])
    raise UsageError(
        f'whose rows are these? The columns are {", ".join(map(str, names)) or "none"}. Say relation="edge" or '
        '{"edge": table}; or call the columns subject, predicate, object if they are triples'
    )


def _select(library: str, table: Any, names: list[Any]) -> Any:
    if library == "pandas":
        return table[names]
    if library == "deltalake":
        return DeltaReading(table, TRIPLE, tuple(names))
    return table.select(names)
