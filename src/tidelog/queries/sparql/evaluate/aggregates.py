"""Solution modifiers: GROUP BY with the aggregates of section 18.5.1, ORDER BY, projection, OFFSET and LIMIT.

If an expression fails in one row of a group, the group's SUM, AVG, MIN and MAX are unbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidelog.kernel.join import Bindings, Columns
from tidelog.kernel.rows import Ints
from tidelog.model.terms import Term, integer, is_blank, plain
from tidelog.queries.sparql.evaluate.query_dictionary import UNBOUND, Overlay
from tidelog.queries.sparql.evaluate.tables import column_of, concatenated, numbered
from tidelog.queries.sparql.syntax.algebra import AggregateCall, Expression, Group
from tidelog.rules.syntax import Variable
from tidelog.values.literals import string_term
from tidelog.values.sparql_comparison import sort_key
from tidelog.values.sparql_numbers import INTEGER_RANK, SparqlNumber, calculate, number, number_term

if TYPE_CHECKING:
    from tidelog.queries.sparql.evaluate.expressions import Expressions

_Numbers = list[SparqlNumber | None]


def ordered(table: Bindings, conditions: Sequence[tuple[Expression, bool]], expressions: Expressions) -> Bindings:
    """The rows in order. The sort is stable."""
    keys = []
    for expression, descending in conditions:
        expressions.budget.tick()
        rank = ranks(expressions.column(expression, table), expressions.overlay)
        keys.append(-rank if descending else rank)
    return table.take(np.lexsort(keys[::-1])) if table.length else table


def ranks(column: Ints, overlay: Overlay) -> Ints:
    """The rank of each term in the order of all terms of the column. Terms of equal value have the same rank."""
    number, first = numbered([column], len(column))
    keys = [sort_key(term) for term in overlay.decode_many(column[first])]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank = np.zeros(len(keys), dtype=np.int64)
    place = 0
    for before, at in pairwise(order):
        place += keys[before] != keys[at]
        rank[at] = place
    return rank[number]


def projected(block: Bindings, variables: tuple[Variable, ...]) -> Bindings:
    return Bindings({v: column_of(block, v) for v in variables}, block.length)


def sliced(blocks: Iterable[Bindings], offset: int, limit: int | None) -> Iterator[Bindings]:
    """The solutions from `offset` on, at most `limit`. Later blocks are not requested."""
    left = limit
    for block in blocks if limit != 0 else ():
        start = min(offset, block.length)
        offset -= start
        stop = block.length if left is None else min(block.length, start + left)
        if left is not None:
            left -= stop - start
        yield block.take(np.arange(start, stop, dtype=np.int64))
        if left == 0:
            return


_ZERO = SparqlNumber(INTEGER_RANK, 0)
_SAFE = 1 << 62  # sums of integers below it cannot overflow
_ALL, _WEIGHT = "all columns", "weight"
_ALL_VALUES = ("SUM", "AVG", "GROUP_CONCAT")  # depend on how often a value occurs


class Aggregation:
    """One grouping of a query."""

    def __init__(self, group: Group, expressions: Expressions) -> None:
        self.group = group
        self.expressions = expressions
        self.overlay = expressions.overlay

    def of(self, blocks: Iterable[Bindings]) -> Bindings:
        """One row for each group."""
        table = concatenated([self._inputs(block) for block in blocks], self.expressions.budget)
        keys = [column_of(table, variable) for variable, _ in self.group.keys]
        number, first = numbered(keys, table.length)
        count = 1 if self.group.implicit else len(first)
        columns: Columns = {v: k[first] for (v, _), k in zip(self.group.keys, keys, strict=True)}
        for variable, aggregate in self.group.aggregates:
            columns[variable] = self._aggregated(aggregate, table, variable, number, count)
        return Bindings(columns, count)

    def _inputs(self, block: Bindings) -> Bindings:
        """The keys of each solution and the arguments of its aggregates, as columns."""
        columns: Columns = {v: self.expressions.column(e, block) for v, e in self.group.keys}
        for variable, aggregate in self.group.aggregates:
            if aggregate.expression is not None:
                columns[variable] = self.expressions.column(aggregate.expression, block)
            elif aggregate.distinct:
                columns |= {(_ALL, name): column for name, column in block.columns.items()}
        if block.weight is not None:
            columns[_WEIGHT] = block.weight
        return Bindings(columns, block.length)

    def _aggregated(
        self, aggregate: AggregateCall, table: Bindings, variable: object, number: Ints, count: int
    ) -> Ints:
        weight = np.abs(column_of(table, _WEIGHT))  # 1 where the column is missing
        if aggregate.expression is None:
            return self._integers(self._rows(aggregate, table, number, count, weight))
        column = column_of(table, variable)
        if aggregate.distinct:
            _, first = numbered([number, column], len(column))
            first = np.sort(first)
            number, column, weight = number[first], column[first], np.ones(len(first), dtype=np.int64)
        if aggregate.function == "COUNT":
            return self._integers(_added(number, np.where(column >= 0, weight, 0), count))
        if aggregate.function in _ALL_VALUES and _WEIGHT in table.columns:
            self.expressions.budget.claim_table(int(weight.sum()), 2)
            number, column = np.repeat(number, weight), np.repeat(column, weight)
        known = column >= 0
        failed = np.zeros(count, dtype=np.bool_)
        if aggregate.function != "SAMPLE":
            failed[number[~known]] = True
        result = self._folded(aggregate, number[known], column[known], count)
        return np.where(failed, UNBOUND, result)

    def _rows(self, aggregate: AggregateCall, table: Bindings, number: Ints, count: int, weight: Ints) -> Ints:
        """COUNT(*): the number of solutions of each group, or of distinct solutions."""
        if aggregate.distinct:
            names = [n for n in table.columns if isinstance(n, tuple) and n[0] == _ALL]
            _, first = numbered([number, *(table.columns[n] for n in names)], table.length)
            return np.bincount(number[first], minlength=count)
        return _added(number, weight, count)

    def _integers(self, counts: Ints) -> Ints:
        distinct, back = np.unique(counts, return_inverse=True)
        return self.overlay.encode_many(map(integer, distinct.tolist()))[back]

    def _folded(self, aggregate: AggregateCall, number: Ints, column: Ints, count: int) -> Ints:
        match aggregate.function:
            case "SAMPLE":
                return _chosen(number, column, count)
            case "MIN" | "MAX":
                return self._extreme(number, column, count, aggregate.function == "MAX")
            case "SUM" | "AVG":
                return self._sums(number, column, count, aggregate.function == "AVG")
            case _:
                return self._concatenated(number, column, count, aggregate.separator)

    def _extreme(self, number: Ints, column: Ints, count: int, greatest: bool) -> Ints:
        rank = ranks(column, self.overlay)
        order = np.lexsort((-rank if greatest else rank, number))
        return _chosen(number[order], column[order], count)

    def _sums(self, number: Ints, column: Ints, count: int, average: bool) -> Ints:
        code, first = numbered([column], len(column))
        values = [number_of(t) for t in self.overlay.decode_many(column[first])]
        sizes: list[int] = np.bincount(number, minlength=count).tolist()
        sums = self._integer_sums(number, code, values, count)
        if sums is None:
            sums = self._plain_sums(number, [values[c] for c in code.tolist()], count)
        results = map(_average, sums, sizes) if average else sums
        return self.overlay.encode_many(None if r is None else number_term(r) for r in results)

    @staticmethod
    def _integer_sums(number: Ints, code: Ints, values: _Numbers, count: int) -> _Numbers | None:
        """The sum of each group if all values are integers and no sum can overflow; else None."""
        if any(v is None or v.rank != INTEGER_RANK for v in values):
            return None
        numbers = [int(v.value) for v in values if v is not None]
        if max(map(abs, numbers), default=0) * max(len(code), 1) >= _SAFE:
            return None
        sums = np.zeros(count, dtype=np.int64)
        np.add.at(sums, number, np.array(numbers, dtype=np.int64)[code])
        return [SparqlNumber(INTEGER_RANK, s) for s in sums.tolist()]

    @staticmethod
    def _plain_sums(number: Ints, values: _Numbers, count: int) -> _Numbers:
        sums: _Numbers = [_ZERO] * count
        for group, value in zip(number.tolist(), values, strict=True):
            before = sums[group]
            sums[group] = None if before is None or value is None else calculate("+", before, value)
        return sums

    def _concatenated(self, number: Ints, column: Ints, count: int, separator: str) -> Ints:
        code, first = numbered([column], len(column))
        texts = [text_of(t) for t in self.overlay.decode_many(column[first])]
        parts: list[list[str] | None] = [[] for _ in range(count)]
        for group, at in zip(number.tolist(), code.tolist(), strict=True):
            known, text = parts[group], texts[at]
            if known is None or text is None:
                parts[group] = None
            else:
                known.append(text)
        return self.overlay.encode_many(None if p is None else string_term(separator.join(p)) for p in parts)


def number_of(term: Term | None) -> SparqlNumber | None:
    return None if term is None else number(term)


def text_of(term: Term | None) -> str | None:
    """The text that GROUP_CONCAT uses for a term; None for a blank node."""
    return None if term is None or is_blank(term) else plain(term)


def _added(number: Ints, weight: Ints, count: int) -> Ints:
    """The sum of the weights of each group, in exact integers."""
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, number, weight)
    return sums


def _chosen(number: Ints, column: Ints, count: int) -> Ints:
    """The first value of each group."""
    chosen = np.full(count, UNBOUND, dtype=np.int64)
    chosen[number[::-1]] = column[::-1]
    return chosen


def _average(total: SparqlNumber | None, size: int) -> SparqlNumber | None:
    """The average of nothing is 0."""
    return _ZERO if not size else None if total is None else calculate("/", total, SparqlNumber(INTEGER_RANK, size))
