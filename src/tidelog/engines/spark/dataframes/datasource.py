"""`spark.read.format("tidelog")`: a relation of a knowledge base as a DataFrame, read by all executors in parallel.

Executors open the directory themselves, so all of them must reach it. The version is fixed when the DataFrame is
created. docs/spark-data.md lists the options. Spark passes the names of options in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, InputPartition
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from tidelog import tuning
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.dataframes import NAME
from tidelog.engines.spark.dataframes.columns import (
    EXACT,
    FORMS,
    PLAIN,
    TYPES,
    ColumnBlock,
    RowSlice,
    column,
    rows,
    slices,
)
from tidelog.engines.spark.dataframes.frames import ShownFacts, VersionView, view
from tidelog.errors import UsageError
from tidelog.model.addresses import directory_path
from tidelog.model.terms import TRIPLE, Term, iri, plain
from tidelog.queries.datalog import Kind, check_kind

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

_KNOWN = (
    "path", "relation", "kind", "asOf", "changesSince", "terms", "columns", "predicate", "partitions", "pushdown",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    path: str
    relation: str = TRIPLE
    kind: Kind = "all"
    as_of: int | None = None
    changes_since: int | None = None
    terms: str = PLAIN
    columns: tuple[str, ...] = ()
    predicate: str | None = None
    partitions: int | None = None
    pushdown: bool = False


def read_options(options: Mapping[str, str]) -> Options:
    """The checked options of a read. Raises `UsageError` for unknown or wrong options."""
    given = {name.lower(): value for name, value in options.items()}
    if unknown := given.keys() - {name.lower() for name in _KNOWN}:
        raise UsageError(f"unknown option {min(unknown)!r}; known are: {', '.join(_KNOWN)}")
    if not given.get("path"):
        raise UsageError('name the directory of a knowledge base: spark.read.format("tidelog").load("family.kb")')
    check_kind(kind := given.get("kind", "all"))
    return Options(
        path=str(directory_path(given["path"]).absolute()),
        relation=given.get("relation", TRIPLE),
        kind=cast(Kind, kind),
        as_of=_number("asOf", given),
        changes_since=_number("changesSince", given),
        terms=_one_of("terms", given, FORMS),
        columns=tuple(name.strip() for name in given["columns"].split(",")) if "columns" in given else (),
        predicate=given.get("predicate"),
        partitions=_number("partitions", given),
        pushdown=_one_of("pushdown", given, ("false", "true")) == "true",
    )


def _number(name: str, given: Mapping[str, str]) -> int | None:
    text = given.get(name.lower())
    if text is not None and not (text.isascii() and text.isdigit()):
        raise UsageError(f"{name} is a whole number, not {text!r}")
    return None if text is None else int(text)


def _one_of(name: str, given: Mapping[str, str], choices: tuple[str, ...]) -> str:
    """The first choice unless another one is given."""
    value = given.get(name, choices[0]).lower()
    if value not in choices:
        raise UsageError(f"{name} is one of {', '.join(choices)}, not {given[name]!r}")
    return value


EXPLICIT, CHANGE = "explicit", "change"
GAINED, LOST = "added", "removed"
_PREDICATE = 1  # the column of a triple that tables are split by


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What to read: the options, resolved with the knowledge base."""

    options: Options
    version: int
    relation: str
    columns: tuple[str, ...]
    equals: Mapping[int, frozenset[int]] = field(default_factory=dict)  # by column: the ids that it may have

    @classmethod
    def of(cls, options: Options) -> ReadRequest:
        opened = view(options.path, options.as_of)
        relation = opened.state.known(options.relation)
        names = options.columns or tuple(opened.state.columns_of(relation, opened.state.arity(relation)))
        if len(names) != opened.state.arity(relation):
            raise UsageError(f"columns names {len(names)}, but {relation} has {opened.state.arity(relation)}")
        request = cls(options, opened.state.version, relation, names)
        return request.with_predicate(opened) if options.predicate else request

    def with_predicate(self, opened: VersionView) -> ReadRequest:
        """The request for only the triples of the predicate that the options name."""
        if self.relation != TRIPLE:
            raise UsageError(f"the option predicate is for {TRIPLE}; the relation read is {self.relation}")
        return self.with_term(_PREDICATE, iri(opened.state.expand(self.options.predicate or "")), opened)

    def with_term(self, position: int, term: Term, opened: VersionView) -> ReadRequest:
        """The request for only the rows with a term in a column."""
        id_ = opened.state.E.dictionary.lookup(term)
        return self._with_ids(position, () if id_ is None else (id_,))

    def with_plain_predicate(self, text: str, opened: VersionView) -> ReadRequest:
        """The request for only the triples whose predicate has this plain text. All predicates are compared."""
        dictionary = opened.state.E.dictionary
        return self._with_ids(
            _PREDICATE, (p for p in opened.state.I.triple_tables if plain(dictionary.decode(p)) == text)
        )

    def _with_ids(self, position: int, ids: Iterable[int]) -> ReadRequest:
        found = frozenset(ids)
        return replace(self, equals={**self.equals, position: found & self.equals.get(position, found)})

    def shown(self) -> list[tuple[str, ShownFacts]]:
        """The facts to read, or the gained and the lost facts, each with the value of the column `change`."""
        opened, since = view(self.options.path, self.version), self.options.changes_since
        if since is None:
            return [("", self._narrowed(opened.facts(self.relation, self.options.kind)))]
        gained, lost = opened.changes(self.relation, self.options.kind, since)
        return [(GAINED, self._narrowed(gained)), (LOST, self._narrowed(lost))]

    def _narrowed(self, shown: ShownFacts) -> ShownFacts:
        """The facts without the tables of predicates that are not requested."""
        if self.relation != TRIPLE or _PREDICATE not in self.equals:
            return shown
        chosen = self.equals[_PREDICATE]
        tables = {r: t for r, t in shown.facts.tables.items() if r[1] in chosen}
        return replace(shown, facts=LocalFacts(shown.facts.dictionary, tables))

    def chosen(self, some: ColumnBlock) -> ColumnBlock:
        """The requested rows of a block."""
        keep = np.ones(len(some.explicit), dtype=np.bool_)
        for position, ids in self.equals.items():
            keep &= np.isin(some.columns[position], list(ids))
        return some if keep.all() else ColumnBlock([c[keep] for c in some.columns], some.explicit[keep])


