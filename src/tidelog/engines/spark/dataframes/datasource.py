"""`spark.read.format("tidelog")`: a relation of a knowledge base as a DataFrame, read by all executors at once.

Executors open the directory themselves, so it has to be where all of them reach it. The version is decided when the
DataFrame is made. docs/spark-data.md lists the options.

The options of `spark.read.format("tidelog")`, checked and typed. Spark spells their names in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, InputPartition
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.dataframes import NAME
from tidelog.engines.spark.dataframes.columns import EXACT, FORMS, PLAIN, TYPES, Rows, Slice, column, rows, slices
from tidelog.engines.spark.dataframes.frames import Shown, View, view
from tidelog.errors import UsageError
from tidelog.model.facts import column_names
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
    """The options of a read; unknown or wrong ones are refused."""
    given = {name.lower(): value for name, value in options.items()}
    if unknown := given.keys() - {name.lower() for name in _KNOWN}:
        raise UsageError(f"unknown option {min(unknown)!r}; known are: {', '.join(_KNOWN)}")
    if not given.get("path"):
        raise UsageError('name the directory of a knowledge base: spark.read.format("tidelog").load("family.kb")')
    check_kind(kind := given.get("kind", "all"))
    return Options(
        path=str(Path(given["path"].removeprefix("file://")).absolute()),
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
_ROWS = 250_000  # of one partition, unless said otherwise
_PREDICATE = 1  # the column of a triple that tables are split by


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read: options in which everything that depends on the knowledge base has been decided."""

    options: Options
    version: int
    relation: str
    columns: tuple[str, ...]
    equals: Mapping[int, frozenset[int]] = field(default_factory=dict)  # which ids a column may have, where not any

    @classmethod
    def of(cls, options: Options) -> Wanted:
        opened = view(options.path, options.as_of)
        relation = opened.state.known(options.relation)
        names = options.columns or tuple(column_names(relation, opened.state.arity(relation)))
        if len(names) != opened.state.arity(relation):
            raise UsageError(f"columns names {len(names)}, but {relation} has {opened.state.arity(relation)}")
        wanted = cls(options, opened.state.version, relation, names)
        return wanted.with_predicate(opened) if options.predicate else wanted

    def with_predicate(self, opened: View) -> Wanted:
        """Only triples of the predicate that the options name."""
        if self.relation != TRIPLE:
            raise UsageError(f"the option predicate is for {TRIPLE}; the relation read is {self.relation}")
        return self.with_term(_PREDICATE, iri(opened.state.expand(self.options.predicate or "")), opened)

    def with_term(self, place: int, term: Term, opened: View) -> Wanted:
        """Only rows with a term in a column."""
        id_ = opened.state.E.dictionary.lookup(term)
        return self._with_ids(place, () if id_ is None else (id_,))

    def with_plain_predicate(self, text: str, opened: View) -> Wanted:
        """Only triples whose predicate reads so; there are never many predicates to look at."""
        dictionary = opened.state.E.dictionary
        return self._with_ids(
            _PREDICATE, (p for p in opened.state.I.triple_tables if plain(dictionary.decode(p)) == text)
        )

    def _with_ids(self, place: int, ids: Iterable[int]) -> Wanted:
        found = frozenset(ids)
        return replace(self, equals={**self.equals, place: found & self.equals.get(place, found)})

    def shown(self) -> list[tuple[str, Shown]]:
        """What is read: the facts, or those gained and those lost."""
        opened, since = view(self.options.path, self.version), self.options.changes_since
        if since is None:
            return [("", self._narrowed(opened.facts(self.relation, self.options.kind)))]
        gained, lost = opened.changes(self.relation, self.options.kind, since)
        return [(GAINED, self._narrowed(gained)), (LOST, self._narrowed(lost))]

    def _narrowed(self, shown: Shown) -> Shown:
        """Without the triples of other predicates, if only some were asked for."""
        if self.relation != TRIPLE or _PREDICATE not in self.equals:
            return shown
        chosen = self.equals[_PREDICATE]
        tables = {r: t for r, t in shown.facts.tables.items() if r[1] in chosen}
        return replace(shown, facts=LocalFacts(shown.facts.dictionary, tables))

    def chosen(self, some: Rows) -> Rows:
        """The rows that were asked for."""
        keep = np.ones(len(some.explicit), dtype=np.bool_)
        for place, ids in self.equals.items():
            keep &= np.isin(some.columns[place], list(ids))
        return some if keep.all() else Rows([c[keep] for c in some.columns], some.explicit[keep])


