"""Facts as tables of term ids. Triples are split by predicate, so `[?x, ub:worksFor, ?y]` is a binary relation.

    facts  =  (tables - dead) | plus        dead and plus are small, and each of them is one array for all relations

A small set has no tables, only `plus`. A small change to a large set is written down in `dead` and `plus`, and carried
out for a relation when somebody reads it: most of what an algorithm takes from I or adds to it nobody reads.

Relations as tables know them, and the numbers that small sets of facts use for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from types import MappingProxyType
from weakref import WeakKeyDictionary, ref

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.kernel.lookup import NONE, WIDTH, Lookup, Mixed, bits_for, encode
from tidelog.kernel.rows import Ints, Mask, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.facts import Fact
from tidelog.model.terms import TRIPLE
from tidelog.rules.syntax import Atom, Variable

# (predicate, id of the triple's predicate, or -1 for any relation but `triple`)
Relation = tuple[str, int]
WHOLE = -1


class Numbering:
    """Relations of at most two columns, numbered as they come; one for each dictionary."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Relation, int], int] = {}
        self._lock = Lock()
        self.relations: list[tuple[Relation, int]] = []  # relation and number of columns, by number

    @staticmethod
    def of(dictionary: Dictionary) -> Numbering:
        global _last
        known, numbering = _last
        if known() is not dictionary:
            found = _NUMBERINGS.get(dictionary)
            numbering = _NUMBERINGS.setdefault(dictionary, Numbering()) if found is None else found
            _last = ref(dictionary), numbering
        return numbering

    def number(self, relation: Relation, arity: int) -> int | None:
        """None for a relation that is too wide."""
        number = self._numbers.get((relation, arity))
        return self._new(relation, arity) if number is None and arity <= WIDTH else number

    def _new(self, relation: Relation, arity: int) -> int:
        with self._lock:
            if (relation, arity) not in self._numbers:
                self.relations.append((relation, arity))
                self._numbers[relation, arity] = len(self.relations) - 1
            return self._numbers[relation, arity]

    def bits(self, ids: int) -> int | None:
        """How many bits ids take in codes now that there are so many; None where codes cannot be used."""
        return bits_for(ids, len(self.relations))


_NUMBERINGS: WeakKeyDictionary[Dictionary, Numbering] = WeakKeyDictionary()
_last: tuple[Callable[[], Dictionary | None], Numbering] = (lambda: None), Numbering()  # asked for again and again


FEW = 200_000  # facts that are held as one array at most
_TINY = 2_048  # so many facts are copied without a thought
_SMALL = 32_768  # and so many unless tables were made of them: in a stretch of one array a few are found as well
_LOPSIDED = 4  # a change this many times smaller than a set is written down beside its tables
_CORRECTIONS = 256  # facts in `dead` and `plus` from which on they are carried out before more is written down
_MOST_CORRECTIONS = 16_384  # the same for a set to which a change is made for the first time: it may be the last
_BLOCK = 16_384


