"""Facts as tables of term ids. Triples are split by predicate, so `[?x, ub:worksFor, ?y]` is a binary relation.

    facts  =  (tables - deleted) | added        `deleted` and `added` are small; each is one array for all relations

A small set has no tables, only `added`. A small change to a large set is recorded in `deleted` and `added` (its
corrections). They are applied to the table of a relation when that table is first read: an algorithm never reads most
of the relations that it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.kernel.lookup import NO_ROWS, WIDTH, CodedRows, RelationLookup, encode
from tidelog.kernel.rows import Ints, Mask, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, Fact
from tidelog.rules.syntax import Atom, Variable

# (predicate, id of the triple's predicate, or `WHOLE` for any relation but `triple`)
Relation = tuple[str, int]
WHOLE = -1


class LocalFacts:
    """An immutable set of facts; see `tidelog.algebra.fact_set`."""

    def __init__(
        self,
        dictionary: Dictionary,
        tables: Mapping[Relation, Table],
        deleted: CodedRows = NO_ROWS,
        added: CodedRows = NO_ROWS,
    ) -> None:
        self.dictionary = dictionary
        self._tables = tables
        self._deleted, self._added = deleted, added
        self.coded: CodedRows | None = None if tables else added  # all facts as one array, if the set is small
        self._changes: dict[Relation, tuple[Table | None, Table | None]] | None = None  # made by `_changed_tables`
        self._read: dict[Relation, Table | None] = {}  # tables with their corrections applied
        self._lookups: dict[int, RelationLookup | None] = {}
        self._was_changed = False  # a hint for `_base`: the facts do not depend on it

    @classmethod
    def of_rows(cls, dictionary: Dictionary, parts: Sequence[tuple[Relation, int, Ints]]) -> LocalFacts | None:
        """A small set of packed rows (relation, number of columns, rows); None if it needs tables."""
        numbering = dictionary.relations
        numbers = [numbering.number(relation, arity) for relation, arity, _ in parts]
        bits = numbering.bits(len(dictionary))
        if bits is None or sum(rows.shape[1] for _, _, rows in parts) > tuning.MOST_CODED:
            return None
        known = [n for n in numbers if n is not None]
        if len(known) < len(parts):
            return None
        coded = CodedRows.of_rows(bits, known, [rows[0] for _, _, rows in parts]) if parts else NO_ROWS
        return cls(dictionary, {}, added=coded)

    def with_dictionary(self, dictionary: Dictionary) -> LocalFacts:
        """The same rows; `dictionary` has the same ids for their terms."""
        return LocalFacts(dictionary, self._tables, self._deleted, self._added)

    @property
    def is_narrow(self) -> bool:
        """Whether all relations are narrow enough for codes."""
        return all(table.arity <= WIDTH for table in self.tables.values())

    def to_coded(self, bits: int) -> CodedRows:
        """The facts of all relations that are narrow enough, as one array."""
        codes = [NO_ROWS.codes]
        for relation, table in self.tables.items():
            number = self.dictionary.relations.number(relation, table.arity)
            if number is not None:
                missing = [np.zeros(len(table), dtype=np.int64)] * (WIDTH - table.arity)
                codes.append(encode(bits, number, *[*missing, *table.columns()]))
        return CodedRows.of(bits, np.concatenate(codes))

    def of_coded(self, facts: CodedRows) -> LocalFacts:
        """The set of these facts, with tables if they are too many for one array."""
        if len(facts) > tuning.MOST_CODED:
            return LocalFacts(self.dictionary, self._tables_of(facts))
        return LocalFacts(self.dictionary, {}, added=facts)

    def _tables_of(self, facts: CodedRows) -> dict[Relation, Table]:
        """Coded facts as tables."""
        if not len(facts):
            return {}
        numbered, ids = self.dictionary.relations.known, len(self.dictionary)
        packed = facts.packed().reshape(1, -1)
        tables = {}
        for number, (start, stop) in facts.segments.items():
            relation, arity = numbered[number]
            tables[relation] = Table((Run(layout_for(arity, ids), packed[:, start:stop]),))
        return tables

    def _changed_tables(self) -> dict[Relation, tuple[Table | None, Table | None]]:
        """By relation with corrections: the rows to delete from its table, and the rows to add. Made once."""
        if self._changes is not None:
            return self._changes
        deleted, added = self._tables_of(self._deleted), self._tables_of(self._added)
        self._changes = {relation: (deleted.get(relation), added.get(relation)) for relation in (*deleted, *added)}
        return self._changes

    def table(self, relation: Relation) -> Table | None:
        """The facts of one relation; None if it has none."""
        changes = self._changes
        if changes is None:
            changes = self._changed_tables()
        if relation not in changes:
            return self._tables.get(relation)
        if relation not in self._read:
            self._read[relation] = self._changed(self._tables.get(relation), *changes[relation])
        return self._read[relation]

    def lookup(self, number: int) -> RelationLookup | None:
        """The facts of a numbered relation for lookups of few rows; applies no corrections. None if it has none."""
        if number not in self._lookups:
            self._lookups[number] = self._lookup(number)
        return self._lookups[number]

    def _lookup(self, number: int) -> RelationLookup | None:
        table = self._tables.get(self.dictionary.relations.known[number][0]) if self._tables else None
        if table is None and number not in self._added.segments:
            return None
        return RelationLookup(table, self._deleted, self._added, number)

    @staticmethod
    def _changed(table: Table | None, deleted: Table | None, added: Table | None) -> Table | None:
        if table is not None and deleted is not None:
            table = table.minus(deleted)
        if added is None:
            return table
        return added if table is None else table.plus(added)

    @cached_property
    def tables(self) -> Mapping[Relation, Table]:
        """The tables of all relations that have facts."""
        tables = dict(self._tables)
        for relation in self._changed_tables():
            table = self.table(relation)
            if table is not None:
                tables[relation] = table
            else:
                tables.pop(relation, None)
        return MappingProxyType(tables)

    @cached_property
    def size(self) -> int:
        """The number of facts; applies no corrections."""
        size = self._in_tables
        if len(self._deleted):
            size -= int(np.count_nonzero(self._in_table(self._deleted)))
        if len(self._added):
            size += len(self._added) - int(np.count_nonzero(self._kept(self._added)))
        return size

    @cached_property
    def _in_tables(self) -> int:
        return sum(map(len, self._tables.values()))

    def __len__(self) -> int:
        return self.size if self._tables else len(self._added.codes)

    def __iter__(self) -> Iterator[Fact]:
        for relation, table in self.tables.items():
            columns = self._columns(relation, table)
            if not columns:
                yield from [Fact(relation[0], ())] * len(table)
            for start in range(0, len(table), tuning.DECODED_FACTS) if columns else ():
                block = [self.dictionary.decode_many(c[start : start + tuning.DECODED_FACTS]) for c in columns]
                yield from (Fact(relation[0], row) for row in zip(*block, strict=True))

    @staticmethod
    def _columns(relation: Relation, table: Table) -> list[Ints]:
        """The columns of the facts of a table, for a triple with the column of its predicate."""
        columns = table.columns()
        if relation[0] == TRIPLE:
            columns.insert(1, (columns[0] & 0) + relation[1])
        return columns

    def columns(self, predicate: str) -> list[Ints]:
        """The columns of ids of a predicate's facts; an empty list if there are no facts."""
        tables = [self._columns(r, t) for r, t in self.tables.items() if r[0] == predicate]
        return [np.concatenate(parts) for parts in zip(*tables, strict=True)]

    def __or__(self, other: LocalFacts) -> LocalFacts:
        mine, theirs = self.coded, other.coded
        if other is self or (theirs is not None and not len(theirs)):
            return self
        if mine is not None and (theirs is None or len(mine) < len(theirs)):
            return other | self
        if theirs is None:
            return self._or_tables(other)
        if mine is not None and not self._keeps_tables(theirs):
            return self.of_coded(mine.plus(theirs))
        tables, deleted, added = self._base()
        return LocalFacts(self.dictionary, tables, deleted, added.plus(theirs))

    def __sub__(self, other: LocalFacts) -> LocalFacts:
        mine, theirs = self.coded, other.coded
        if (theirs is not None and not len(theirs)) or (mine is not None and not len(mine)):
            return self
        if mine is not None and theirs is None:
            return self.of_coded(mine.keep(~other.holds(mine)))
        if theirs is None:
            return self._minus_tables(other)
        if mine is not None and not self._keeps_tables(theirs):
            return self.of_coded(mine.minus(theirs))
        tables, deleted, added = self._base()
        return LocalFacts(self.dictionary, tables, deleted.plus(theirs), added.minus(theirs))

    def __and__(self, other: LocalFacts) -> LocalFacts:
        mine, theirs = self.coded, other.coded
        if mine is not None and theirs is not None:
            return self.of_coded(mine.common(theirs))
        if mine is not None:
            return self.of_coded(mine.keep(other.holds(mine)))
        return other & self if theirs is not None else self._and_tables(other)

    def _base(self) -> tuple[Mapping[Relation, Table], CodedRows, CodedRows]:
        """Tables and corrections to record a change on; corrections are applied first if there are too many."""
        first = 0 if self._was_changed else tuning.MOST_FIRST_CORRECTIONS
        most = max(tuning.MOST_CORRECTIONS, first)
        if not self._tables or len(self._deleted) + len(self._added) > most:
            return self.tables, NO_ROWS, NO_ROWS
        self._was_changed = True
        return self._tables, self._deleted, self._added

    def _keeps_tables(self, change: CodedRows) -> bool:
        """Whether this small set records the change beside its tables, instead of being copied with the change."""
        size = len(self._added)
        if size <= tuning.SMALL_CHANGE_RATIO * len(change):
            return False
        if self._changes is not None:
            return size > tuning.ALWAYS_COPIED
        return bool(self._lookups) and size > tuning.COPIED_IF_UNREAD

    def holds(self, facts: CodedRows) -> Mask:
        """Which of the given facts are in this set."""
        found = self._kept(facts)
        return found | self._added.holds(facts) if len(self._added) else found

    def _kept(self, facts: CodedRows) -> Mask:
        """Which of the given facts are in a table and not deleted."""
        if not len(self._deleted):
            return self._in_table(facts)
        found = ~self._deleted.holds(facts)
        found[found] = self._in_table(facts.keep(found))
        return found

    def _in_table(self, facts: CodedRows) -> Mask:
        """Which of the given facts are in a table, deleted or not."""
        found = np.zeros(len(facts), dtype=np.bool_)
        if self._tables:
            numbered, packed = self.dictionary.relations.known, facts.packed().reshape(1, -1)
            for number, (start, stop) in facts.segments.items():
                table = self._tables.get(numbered[number][0])
                if table is not None:
                    found[start:stop] = table.contains_rows(packed[:, start:stop])
        return found

    def _or_tables(self, other: LocalFacts) -> LocalFacts:
        tables = dict(self.tables)
        for relation, table in other.tables.items():
            mine = tables.get(relation)
            tables[relation] = table if mine is None else mine.plus(table)
        return LocalFacts(self.dictionary, tables)

    def _minus_tables(self, other: LocalFacts) -> LocalFacts:
        tables = dict(self.tables)
        for relation in tables.keys() & other.tables.keys():
            left = tables[relation].minus(other.tables[relation])
            if left is None:
                del tables[relation]
            else:
                tables[relation] = left
        return self._of_tables(tables)

    def _and_tables(self, other: LocalFacts) -> LocalFacts:
        shared = self.tables.keys() & other.tables.keys()
        common = {r: self.tables[r].common(other.tables[r]) for r in shared}
        return self._of_tables({r: t for r, t in common.items() if t is not None})

    def _of_tables(self, tables: dict[Relation, Table]) -> LocalFacts:
        """The set of these tables, as one array if it is small."""
        if sum(map(len, tables.values())) > tuning.MOST_CODED or any(t.arity > WIDTH for t in tables.values()):
            return LocalFacts(self.dictionary, tables)
        small = LocalFacts.of_rows(self.dictionary, [(r, t.arity, t.flat.rows) for r, t in tables.items()])
        return LocalFacts(self.dictionary, tables) if small is None else small

    def predicates(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for (predicate, _), table in self.tables.items():
            sizes[predicate] = sizes.get(predicate, 0) + len(table)
        return sizes

    def count_of(self, predicate: str) -> int:
        """The number of facts of a predicate; applies corrections only to its tables."""
        if predicate == TRIPLE:
            return self.triples
        table = self.table((predicate, WHOLE))
        return 0 if table is None else len(table)

    def arities(self) -> dict[str, int]:
        """The number of arguments of each predicate that has facts."""
        return {name: 3 if name == TRIPLE else arity for (name, _), arity in self._relations()}

    def _relations(self) -> Iterator[tuple[Relation, int]]:
        """The relations that have facts, with their numbers of columns; applies corrections only where they may delete
        all facts of a relation.
        """
        numbered = self.dictionary.relations.known
        doubtful = {numbered[number][0]: stop - start for number, (start, stop) in self._deleted.segments.items()}
        for relation, table in self._tables.items():
            if doubtful.get(relation, 0) < len(table) or self.table(relation) is not None:
                yield relation, table.arity
        yield from (numbered[number] for number in self._added.segments)

    def of_predicate(self, predicate: str) -> LocalFacts:
        return LocalFacts(self.dictionary, {r: t for r, t in self.tables.items() if r[0] == predicate})

    @cached_property
    def triple_tables(self) -> dict[int, Table]:
        """The tables of `triple`, by the id of their predicate."""
        return {split: table for (predicate, split), table in self.tables.items() if predicate == TRIPLE}

    @cached_property
    def triples(self) -> int:
        """The number of triples."""
        return sum(map(len, self.triple_tables.values()))

    def sample(self, count: int) -> LocalFacts:
        """About `count` facts, sampled evenly: at least one per relation, or per n-th relation if there are more
        relations than `count`.
        """
        if len(self) <= count:
            return self
        share, every = count / len(self), -(-len(self.tables) // count)
        tables = {}
        for relation, table in list(self.tables.items())[::every]:
            run = table.flat
            at = np.linspace(0, len(table) - 1, max(1, round(share * len(table)))).astype(np.int64)
            tables[relation] = Table((Run(run.layout, run.rows[:, at]),))
        return self._of_tables(tables)

    def may_match(self, atom: Atom) -> bool:
        if atom.predicate != TRIPLE:
            return self.may_read((atom.predicate, WHOLE))
        subject, predicate, object_ = atom.args
        if isinstance(predicate, Variable):
            return bool(self.triple_tables)
        encode = self.dictionary.encode
        table = self.table((TRIPLE, encode(predicate)))  # type: ignore[arg-type]
        return table is not None and all(
            isinstance(arg, Variable) or table.may_hold(column, encode(arg))  # type: ignore[arg-type]
            for column, arg in enumerate((subject, object_))
        )

    def may_read(self, relation: Relation) -> bool:
        """False only if the relation has no facts; applies no corrections."""
        return relation in self._tables or relation in self._changed_tables()


def smallest(sources: Sequence[LocalFacts]) -> int:
    """The size of the smallest of some sets; sizes of large sets are computed only if there is no small one."""
    small = [len(f) for s in sources if (f := s.coded) is not None]
    return min(small or map(len, sources), default=0)