@dataclass(frozen=True)
class ReadPartition(InputPartition):
    """A slice of the facts, or of those gained or lost."""

    which: int
    slice: RowSlice


class TidelogDataSource(DataSource):
    """The data source."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._request = ReadRequest.of(read_options(options))

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        mark = {"tidelog": "terms"} if self._request.options.terms == EXACT else None
        fields = [StructField(name, StringType(), False, mark) for name in self._request.columns]
        fields.append(StructField(EXPLICIT, BooleanType(), False))
        if self._request.options.changes_since is not None:
            fields.append(StructField(CHANGE, StringType(), False))
        return StructType(fields)

    def reader(self, schema: StructType) -> RelationReader:
        known = self.schema().names
        for name in schema.names:
            if name not in known:
                raise UsageError(f"there is no column {name!r}; there are: {', '.join(known)}")
        return (PushingReader if self._request.options.pushdown else RelationReader)(self._request, schema)


class RelationReader(DataSourceReader):
    """Plans the partitions on the driver, and reads them on executors."""

    def __init__(self, request: ReadRequest, schema: StructType) -> None:
        self.request = request
        self.fields = [(f.name, _arrow_type(f), f.nullable) for f in schema.fields]

    def partitions(self) -> Sequence[ReadPartition]:
        parts = []
        for which, (_, shown) in enumerate(self.request.shown()):
            count = self.request.options.partitions or -(-len(shown.facts) // tuning.PARTITION_ROWS)
            parts += [ReadPartition(which, each) for each in slices(shown.facts, count)]
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ReadPartition)
        change, shown = self.request.shown()[partition.which]
        schema = pa.schema([pa.field(*f) for f in self.fields])
        for some in rows(shown.facts, shown.E, partition.slice, shown.kind):
            chosen = self.request.chosen(some)
            if len(chosen.explicit):
                arrays = [self._array(name, type_, chosen, change, shown) for name, type_, _ in self.fields]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _array(self, name: str, type_: pa.DataType, some: ColumnBlock, change: str, shown: ShownFacts) -> pa.Array:
        if name in self.request.columns:
            ids = some.columns[self.request.columns.index(name)]
            return column(ids, shown.facts.dictionary, self.request.options.terms, type_, name)
        return pa.array(some.explicit) if name == EXPLICIT else pa.repeat(change, len(some.explicit))


class PushingReader(RelationReader):
    """A reader that uses the filters of a query. Spark refuses it unless filter pushdown is turned on."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        opened = view(self.request.options.path, self.request.version)
        for each in filters:
            if isinstance(each, EqualTo) and len(each.attribute) == 1 and isinstance(each.value, str):
                self._narrow(each.attribute[0], each.value, opened)
        return filters  # Spark may check again

    def _narrow(self, name: str, value: str, opened: VersionView) -> None:
        if name not in self.request.columns:
            return
        position = self.request.columns.index(name)
        if self.request.options.terms == EXACT:
            self.request = self.request.with_term(position, Term(value), opened)
        elif self.request.relation == TRIPLE and position == _PREDICATE:
            self.request = self.request.with_plain_predicate(value, opened)


def _arrow_type(column_: StructField) -> pa.DataType:
    name = column_.dataType.typeName()
    if name not in TYPES:
        raise UsageError(f"column {column_.name} cannot be read as {name}; choose one of: {', '.join(TYPES)}")
    return TYPES[name]