class LocalFacts:
    """An immutable set of facts; see `tidelog.algebra.fact_set`."""

    def __init__(
        self, dictionary: Dictionary, tables: Mapping[Relation, Table], dead: Mixed = NONE, plus: Mixed = NONE
    ) -> None:
        self.dictionary = dictionary
        self._tables = tables
        self._dead, self._plus = dead, plus
        self.few: Mixed | None = None if tables else plus  # all facts as one array, if this set is held so
        self._read: dict[Relation, Table | None] = {}
        self._lookups: dict[int, Lookup | None] = {}
        self._is_base = False  # whether a change to it was written down

    @classmethod
    def of_rows(cls, dictionary: Dictionary, parts: Sequence[tuple[Relation, int, Ints]]) -> LocalFacts | None:
        """A small set of packed rows (relation, number of columns, rows); None if it has to have tables."""
        numbering = Numbering.of(dictionary)
        numbers = [numbering.number(relation, arity) for relation, arity, _ in parts]
        bits = numbering.bits(len(dictionary))
        if bits is None or sum(rows.shape[1] for _, _, rows in parts) > FEW:
            return None
        known = [n for n in numbers if n is not None]
        if len(known) < len(parts):
            return None
        mixed = Mixed.of_rows(bits, known, [rows[0] for _, _, rows in parts]) if parts else NONE
        return cls(dictionary, {}, plus=mixed)

    @property
    def is_narrow(self) -> bool:
        """Whether no relation is too wide for codes."""
        return all(table.arity <= WIDTH for table in self.tables.values())

    def narrow(self, bits: int) -> Mixed:
        """The facts of all relations that are not too wide, as one array."""
        codes = [NONE.codes]
        for relation, table in self.tables.items():
            number = Numbering.of(self.dictionary).number(relation, table.arity)
            if number is not None:
                missing = [np.zeros(len(table), dtype=np.int64)] * (WIDTH - table.arity)
                codes.append(encode(bits, number, *[*missing, *table.columns()]))
        return Mixed.of(bits, np.concatenate(codes))

    def with_few(self, facts: Mixed) -> LocalFacts:
        """A small set, or one that has just become too large for that."""
        if len(facts) > FEW:
            return LocalFacts(self.dictionary, self._cut(facts))
        return LocalFacts(self.dictionary, {}, plus=facts)

    def _cut(self, facts: Mixed) -> dict[Relation, Table]:
        """The tables of a small set."""
        if not len(facts):
            return {}
        numbered, ids = Numbering.of(self.dictionary).relations, len(self.dictionary)
        packed = facts.packed().reshape(1, -1)
        tables = {}
        for number, (start, stop) in facts.segments.items():
            relation, arity = numbered[number]
            tables[relation] = Table((Run(layout_for(arity, ids), packed[:, start:stop]),))
        return tables

    @cached_property
    def _changes(self) -> dict[Relation, tuple[Table | None, Table | None]]:
        """What is taken from the table of a relation, and what is added to it."""
        dead, plus = self._cut(self._dead), self._cut(self._plus)
        return {relation: (dead.get(relation), plus.get(relation)) for relation in (*dead, *plus)}

    def table(self, relation: Relation) -> Table | None:
        """The facts of one relation, if there are any."""
        if relation not in self._changes:
            return self._tables.get(relation)
        if relation not in self._read:
            self._read[relation] = self._changed(self._tables.get(relation), *self._changes[relation])
        return self._read[relation]

    def lookup(self, number: int) -> Lookup | None:
        """The facts of a numbered relation, to look up a few in them; carries nothing out."""
        if number not in self._lookups:
            self._lookups[number] = self._lookup(number)
        return self._lookups[number]

    def _lookup(self, number: int) -> Lookup | None:
        table = self._tables.get(Numbering.of(self.dictionary).relations[number][0]) if self._tables else None
        if table is None and number not in self._plus.segments:
            return None
        return Lookup(table, self._dead, self._plus, number)

    @staticmethod
    def _changed(table: Table | None, dead: Table | None, plus: Table | None) -> Table | None:
        if table is not None and dead is not None:
            table = table.minus(dead)
        if plus is None:
            return table
        return plus if table is None else table.plus(plus)

    @cached_property
    def tables(self) -> Mapping[Relation, Table]:
        """The tables of all relations that have facts."""
        tables = dict(self._tables)
        for relation in self._changes:
            table = self.table(relation)
            if table is not None:
                tables[relation] = table
            else:
                tables.pop(relation, None)
        return MappingProxyType(tables)

    @cached_property
    def size(self) -> int:
        """Counted, not carried out: a change tells how many facts there are, whoever reads them."""
        size = self._in_tables
        if len(self._dead):
            size -= int(np.count_nonzero(self._in_table(self._dead)))
        if len(self._plus):
            size += len(self._plus) - int(np.count_nonzero(self._kept(self._plus)))
        return size

    @cached_property
    def _in_tables(self) -> int:
        return sum(map(len, self._tables.values()))

    def __len__(self) -> int:
        return self.size if self._tables else len(self._plus.codes)

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
        mine, theirs = self.few, other.few
        if other is self or (theirs is not None and not len(theirs)):
            return self
        if mine is not None and (theirs is None or len(mine) < len(theirs)):
            return other | self
        if theirs is None:
            return self._or_tables(other)
        if mine is not None and not self._keeps_tables(theirs):
            return self.with_few(mine.plus(theirs))
        tables, dead, plus = self._base()
        return LocalFacts(self.dictionary, tables, dead, plus.plus(theirs))

    def __sub__(self, other: LocalFacts) -> LocalFacts:
        mine, theirs = self.few, other.few
        if (theirs is not None and not len(theirs)) or (mine is not None and not len(mine)):
            return self
        if mine is not None and theirs is None:
            return self.with_few(mine.keep(~other.holds(mine)))
        if theirs is None:
            return self._minus_tables(other)
        if mine is not None and not self._keeps_tables(theirs):
            return self.with_few(mine.minus(theirs))
        tables, dead, plus = self._base()
        return LocalFacts(self.dictionary, tables, dead.plus(theirs), plus.minus(theirs))

    def __and__(self, other: LocalFacts) -> LocalFacts:
        mine, theirs = self.few, other.few
        if mine is not None and theirs is not None:
            return self.with_few(mine.common(theirs))
        if mine is not None:
            return self.with_few(mine.keep(other.holds(mine)))
        return other & self if theirs is not None else self._and_tables(other)

    def _base(self) -> tuple[Mapping[Relation, Table], Mixed, Mixed]:
        """Tables, and what is written down beside them: little enough to add to it."""
        corrections = len(self._dead) + len(self._plus)
        if not self._tables or (corrections > _CORRECTIONS and (self._is_base or corrections > _MOST_CORRECTIONS)):
            return self.tables, NONE, NONE
        self._is_base = True
        return self._tables, self._dead, self._plus

    def _keeps_tables(self, change: Mixed) -> bool:
        """Whether tables that were read are worth more than a small set that is copied with the change."""
        if len(self._plus) <= _LOPSIDED * len(change) or len(self._plus) <= min(_TINY, _SMALL):
            return False
        if "_changes" in self.__dict__:
            return len(self._plus) > _TINY
        return bool(self._lookups) and len(self._plus) > _SMALL

    def holds(self, facts: Mixed) -> Mask:
        """Which of some facts are here."""
        found = self._kept(facts)
        return found | self._plus.holds(facts) if len(self._plus) else found

    def _kept(self, facts: Mixed) -> Mask:
        """Which of some facts are in a table, and not taken from it."""
        if not len(self._dead):
            return self._in_table(facts)
        found = ~self._dead.holds(facts)
        found[found] = self._in_table(facts.keep(found))
        return found

    def _in_table(self, facts: Mixed) -> Mask:
        found = np.zeros(len(facts), dtype=np.bool_)
        if self._tables:
            numbered, packed = Numbering.of(self.dictionary).relations, facts.packed().reshape(1, -1)
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
        """What is left of large sets, which may be little."""
        if sum(map(len, tables.values())) > FEW or any(t.arity > WIDTH for t in tables.values()):
            return LocalFacts(self.dictionary, tables)
        few = LocalFacts.of_rows(self.dictionary, [(r, t.arity, t.flat.rows) for r, t in tables.items()])
        return LocalFacts(self.dictionary, tables) if few is None else few

    def predicates(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for (predicate, _), table in self.tables.items():
            sizes[predicate] = sizes.get(predicate, 0) + len(table)
        return sizes

    def arities(self) -> dict[str, int]:
        """How many arguments the facts of each predicate have."""
        return {name: 3 if name == TRIPLE else arity for (name, _), arity in self._relations()}

    def _relations(self) -> Iterator[tuple[Relation, int]]:
        """The relations that have facts, and how many columns; tables are changed only where that may leave nothing."""
        numbered = Numbering.of(self.dictionary).relations
        doubtful = {numbered[number][0]: stop - start for number, (start, stop) in self._dead.segments.items()}
        for relation, table in self._tables.items():
            if doubtful.get(relation, 0) < len(table) or self.table(relation) is not None:
                yield relation, table.arity
        yield from (numbered[number] for number in self._plus.segments)

    def of_predicate(self, predicate: str) -> LocalFacts:
        return LocalFacts(self.dictionary, {r: t for r, t in self.tables.items() if r[0] == predicate})

    @cached_property
    def triple_tables(self) -> dict[int, Table]:
        """The tables of `triple`, by the id of their predicate."""
        return {split: table for (predicate, split), table in self.tables.items() if predicate == TRIPLE}

    @cached_property
    def triples(self) -> int:
        """How many triples there are."""
        return sum(map(len, self.triple_tables.values()))

    def thinned(self, count: int) -> LocalFacts:
        """About so many of the facts, evenly spread: at least one of each relation, or of every second, third …"""
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
        """False only if the relation has no facts; carries nothing out."""
        return relation in self._tables or relation in self._changes


def smallest(sources: Sequence[LocalFacts]) -> int:
    """How many facts the smallest of some sets has; the sizes of large ones are asked only if there is no small one."""
    few = [len(f) for s in sources if (f := s.few) is not None]
    return min(few or map(len, sources), default=0)
