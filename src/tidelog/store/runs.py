"""Facts and terms as Parquet files. Spark, DuckDB and pandas can read them.

    a base     all facts, `explicit`: whether a row is explicit          c0, c1, …: ids of terms, rows in order
    a delta    a change, `change`: the set a row belongs to              0, 1: explicit facts gained, lost; 2, 3: facts

There is one file of facts for each predicate. The columns of a triple are subject, predicate and object; triples are
sorted by predicate. A file of the dictionary has the columns (id, term); its ids continue those of the file before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import WHOLE, LocalFacts, Relation
from tidelog.errors import CorruptionError
from tidelog.kernel.rows import Ints, Mask, layout_for, sorting
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, Term
from tidelog.store import durable_files
from tidelog.store.delta import ChangeRows, Delta, from_rows
from tidelog.store.durable_files import ADVICE, Sink
from tidelog.store.records import FactRun, PredicateFile, Segment

FOLDER = "runs"
DICTIONARY_FOLDER = "dictionary"
_TERMS = pa.schema([pa.field("id", pa.int32(), False), pa.field("term", pa.binary(), False)])

Marks = npt.NDArray[np.generic]
RunBlock = tuple[Relation, Sequence[Ints], Marks]


def write_base(root: Path, name: str, version: int, E: LocalFacts, I: LocalFacts) -> FactRun:
    """Write all facts of a version."""

    def blocks(relations: Iterable[Relation]) -> Iterator[RunBlock]:
        for relation in relations:
            run, table = I.tables[relation].flat, E.tables.get(relation)
            explicit = np.zeros(len(run), dtype=np.bool_) if table is None else table.contains_run(run)
            yield relation, [run.column(c) for c in run.natural], explicit

    grouped = _by_predicate(I.tables)
    parts = [
        _write(root, f"{name}-{i}", predicate, "explicit", pa.bool_(), blocks(sorted(relations)), I)
        for i, (predicate, relations) in enumerate(grouped.items())
    ]
    return FactRun(None, version, len(I), tuple(parts))


def write_delta(root: Path, name: str, start: int, to: int, delta: Delta) -> FactRun:
    """Write a change."""

    def blocks(relations: Iterable[Relation]) -> Iterator[RunBlock]:
        for relation in relations:
            for rows in by_relation[relation]:
                yield relation, rows.columns, np.full(rows.length, rows.which, dtype=np.uint8)

    by_relation: dict[Relation, list[ChangeRows]] = {}
    for rows in delta.rows():
        by_relation.setdefault(rows.relation, []).append(rows)
    parts = [
        _write(root, f"{name}-{i}", predicate, "change", pa.uint8(), blocks(sorted(relations)), delta.I_added)
        for i, (predicate, relations) in enumerate(_by_predicate(by_relation).items())
    ]
    return FactRun(start, to, len(delta), tuple(parts))


def _by_predicate(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    grouped: dict[str, list[Relation]] = {}
    for relation in relations:
        grouped.setdefault(relation[0], []).append(relation)
    return grouped


def _write(
    root: Path, name: str, predicate: str, mark: str, kind: pa.DataType, blocks: Iterator[RunBlock], facts: LocalFacts
) -> PredicateFile:
    first = next(blocks)
    arity = len(first[1]) + (predicate == TRIPLE)
    fields = [pa.field(f"c{i}", pa.int32(), False) for i in range(arity)]
    schema = pa.schema([*fields, pa.field(mark, kind, False)], {"predicate": predicate})
    rows = 0

    def fill(sink: Sink) -> None:
        nonlocal rows
        encodings = {f.name: "DELTA_BINARY_PACKED" for f in fields}
        writer = parquet.ParquetWriter(
            pa.PythonFile(sink, "w"), schema, compression="zstd", use_dictionary=[mark] if arity else False,
            column_encoding=encodings or None, write_statistics=True,
        )  # fmt: skip
        with writer:
            for relation, columns, marks in chain((first,), blocks):
                arrays = [pa.array(c, pa.int32()) for c in _with_predicate(relation, columns, len(marks))]
                table = pa.Table.from_arrays([*arrays, pa.array(marks, kind)], schema=schema)
                writer.write_table(table, tuning.ROW_GROUP)
                rows += len(marks)

    entry = durable_files.write(root, f"{FOLDER}/{name}.parquet", fill)
    return PredicateFile(predicate, arity, rows, entry)


def _with_predicate(relation: Relation, columns: Sequence[Ints], length: int) -> list[Ints]:
    if relation[0] != TRIPLE:
        return list(columns)
    return [columns[0], np.full(length, relation[1], dtype=np.int64), columns[1]]


def read_base(root: Path, run: FactRun, dictionary: Dictionary) -> tuple[LocalFacts, LocalFacts]:
    """The explicit facts and all facts of a base. No fact is in two files, and each file is sorted."""
    E: dict[Relation, Table] = {}
    I: dict[Relation, Table] = {}
    gathered: dict[Relation, list[tuple[Sequence[Ints], Marks]]] = {}
    for part in run.parts:
        for relation, columns, marks in _read(root, part, "explicit", dictionary):
            gathered.setdefault(relation, []).append((columns, marks.astype(np.bool_)))
    for relation, blocks in gathered.items():
        all_of_them, explicit = _merged(blocks, len(dictionary))
        I[relation] = Table((all_of_them,))
        if explicit.any():
            E[relation] = Table((all_of_them.keep(explicit),))
    return LocalFacts(dictionary, E), LocalFacts(dictionary, I)


def _merged(blocks: Sequence[tuple[Sequence[Ints], Marks]], terms: int) -> tuple[Run, Mask]:
    """The sorted rows of a relation from all files, and their marks."""
    columns = [np.concatenate(column) for column in zip(*(columns for columns, _ in blocks), strict=True)]
    marks = np.concatenate([marks for _, marks in blocks])
    layout = layout_for(len(columns), terms)
    rows = layout.pack(columns, len(marks))
    if len(blocks) > 1:
        order = sorting(rows)
        rows, marks = rows[:, order], marks[order]
    return Run(layout, rows), marks


def read_delta(root: Path, run: FactRun, dictionary: Dictionary) -> Delta:
    """The change in a run. A base is read as a change from the empty version."""
    if run.start is None:
        E, I = read_base(root, run, dictionary)
        nothing = LocalFacts(dictionary, {})
        return Delta(E, nothing, I, nothing)
    rows = []
    for part in run.parts:
        for relation, columns, marks in _read(root, part, "change", dictionary):
            for which in range(4):
                chosen = np.flatnonzero(marks == which)
                if len(chosen):
                    rows.append(ChangeRows(which, relation, [c[chosen] for c in columns], len(chosen)))
    return from_rows(dictionary, rows)


def _read(root: Path, part: PredicateFile, mark: str, dictionary: Dictionary) -> Iterator[RunBlock]:
    """Yield the rows of a file, relation by relation."""
    columns, marks = _columns(root, part, mark)
    if any(len(c) and int(c.max()) >= len(dictionary) for c in columns):
        raise CorruptionError(f"{root / part.file.name} names terms the dictionary does not have{ADVICE}")
    if part.predicate != TRIPLE:
        yield (part.predicate, WHOLE), columns, marks
        return
    subjects, predicates, objects = columns
    cuts = [0, *(np.flatnonzero(predicates[1:] != predicates[:-1]) + 1).tolist(), len(predicates)]
    for start, stop in pairwise(cuts):
        yield (TRIPLE, int(predicates[start])), [subjects[start:stop], objects[start:stop]], marks[start:stop]


def _columns(root: Path, part: PredicateFile, mark: str) -> tuple[list[Ints], Marks]:
    view = durable_files.mapped(root, part.file)
    table = _read_parquet(root / part.file.name, view)
    if table.num_rows != part.rows or table.num_columns != part.arity + 1:
        raise CorruptionError(f"{root / part.file.name} does not hold what the catalog says{ADVICE}")
    columns = [table.column(f"c{i}").to_numpy().astype(np.int64) for i in range(part.arity)]
    return columns, table.column(mark).to_numpy()


def _read_parquet(path: Path, view: memoryview, columns: list[str] | None = None) -> pa.Table:
    try:
        return parquet.ParquetFile(pa.BufferReader(pa.py_buffer(view))).read(columns)
    except (pa.ArrowException, OSError) as error:
        raise CorruptionError(f"{path} cannot be read: {error}{ADVICE}") from error


def write_terms(root: Path, name: str, dictionary: Dictionary, start: int, stop: int) -> Segment:
    """Write the terms with ids from `start` to `stop` - 1."""

    def fill(sink: Sink) -> None:
        stream = pa.PythonFile(sink, "w")
        with parquet.ParquetWriter(stream, _TERMS, compression="zstd", use_dictionary=False) as writer:
            for first, array in dictionary.arrays(start, stop):
                ids = pa.array(np.arange(first, first + len(array), dtype=np.int32))
                writer.write_table(pa.Table.from_arrays([ids, array], schema=_TERMS))

    return Segment(start, stop, durable_files.write(root, f"{DICTIONARY_FOLDER}/{name}.parquet", fill))


def read_terms(root: Path, segment: Segment, dictionary: Dictionary) -> None:
    """Add the terms of a segment to a dictionary that ends where the segment starts."""
    path = root / segment.file.name
    for chunk in _read_parquet(path, durable_files.mapped(root, segment.file), ["term"]).column("term").chunks:
        dictionary.encode_many(chunk)
    if len(dictionary) != segment.stop:
        raise CorruptionError(f"{path} does not hold the terms the catalog says{ADVICE}")


def add_terms(dictionary: Dictionary, start: int, texts: Sequence[str]) -> None:
    """Add the terms of a commit. The dictionary must end at `start`, or contain these terms already.

    If other threads may use the dictionary, the caller adds the terms in a block of `dictionary.alone()`.
    """
    if start + len(texts) <= len(dictionary):
        return
    if len(dictionary) != start:
        raise CorruptionError(f"the terms of the catalog start at {start}, not {len(dictionary)}{ADVICE}")
    if len(texts) > tuning.SINGLY_ADDED_TERMS:
        dictionary.encode_many(pa.array([t.encode() for t in texts], pa.binary()))
    else:
        for text in texts:
            dictionary.encode(Term(text))
