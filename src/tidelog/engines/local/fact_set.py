"""Facts as tables of term ids. Triples are split by predicate, so `[?x, ub:worksFor, ?y]` is a binary relation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.kernel.rows import Ints
from tidelog.kernel.table import Table
from tidelog.model.facts import Fact
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Atom, Variable

# (predicate, id of the triple's predicate, or -1 for any relation but `triple`)
Relation = tuple[str, int]
WHOLE = -1
_BLOCK = 16_384


class LocalFacts:
    """An immutable set of facts; see `tidelog.algebra.fact_set`."""

    def __init__(self, dictionary: Dictionary, tables: dict[Relation, Table]) -> None:
        self.dictionary = dictionary
        self.tables = MappingProxyType(tables)

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.tables.values()))

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Fact]:
        for relation, table in self.tables.items():
            columns = self._columns(relation, table)
            if not columns:
                yield from [Fact(relation[0], ())] * len(table)
            for start in range(0, len(table), _BLOCK) if columns else ():  # whoever wants a few decodes a few
                block = [self.dictionary.decode_many(c[start : start + _BLOCK]) for c in columns]
                yield from (Fact(relation[0], row) for row in zip(*block, strict=True))

    @staticmethod
    def _columns(relation: Relation, table: Table) -> list[Ints]:
        """The columns of the facts of a table, with a triple's predicate put back."""
        columns = table.columns()
        if relation[0] == TRIPLE:
            columns.insert(1, (columns[0] & 0) + relation[1])
        return columns

    def columns(self, predicate: str) -> list[Ints]:
        """The id columns of a predicate's facts; none when there are no facts."""
        tables = [self._columns(r, t) for r, t in self.tables.items() if r[0] == predicate]
        return [np.concatenate(parts) for parts in zip(*tables, strict=True)]

    def __or__(self, other: LocalFacts) -> LocalFacts:
        if not other.tables or other is self:
            return self
        if not self.tables:
            return other
        tables = dict(self.tables)
        for relation, table in other.tables.items():
            mine = tables.get(relation)
            tables[relation] = table if mine is None else mine.plus(table)
        return LocalFacts(self.dictionary, tables)

    def __sub__(self, other: LocalFacts) -> LocalFacts:
        tables = dict(self.tables)
        for relation in self.tables.keys() & other.tables.keys():
            left = tables[relation].minus(other.tables[relation])
            if left is None:
                del tables[relation]
            else:
                tables[relation] = left
        return LocalFacts(self.dictionary, tables)

    def __and__(self, other: LocalFacts) -> LocalFacts:
        shared = self.tables.keys() & other.tables.keys()
        common = {r: self.tables[r].common(other.tables[r]) for r in shared}
        return LocalFacts(self.dictionary, {r: t for r, t in common.items() if t is not None})

    def predicates(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for (predicate, _), table in self.tables.items():
            sizes[predicate] = sizes.get(predicate, 0) + len(table)
        return sizes

    def arities(self) -> dict[str, int]:
        """How many arguments the facts of each predicate have."""
        return {name: 3 if name == TRIPLE else table.arity for (name, _), table in self.tables.items()}

    def only(self, predicate: str) -> LocalFacts:
        return LocalFacts(self.dictionary, {r: t for r, t in self.tables.items() if r[0] == predicate})

    @cached_property
    def triple_tables(self) -> dict[int, Table]:
        """The tables of `triple`, by the id of their predicate."""
        return {split: table for (predicate, split), table in self.tables.items() if predicate == TRIPLE}

    @cached_property
    def triples(self) -> int:
        """How many triples there are."""
        return sum(map(len, self.triple_tables.values()))

    def may_match(self, atom: Atom) -> bool:
        if atom.predicate != TRIPLE:
            return (atom.predicate, WHOLE) in self.tables
        subject, predicate, object_ = atom.args
        if isinstance(predicate, Variable):
            return bool(self.triple_tables)
        encode = self.dictionary.encode
        table = self.tables.get((TRIPLE, encode(predicate)))  # type: ignore[arg-type]
        return table is not None and all(
            isinstance(arg, Variable) or table.may_hold(column, encode(arg))  # type: ignore[arg-type]
            for column, arg in enumerate((subject, object_))
        )
