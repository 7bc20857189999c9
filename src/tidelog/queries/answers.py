"""Answers: rows of values. A row is decoded when it is read.

Rows are tuples of Python values: `int`, `float`, `bool`, `str` for numbers, plain names and strings, and `IRI`,
`BlankNode`, `Literal` for RDF terms (see `tidelog.model.terms`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from tidelog import tuning
from tidelog.algebra.fact_set import without_helpers
from tidelog.dictionary import Dictionary
from tidelog.errors import UsageError
from tidelog.model.terms import Value, to_value
from tidelog.rules.printer import format_fact

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from tidelog.algebra.fact_set import FactSet
    from tidelog.kernel.rows import Ints

_SHOWN = 20


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

    def __len__(self) -> int:
        return self._length

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
        more = f"\n… {self._length} rows in all" if self._length > _SHOWN else ""
        rows = "\n".join("  ".join(map(str, row)) for row in islice(self, _SHOWN))
        return f"{'  '.join(self.names)}\n{rows}{more}"


class _Marked(Answers):
    def __init__(self, answers: Answers) -> None:
        super().__init__((*answers.names, "asserted"), lambda: (), len(answers), answers._dictionary)
        self._answers = answers

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return ((*row, mark) for row, mark in zip(self._answers, self._answers.asserted, strict=True))


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

    def __str__(self) -> str:
        return "\n".join(self.texts())

    def __repr__(self) -> str:
        more = f"\n… {len(self)} facts in all" if len(self) > _SHOWN else ""
        return "\n".join(islice(self.texts(), _SHOWN)) + more


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
