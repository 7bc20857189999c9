"""Evaluates the algebra: every operator reads tables of solutions and yields tables of solutions, block by block.

*Seeds* are a hint for the evaluation of a pattern: a table of values for variables that every solution of the pattern
binds. Solutions with other values may be left out, because the caller joins the result with the seeds anyway.

Inside EXISTS, every basic pattern starts with the solutions outside (substitution). `start` holds them, one row each;
the column `SOLUTION` numbers them, and everything inside is joined on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from tidelog.kernel.join import UNIT, Bindings, Columns
from tidelog.queries.limits import QueryBudget
from tidelog.queries.sparql.evaluate import tables
from tidelog.queries.sparql.evaluate.aggregates import Aggregation, ordered, projected, sliced
from tidelog.queries.sparql.evaluate.basic_patterns import BasicPatterns
from tidelog.queries.sparql.evaluate.expressions import ROW, Expressions, Truth, is_volatile
from tidelog.queries.sparql.evaluate.paths import Paths
from tidelog.queries.sparql.evaluate.query_dictionary import Overlay
from tidelog.queries.sparql.prepared import choice
from tidelog.queries.sparql.syntax import algebra
from tidelog.queries.sparql.syntax.algebra import Expression, Pattern
from tidelog.rules.syntax import Variable

SOLUTION = Variable(".solution")
Blocks = Iterator[Bindings]


class Evaluator:
    """Evaluates the patterns of one query."""

    def __init__(
        self, basic: BasicPatterns, paths: Paths, overlay: Overlay, budget: QueryBudget, start: Bindings = UNIT
    ) -> None:
        self.basic, self.paths, self.overlay, self.budget = basic, paths, overlay, budget
        self.start = start
        self._rows = 0

    @cached_property
    def expressions(self) -> Expressions:
        return Expressions(self.overlay, self.budget, self.exists)

    def whole(self, pattern: Pattern, seeds: Bindings | None = None) -> Bindings:
        """All solutions as one table."""
        return tables.gathered(self.solutions(pattern, seeds), self.budget)

    def solutions(self, pattern: Pattern, seeds: Bindings | None = None) -> Blocks:
        """The solutions of a pattern, in blocks that are not empty."""
        for block in self._solutions(pattern, seeds):
            self.budget.tick()
            if block.length:
                yield block

    def _solutions(self, pattern: Pattern, seeds: Bindings | None) -> Blocks:
        match pattern:
            case algebra.BasicPattern() | algebra.PathPattern():
                return self._leaf(pattern, self._begin(pattern, seeds))
            case algebra.Join():
                return self._join(pattern, seeds)
            case algebra.LeftJoin():
                return self._left_join(pattern, seeds)
            case algebra.Union(left, right):
                return self._union(left, right, seeds)
            case algebra.Minus():
                return self._minus(pattern, seeds)
            case algebra.Filter(inner, condition):
                return self._filter(condition, self.solutions(inner, self._hinted(condition, inner, seeds)))
            case algebra.Extend():
                return self._extend(pattern, seeds)
            case algebra.Values():
                return iter([self._values(pattern)])
            case algebra.GraphPattern():
                return iter(())  # there are no named graphs
            case _:
                return self._modified(pattern, seeds)

    def _begin(self, leaf: algebra.BasicPattern | algebra.PathPattern, seeds: Bindings | None) -> Bindings:
        if self.start is not UNIT or seeds is None or self.basic.is_smaller(leaf, seeds.length):
            return self.start
        return seeds

    def _leaf(self, pattern: algebra.BasicPattern | algebra.PathPattern, bindings: Bindings) -> Blocks:
        """The solutions of a pattern of triples, joined with `bindings`."""
        match pattern:
            case algebra.BasicPattern(()):
                yield bindings
            case algebra.BasicPattern():
                yield from self.basic.extend(pattern, bindings)
            case algebra.PathPattern():
                yield from self.paths.extend(pattern, bindings, substituted=self.start is not UNIT)

    def _join(self, pattern: algebra.Join, seeds: Bindings | None) -> Blocks:
        left, right = pattern.left, pattern.right
        if isinstance(right, algebra.BasicPattern | algebra.PathPattern):
            for block in self.solutions(left, self._seeds_for(left, seeds)):
                yield from self._join_leaf(block, right)
            return
        if isinstance(right, algebra.Values) and not isinstance(left, algebra.Values):
            yield from self._join(algebra.Join(right, left), seeds)
            return
        table = self.whole(left, self._seeds_for(left, seeds))
        if not table.length:
            return
        for block in self.solutions(right, self._seeds(right, table)):
            for rows in tables.pairs(table, block, self.budget):
                yield tables.merged(table, block, rows)

    def _join_leaf(self, block: Bindings, leaf: algebra.BasicPattern | algebra.PathPattern) -> Blocks:
        """Extend the block by the pattern. If the pattern alone has far fewer solutions, join with these instead."""
        if self.start is UNIT and self.basic.is_smaller(leaf, block.length):
            table = self.whole(leaf)
            for rows in tables.pairs(block, table, self.budget):
                yield tables.merged(block, table, rows)
            return
        yield from self._leaf(leaf, block)

    def _seeds_for(self, pattern: Pattern, seeds: Bindings | None) -> Bindings | None:
        """The columns of `seeds` that `pattern`, a part of a larger pattern, always binds."""
        if seeds is None or self.start is not UNIT:
            return None
        names = [n for n in seeds.columns if n in algebra.certain(pattern)]
        return seeds if len(names) == len(seeds.columns) else tables.distinct(seeds.only(names)) if names else None

    def _seeds(self, pattern: Pattern, table: Bindings) -> Bindings | None:
        return tables.seeds_of(table, algebra.certain(pattern)) if self.start is UNIT else None

    def _left_join(self, pattern: algebra.LeftJoin, seeds: Bindings | None) -> Blocks:
        matching = self._matching(pattern.right)
        for block in self.solutions(pattern.left, self._seeds_for(pattern.left, seeds)):
            yield from self._with_optional(block, matching(block), pattern)

    def _matching(self, pattern: Pattern) -> Callable[[Bindings], Bindings]:
        """A function from a block to the solutions of `pattern` to join with it; cached if there are no seeds."""
        found: list[Bindings] = []

        def of(block: Bindings) -> Bindings:
            if found:
                return found[0]
            seeds = self._seeds(pattern, block)
            table = self.whole(pattern, seeds)
            if seeds is None:
                found.append(table)
            return table

        return of

    def _with_optional(self, block: Bindings, right: Bindings, pattern: algebra.LeftJoin) -> Blocks:
        matched = np.zeros(block.length, dtype=np.bool_)
        for rows in tables.pairs(block, right, self.budget):
            both = tables.merged(block, right, rows)
            if pattern.condition is not None:
                true = self.expressions.truth(pattern.condition, both) > 0
                both, rows = both.take(true), (rows[0][true], rows[1][true])
            matched[rows[0]] = True
            yield both
        yield block.take(~matched)

    def _union(self, left: Pattern, right: Pattern, seeds: Bindings | None) -> Blocks:
        yield from self.solutions(left, self._seeds_for(left, seeds))
        yield from self.solutions(right, self._seeds_for(right, seeds))

    def _minus(self, pattern: algebra.Minus, seeds: Bindings | None) -> Blocks:
        constants = frozenset(self.start.columns)
        matching = self._matching(pattern.right)
        for block in self.solutions(pattern.left, self._seeds_for(pattern.left, seeds)):
            yield block.take(~tables.excluded(block, matching(block), constants))

    def _hinted(self, condition: Expression, pattern: Pattern, seeds: Bindings | None) -> Bindings | None:
        """The seeds, extended by the values that a filter allows for a variable that has no seeds yet."""
        hint = choice(condition) if self.start is UNIT else None
        if hint is None or hint[0] not in algebra.certain(pattern) or (seeds is not None and hint[0] in seeds.columns):
            return seeds
        table = Bindings({hint[0]: self.overlay.encode_many(hint[1])}, len(hint[1]))
        if seeds is None:
            return table
        rows = np.repeat(np.arange(seeds.length), table.length)
        return seeds.take(rows).with_column(hint[0], np.tile(table.columns[hint[0]], seeds.length))

    def _filter(self, condition: Expression, blocks: Blocks) -> Blocks:
        for block in blocks:
            yield block.take(self.expressions.truth(condition, block) > 0)

    def _extend(self, pattern: algebra.Extend, seeds: Bindings | None) -> Blocks:
        """Evaluate consecutive assignments together, on the same solutions."""
        assignments, inner = [pattern], pattern.pattern
        while isinstance(inner, algebra.Extend):
            assignments.append(inner)
            inner = inner.pattern
        for block in self.solutions(inner, self._seeds_for(inner, seeds)):
            table = block
            if any(is_volatile(a.expression) for a in assignments):
                table = block.with_column(ROW, np.arange(self._rows, self._rows + block.length))
                self._rows += block.length
            for assignment in reversed(assignments):
                column = self.expressions.column(assignment.expression, table)
                table = table.with_column(assignment.variable, column)
            yield table.only([n for n in table.columns if n != ROW])

    def _values(self, pattern: algebra.Values) -> Bindings:
        columns = zip(*pattern.rows, strict=True) if pattern.rows else [()] * len(pattern.variables)
        data: Columns = {v: self.overlay.encode_many(c) for v, c in zip(pattern.variables, columns, strict=True)}
        table = Bindings(data, len(pattern.rows))
        if self.start is UNIT:
            return table
        pairs = tables.pairs(self.start, table, self.budget)
        return tables.concatenated([tables.merged(self.start, table, rows) for rows in pairs], self.budget)

    def _modified(self, pattern: Pattern, seeds: Bindings | None) -> Blocks:
        """The solutions of a solution modifier, of the query or of a subquery."""
        if self.start is not UNIT:
            alone = Evaluator(self.basic, self.paths, self.overlay, self.budget)
            table = alone.whole(pattern)
            return (tables.merged(self.start, table, rows) for rows in tables.pairs(self.start, table, self.budget))
        match pattern:
            case algebra.Project(inner, variables):
                blocks = self.solutions(inner, self._seeds_for(inner, seeds))
                return (projected(block, variables) for block in blocks)
            case algebra.Distinct(inner):
                return self._distinct(self.solutions(inner, seeds))
            case algebra.Slice(inner, offset, limit):
                return sliced(self.solutions(inner), offset, limit)
            case algebra.Order(inner, conditions):
                return iter([ordered(self.whole(inner, seeds), conditions, self.expressions)])
            case algebra.Group():
                return iter([Aggregation(pattern, self.expressions).of(self._weighted(pattern.pattern))])
        raise AssertionError(pattern)

    def _weighted(self, pattern: Pattern) -> Blocks:
        """Solutions for aggregates: a row may stand for several solutions."""
        if isinstance(pattern, algebra.BasicPattern):
            return self.basic.weighted(pattern, UNIT)
        return self.solutions(pattern)

    def _distinct(self, blocks: Blocks) -> Blocks:
        """Each solution once: each block without the solutions of earlier blocks."""
        seen: Bindings | None = None
        for block in blocks:
            fresh = tables.distinct(block)
            if seen is not None:
                fresh = fresh.take(~tables.is_among(fresh, seen))
            seen = fresh if seen is None else tables.concatenated([seen, fresh], self.budget)
            yield fresh

    def exists(self, pattern: Pattern, table: Bindings) -> Truth:
        """For each row, whether the pattern has a solution after the row's values are substituted for its variables."""
        inside = algebra.everywhere(pattern)
        names = [n for n in table.columns if n in inside]
        back, first = tables.numbered([table.columns[n] for n in names], table.length)
        start = table.take(first, names).with_column(SOLUTION, np.arange(len(first), dtype=np.int64))
        found = np.zeros(len(first), dtype=np.int8)
        if start.length:
            within = Evaluator(self.basic, self.paths, self.overlay, self.budget, start)
            for block in within.solutions(pattern):
                found[block.columns[SOLUTION]] = 1
        return found[back]