@dataclass(frozen=True)
class Part(InputPartition):
    """A slice of the facts, or of those gained or lost."""

    which: int
    slice: Slice


class Source(DataSource):
    """The data source."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._wanted = Wanted.of(read_options(options))

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        mark = {"tidelog": "terms"} if self._wanted.options.terms == EXACT else None
        fields = [StructField(name, StringType(), False, mark) for name in self._wanted.columns]
        fields.append(StructField(EXPLICIT, BooleanType(), False))
        if self._wanted.options.changes_since is not None:
            fields.append(StructField(CHANGE, StringType(), False))
        return StructType(fields)

    def reader(self, schema: StructType) -> Reader:
        known = self.schema().names
        for name in schema.names:
            if name not in known:
                raise UsageError(f"there is no column {name!r}; there are: {', '.join(known)}")
        return (PushingReader if self._wanted.options.pushdown else Reader)(self._wanted, schema)


class Reader(DataSourceReader):
    """Plans on the driver's side, reads on the executors'."""

    def __init__(self, wanted: Wanted, schema: StructType) -> None:
        self.wanted = wanted
        self.fields = [(f.name, _arrow_type(f), f.nullable) for f in schema.fields]

    def partitions(self) -> Sequence[Part]:
        parts = []
        for which, (_, shown) in enumerate(self.wanted.shown()):
            count = self.wanted.options.partitions or -(-len(shown.facts) // _ROWS)
            parts += [Part(which, each) for each in slices(shown.facts, count)]
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Part)
        change, shown = self.wanted.shown()[partition.which]
        schema = pa.schema([pa.field(*f) for f in self.fields])
        for some in rows(shown.facts, shown.E, partition.slice, shown.kind):
            chosen = self.wanted.chosen(some)
            if len(chosen.explicit):
                arrays = [self._array(name, type_, chosen, change, shown) for name, type_, _ in self.fields]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _array(self, name: str, type_: pa.DataType, some: Rows, change: str, shown: Shown) -> pa.Array:
        if name in self.wanted.columns:
            ids = some.columns[self.wanted.columns.index(name)]
            return column(ids, shown.facts.dictionary, self.wanted.options.terms, type_, name)
        return pa.array(some.explicit) if name == EXPLICIT else pa.repeat(change, len(some.explicit))


class PushingReader(Reader):
    """One that Spark tells what the rows are filtered by; refused unless the session has that turned on."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        opened = view(self.wanted.options.path, self.wanted.version)
        for each in filters:
            if isinstance(each, EqualTo) and len(each.attribute) == 1 and isinstance(each.value, str):
                self._narrow(each.attribute[0], each.value, opened)
        return filters  # Spark may check again

    def _narrow(self, name: str, value: str, opened: View) -> None:
        if name not in self.wanted.columns:
            return
        place = self.wanted.columns.index(name)
        if self.wanted.options.terms == EXACT:
            self.wanted = self.wanted.with_term(place, Term(value), opened)
        elif self.wanted.relation == TRIPLE and place == _PREDICATE:
            self.wanted = self.wanted.with_plain_predicate(value, opened)


def _arrow_type(column_: StructField) -> pa.DataType:
    name = column_.dataType.typeName()
    if name not in TYPES:
        raise UsageError(f"column {column_.name} cannot be read as {name}; choose one of: {', '.join(TYPES)}")
    return TYPES[name]
