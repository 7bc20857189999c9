"""Slices of a relation, which all processes cut in the same way, and their columns of ids as columns of a DataFrame.

A slice is a range of *keys*, and a key is a row: (predicate, subject, object) of a triple, (-1, argument, …) of another
fact, all as ids. Positions in memory cannot define a slice: processes may store the same rows in different runs.

The columns of a DataFrame are plain texts, exact texts, or numbers if the schema requires numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.dictionary.batch import first_bytes
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.errors import InputError
from tidelog.kernel.rows import Ints, Mask
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, Term, plain, to_value
from tidelog.queries.datalog import Kind

RowKey = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RowSlice:
    """The rows from one key up to another; None is the end on either side."""

    low: RowKey | None = None
    high: RowKey | None = None


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """Some rows of a relation, column by column, and which of them are explicit."""

    columns: list[Ints]
    explicit: Mask


def slices(facts: LocalFacts, count: int) -> list[RowSlice]:
    """Cut facts into at most `count` slices of about the same number of rows."""
    tables = sorted(facts.tables.items())
    total = sum(len(table) for _, table in tables)
    positions = [number * total // count for number in range(1, count)]
    cuts: list[RowKey] = []
    before = 0
    for relation, table in tables:
        inside = [p - before for p in positions if before <= p < before + len(table)]
        cuts += [_key_at(relation, table, p / len(table)) for p in inside]
        before += len(table)
    distinct = sorted(set(cuts))
    return [RowSlice(low, high) for low, high in zip([None, *distinct], [*distinct, None], strict=True)]


def _key_at(relation: Relation, table: Table, fraction: float) -> RowKey:
    """The key at about a fraction of a table, from its longest run."""
    run = max(table.runs, key=len)
    row = run.rows[:, int(fraction * len(run)) :][:, :1]
    return (relation[1], *(int(run.layout.unpack(row, c)[0]) for c in run.natural))


def rows(facts: LocalFacts, E: LocalFacts, part: RowSlice, kind: Kind) -> Iterator[ColumnBlock]:
    """Yield the rows of a slice in blocks. E is the set of explicit facts."""
    for relation, table in sorted(facts.tables.items()):
        given = E.table(relation)
        for run in table.runs:
            start, stop = _position(run, relation, part.low, 0), _position(run, relation, part.high, len(run))
            for at in range(start, stop, tuning.DATAFRAME_BLOCK_ROWS):
                block = Run(run.layout, run.rows[:, at : min(at + tuning.DATAFRAME_BLOCK_ROWS, stop)])
                if table.tombstones is not None:
                    block = block.keep(~table.tombstones.contains_run(block))
                some = _marked(relation, block, given, kind)
                if len(some.explicit):
                    yield some


def _marked(relation: Relation, run: Run, given: Table | None, kind: Kind) -> ColumnBlock:
    explicit = np.zeros(len(run), dtype=np.bool_) if given is None else given.contains_run(run)
    if kind == "derived":
        run = run.keep(~explicit)
        explicit = np.zeros(len(run), dtype=np.bool_)
    columns = [run.column(c) for c in run.natural]
    if relation[0] == TRIPLE:
        columns.insert(1, np.full(len(run), relation[1], dtype=np.int64))
    return ColumnBlock(columns, explicit)


def _position(run: Run, relation: Relation, key: RowKey | None, end: int) -> int:
    """The number of rows of a run that come before a key."""
    if key is None:
        return end
    if key[0] != relation[1]:
        return len(run) if relation[1] < key[0] else 0
    ids = key[1:]
    fitting = tuple(takewhile(lambda id_: id_ <= run.layout.mask, ids))  # the run has no larger ids
    low, high = run.ranges(run.natural, fitting, 1)
    return int((low if len(fitting) == len(ids) else high)[0])


PLAIN, EXACT = "plain", "ntriples"
FORMS = (PLAIN, EXACT)
# The types that a schema may ask for, as Spark and as Arrow call them.
TYPES = {
    "string": pa.string(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}
_KINDS: dict[type, str] = {bool: "boolean", float: "double"}
_LONG = 1 << 63
_LESS, _QUOTE = b'<"'
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def column(ids: Ints, dictionary: Dictionary, form: str, type_: pa.DataType, name: str) -> pa.Array:
    """The terms of ids as a column. Each distinct id is decoded once."""
    encoded = pa.array(ids).dictionary_encode()
    texts = dictionary.decode_array(encoded.dictionary.to_numpy()).cast(pa.binary())
    values = texts.cast(pa.string()) if form == EXACT else _plain(texts)
    return _typed(values, type_, name).take(encoded.indices)


def _plain(texts: pa.Array) -> pa.Array:
    """Terms without brackets, quotes and datatype. Names and IRIs, which are most terms, are cut all at once."""
    inner = pc.binary_slice(texts, 1, -1).cast(pa.string())
    other = first_bytes(texts) != _LESS
    if not other.any():
        return inner
    mask = pa.array(other)
    others = pa.array([plain(Term(t.decode())) for t in texts.filter(mask).to_pylist()], pa.string())
    return pc.replace_with_mask(inner, mask, others)


def _typed(texts: pa.Array, type_: pa.DataType, name: str) -> pa.Array:
    try:
        if pa.types.is_floating(type_):
            return pa.array(map(float, texts.to_pylist()), type_)  # Arrow does not read INF and NaN
        if pa.types.is_boolean(type_):
            return pa.array([_BOOLEANS[t] for t in texts.to_pylist()], type_)
        return texts.cast(type_)
    except (pa.ArrowException, ValueError, KeyError) as error:
        raise InputError(f"column {name} is not all of type {type_}: {error}; read it as string") from None


def types(facts: LocalFacts, arity: int) -> list[str]:
    """The type of each column: the type of its numbers or booleans if they are all alike, else string."""
    return [_common_type(lambda c=c: _texts(facts, c)) for c in range(arity)]  # type: ignore[misc]


def _texts(facts: LocalFacts, column: int) -> Iterator[pa.Array]:
    for some in rows(facts, facts, RowSlice(), "all"):
        distinct = pc.unique(pa.array(some.columns[column])).to_numpy()
        yield facts.dictionary.decode_array(distinct).cast(pa.binary())


def _common_type(texts: Callable[[], Iterator[pa.Array]]) -> str:
    """The common type of some terms. One name or string makes it string, so the first block mostly decides."""
    kinds: set[str] = set()
    for some in texts():
        if np.any(first_bytes(some) != _QUOTE):
            return "string"
        kinds |= {_kind(Term(t.decode())) for t in some.to_pylist()}
        if len(kinds) > 1 or "string" in kinds:
            return "string"
    return kinds.pop() if kinds else "string"


def _kind(term: Term) -> str:
    value = to_value(term)
    if type(value) is int:
        return "long" if -_LONG <= value < _LONG else "string"
    return _KINDS.get(type(value), "string")
