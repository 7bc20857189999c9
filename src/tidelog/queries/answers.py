"""Answers: rows of values. A row is decoded when it is read.

Rows are tuples of Python values: `int`, `float`, `bool`, `str` for numbers, plain names and strings, and `IRI`,
`BlankNode`, `Literal` for RDF terms (see `tidelog.model.terms`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

from tidelog import tuning
from tidelog.algebra.fact_set import without_helpers
from tidelog.dictionary import Dictionary
from tidelog.errors import UsageError
from tidelog.model.terms import Fact, Term, Value, plain_text, to_term, to_value
from tidelog.queries.notebook import lines_html, table_html
from tidelog.rules.printer import format_fact, format_term

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from tidelog.algebra.fact_set import FactSet
    from tidelog.kernel.rows import Ints
    from tidelog.rules.syntax import Atom

_SHOWN = 20
_MARKED = 10_000  # facts at most that are checked for being explicit, to display some of them


class RowTable(ABC):
    """Rows that can be read as tuples, and converted to tables of other libraries."""

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...

    @abstractmethod
    def to_arrow(self) -> pyarrow.Table: ...

    def to_rows(self) -> list[tuple[Any, ...]]:
        """All rows as a list."""
        return list(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame (needs pandas)."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """A Spark DataFrame in the given session."""
        return spark.createDataFrame(self.to_arrow())


class Answers(RowTable):
    """The rows of a query or of one relation.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="age(ann, 42) . age(bob, 7) .")
    >>> rows = kb.query("age(?who, ?n), ?n > 10")
    >>> rows.names, len(rows), list(rows)
    (('who', 'n'), 1, [('ann', 42)])
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Callable[[], Sequence[Ints]],
        length: int,
        dictionary: Dictionary,
        marks: Callable[[], list[bool]] | None = None,
    ) -> None:
        """`columns` is called when a row is first read, and `marks` when `asserted` is first read."""
        self.names = tuple(names)
        self._make_columns = columns
        self._length = length
        self._dictionary = dictionary
        self._marks = marks

    @cached_property
    def _columns(self) -> Sequence[Ints]:
        return self._make_columns()

    @property
    def is_boolean(self) -> bool:
        """Whether the query has no variables: its answer is that there is a row or that there is none."""
        return not self.names

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: SupportsIndex) -> tuple[Any, ...]: ...

    @overload
    def __getitem__(self, at: slice) -> Self: ...

    def __getitem__(self, at: SupportsIndex | slice) -> tuple[Any, ...] | Self:
        """The row with a number, which may count from the end, or the answers with the rows of a slice.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add={"n": [(1,), (2,), (3,)]})
        >>> rows = kb.query("n(?x)")
        >>> rows[0], rows[-1], list(rows[1:])
        ((1,), (3,), [(2,), (3,)])
        """
        if isinstance(at, slice):
            return self._part(at)
        index = row_number(at, self._length)
        return next(iter(self._part(slice(index, index + 1))))

    def _part(self, at: slice) -> Self:
        part = copy(self)
        part.__dict__.pop("_columns", None)
        part.__dict__.pop("asserted", None)
        part._make_columns = lambda: [column[at] for column in self._columns]
        part._length = len(range(self._length)[at])
        part._marks = None if self._marks is None else lambda: self.asserted[at]
        return part

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        if not self._columns:
            yield from [()] * self._length
        for start in range(0, self._length, tuning.ANSWER_BLOCK_ROWS) if self._columns else ():
            block = [self._dictionary.decode_many(c[start : start + tuning.ANSWER_BLOCK_ROWS]) for c in self._columns]
            yield from zip(*(map(to_value, column) for column in block), strict=True)

    @cached_property
    def asserted(self) -> list[bool]:
        """For each row, whether explicit facts alone give it. All other rows need a derived fact.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) . q(b) .", add_rules="q(?x) :- p(?x) .")
        >>> rows = kb.query("q(?x)")
        >>> sorted(zip(rows, rows.asserted))
        [(('a',), False), (('b',), True)]
        """
        if self._marks is None:
            raise UsageError("these answers do not know which of them are asserted")
        return self._marks()

    def marked(self) -> Answers:
        """The rows with one more column, `asserted`.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> list(kb.query("p(?x)").marked()), list(kb.query("q(?x)").marked())
        ([('a', True)], [('a', False)])
        """
        return _Marked(self)

    def with_marks(self, marks: Callable[[], list[bool]]) -> Self:
        """Set the function that computes `asserted`, and return these answers."""
        self._marks = marks
        return self

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Answers are pickled as their names and rows, and as what `asserted` said if it was read."""
        return _unpickled, (self.names, list(term_rows(self)), self.__dict__.get("asserted"))

    def term_blocks(self) -> Iterator[list[pyarrow.Array]]:
        """Yield blocks of rows; each is a list of columns, pyarrow arrays of canonical term texts."""
        for start in range(0, self._length, tuning.ANSWER_BLOCK_ROWS):
            yield [self._dictionary.decode_array(c[start : start + tuning.ANSWER_BLOCK_ROWS]) for c in self._columns]

    def to_arrow(self, limit: int | None = None) -> pyarrow.Table:
        """A pyarrow Table of all rows, or of the first `limit`. A column of several types becomes strings."""
        import pyarrow as pa

        columns = list(zip(*islice(self, limit), strict=True)) or [()] * len(self.names)
        return pa.table([_plain_column(c) for c in columns], names=list(self.names))

    def __repr__(self) -> str:
        if self.is_boolean:
            return plain_text(self._length > 0)
        more = f"\n… {self._length} rows in all" if self._length > _SHOWN else ""
        rows = "\n".join("  ".join(map(value_text, row)) for row in islice(self, _SHOWN))
        return f"{'  '.join(self.names)}\n{rows}{more}"

    def _repr_html_(self) -> str:
        if self.is_boolean:
            return table_html((), [(repr(self),)])
        rows = (list(map(value_text, row)) for row in islice(self, _SHOWN))
        return table_html(self.names, rows, more=self._length - _SHOWN)


class _Unpickled(Answers):
    """Answers that were pickled: rows of terms, None where a variable has no value."""

    def __init__(
        self, names: Sequence[str], rows: Sequence[tuple[bytes | None, ...]], asserted: list[bool] | None
    ) -> None:
        super().__init__(names, lambda: (), len(rows), Dictionary(), None if asserted is None else lambda: asserted)
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return (tuple(None if text is None else to_value(Term(text.decode())) for text in row) for row in self._rows)

    def _part(self, at: slice) -> Self:
        asserted = self.__dict__.get("asserted")
        return type(self)(self.names, self._rows[at], None if asserted is None else asserted[at])

    def term_blocks(self) -> Iterator[list[pyarrow.Array]]:
        import pyarrow as pa

        if self._rows:
            yield [pa.array(column, pa.binary()) for column in zip(*self._rows, strict=True)]


def _unpickled(
    names: Sequence[str], rows: Sequence[tuple[bytes | None, ...]], asserted: list[bool] | None
) -> _Unpickled:
    return _Unpickled(names, rows, asserted)


class _Marked(Answers):
    def __init__(self, answers: Answers) -> None:
        super().__init__((*answers.names, "asserted"), lambda: (), len(answers), answers._dictionary)
        self._answers = answers

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return ((*row, mark) for row, mark in zip(self._answers, self._answers.asserted, strict=True))

    def _part(self, at: slice) -> Self:
        return type(self)(self._answers[at])


class FactAnswers(RowTable):
    """Facts of any number of relations: rows `(predicate, argument, …)`; printed as facts.

    The facts of helper relations of rule sets and ontologies are left out; `of` and `with_helpers` return them.

    >>> import tidelog
    >>> change = tidelog.open().apply(add="p(a) . q(1, 2) .")
    >>> sorted(change.added), len(change.added)
    ([('p', 'a'), ('q', 1, 2)], 2)
    >>> print(change.added.of("q"))
    q(1, 2) .
    """

    def __init__(
        self,
        facts: FactSet | Callable[[], FactSet],
        explicit: FactSet | Callable[[], FactSet] | None = None,
        length: int | None = None,
        *,
        helpers: bool = False,
    ) -> None:
        """`facts` is a set, or a function that is called when a fact is first read; likewise `explicit`.

        `length` is the number of rows if it is known; `helpers` says whether rows of helper relations are among them.
        """
        self._given = facts
        self._explicit = explicit
        self._length = length
        self._helpers = helpers

    @cached_property
    def _all(self) -> FactSet:
        return self._given() if callable(self._given) else self._given

    @cached_property
    def _facts(self) -> FactSet:
        return self._all if self._helpers else without_helpers(self._all)

    def with_helpers(self) -> FactAnswers:
        """The facts of all relations, also of helper relations."""
        return FactAnswers(lambda: self._all, self._explicit, helpers=True)

    def __len__(self) -> int:
        return len(self._facts) if self._length is None else self._length

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        for fact in self._facts:
            yield (fact.predicate, *map(to_value, fact.args))

    def relations(self) -> dict[str, int]:
        """The number of facts of each predicate."""
        return self._facts.predicates()

    def of(self, predicate: str) -> FactAnswers:
        """Only the facts of one predicate."""
        return FactAnswers(self._all.of_predicate(predicate), self._explicit, helpers=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Facts are pickled with whether they are explicit, if that is known."""
        if self._explicit is None:
            return FactAnswers, (KeptFacts(tuple(self._all)), None)
        explicit = self._explicit() if callable(self._explicit) else self._explicit
        return FactAnswers, (KeptFacts(tuple(self._all)), KeptFacts(tuple(self._all & explicit)))

    @cached_property
    def asserted(self) -> list[bool]:
        """For each fact, whether it is explicit. For a fact that a change removed: whether it was explicit before.

        >>> import tidelog
        >>> change = tidelog.open().apply(add="p(a) .", add_rules="q(?x) :- p(?x) .")
        >>> sorted(zip(change.added, change.added.asserted))
        [(('p', 'a'), True), (('q', 'a'), False)]
        """
        if self._explicit is None:
            raise UsageError("these facts do not know which of them are asserted")
        return marks(self._facts, self._explicit() if callable(self._explicit) else self._explicit)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table with the columns `predicate`, `arg1`, `arg2`, …; null where a fact has fewer arguments."""
        import pyarrow as pa

        rows = self.to_rows()
        width = max(map(len, rows), default=1)
        padded = [(*row, *[None] * (width - len(row))) for row in rows]
        columns = list(zip(*padded, strict=True)) if padded else [() for _ in range(width)]
        names = ["predicate", *(f"arg{i}" for i in range(1, width))]
        return pa.table([_plain_column(c) for c in columns], names=names)

    def texts(self, prefixes: Mapping[str, str] | None = None) -> Iterator[str]:
        """Each fact as text. The text can be parsed again if the prefixes are declared."""
        return (format_fact(fact, prefixes) for fact in self._facts)

    @overload
    def __getitem__(self, at: SupportsIndex) -> tuple[Value, ...]: ...

    @overload
    def __getitem__(self, at: slice) -> list[tuple[Value, ...]]: ...

    def __getitem__(self, at: SupportsIndex | slice) -> tuple[Value, ...] | list[tuple[Value, ...]]:
        """The row with a number, which may count from the end, or the rows of a slice.

        >>> import tidelog
        >>> change = tidelog.open().apply(add="p(a) . p(b) .")
        >>> change.added[0], change.added[1:]
        (('p', 'a'), [('p', 'b')])
        """
        wanted = range(len(self))[at] if isinstance(at, slice) else [row_number(at, len(self))]
        rows = dict(zip(range(max(wanted, default=-1) + 1), self, strict=False))
        return [rows[i] for i in wanted] if isinstance(at, slice) else rows[wanted[0]]

    def __str__(self) -> str:
        return "\n".join(self.texts())

    def __repr__(self) -> str:
        more = f"\n… {len(self)} facts in all" if len(self) > _SHOWN else ""
        return "\n".join(islice(self.texts(), _SHOWN)) + more

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, sign: str = "") -> str:
        """The first facts as lines of HTML. With a sign, `+` or `-`, the lines are those of a change, with marks."""
        texts: Iterator[str] = self.texts()
        if sign and self._explicit is not None and len(self) <= _MARKED:
            texts = (text if given else f"{text}  % derived" for text, given in zip(texts, self.asserted, strict=True))
        return lines_html(islice(texts, _SHOWN), len(self) - _SHOWN, sign)


def row_number(at: SupportsIndex, length: int) -> int:
    """The number of a row from the start. Raises IndexError, and TypeError for a name."""
    if isinstance(at, str):
        raise TypeError(f"rows have numbers, not names; for the column {at!r} use .to_pandas()[{at!r}]")
    try:
        return range(length)[at]
    except IndexError:
        rows = f"rows are numbered 0 to {length - 1}" if length else "there are no rows"
        raise IndexError(f"there is no row {index(at)}; {rows}") from None


def value_text(value: object, prefixes: Mapping[str, str] | None = None) -> str:
    """A value as it is written in rules; nothing for an unbound variable.

    >>> from tidelog import IRI, BlankNode
    >>> value_text("ann"), value_text("Ann Lee"), value_text(BlankNode("b")), value_text(IRI("http://e.org/a"))
    ('ann', '"Ann Lee"', '_:b', '<http://e.org/a>')
    """
    return "" if value is None else format_term(to_term(value), prefixes)


@dataclass(frozen=True)
class KeptFacts:
    """A set of facts that was pickled. It implements what answers use of `FactSet`."""

    rows: tuple[Fact, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.rows)

    def __or__(self, other: Self) -> Self:
        return replace(self, rows=tuple(dict.fromkeys((*self.rows, *other.rows))))

    def __and__(self, other: Self) -> Self:
        known = set(other.rows)
        return replace(self, rows=tuple(fact for fact in self.rows if fact in known))

    def __sub__(self, other: Self) -> Self:
        known = set(other.rows)
        return replace(self, rows=tuple(fact for fact in self.rows if fact not in known))

    def predicates(self) -> dict[str, int]:
        return dict(Counter(fact.predicate for fact in self.rows))

    def count_of(self, predicate: str) -> int:
        return self.predicates().get(predicate, 0)

    def arities(self) -> dict[str, int]:
        return {fact.predicate: len(fact.args) for fact in self.rows}

    def of_predicate(self, predicate: str) -> Self:
        return replace(self, rows=tuple(fact for fact in self.rows if fact.predicate == predicate))

    def may_match(self, atom: Atom) -> bool:
        return bool(self.count_of(atom.predicate))


def marks(facts: FactSet, explicit: FactSet) -> list[bool]:
    """For each fact, in order, whether it is in `explicit`."""
    asserted = set(facts & explicit)
    return [fact in asserted for fact in facts]


def rows_among(answers: Answers, others: Answers) -> list[bool]:
    """For each row of `answers`, in order, whether `others` has a row of the same terms."""
    known = set(term_rows(others))
    return [row in known for row in term_rows(answers)]


def term_rows(answers: Answers) -> Iterator[tuple[bytes | None, ...]]:
    """The rows as canonical term texts, None where a variable is unbound."""
    if not answers.names:
        yield from [()] * len(answers)
    for block in answers.term_blocks() if answers.names else ():
        yield from zip(*(column.to_pylist() for column in block), strict=True)


def _plain_column(column: Sequence[Value | None]) -> pyarrow.Array:
    """An Arrow array of integers, floats or booleans if all values have that one type and fit; else of texts."""
    import pyarrow as pa

    kinds = {type(v) for v in column if v is not None}
    if kinds in ({int}, {float}, {bool}):
        with suppress(OverflowError):
            return pa.array(column)
    return pa.array([None if v is None else str(v) for v in column], pa.string())
