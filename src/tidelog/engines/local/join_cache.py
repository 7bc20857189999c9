"""Atoms of a body that read unchanged tables are joined once, and the join is reused.

In a recursive stratum most atoms of a long body read relations that no longer change:

    subClass(?C, ?X) :- link(?C, ?R, ?D), subClass(?D, ?E), subRole(?R, ?S), exists(?X, ?S, ?E), left(?X) .

From one batch of rules to the next the tables of `subRole`, `exists` and `left` are the same objects. Their join is a
relation over (?R, ?E, ?X) that replaces the three atoms until one of the tables changes.

The join must not cost more than it can save. So a rule must first have looked at as many rows as the tables have: a
change of one fact never joins two large relations. The join in turn looks at no more rows than the rule has since its
last join (or than `JOIN_GROWTH` times the rows of the tables), because millions of matches may give few distinct rows.
Each row has the number of matches it stands for, so the number of derivations does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from weakref import ref

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import WHOLE, LocalFacts
from tidelog.engines.local.plan import AtomPattern, BodyStep, needs
from tidelog.engines.local.solve import Effort, Solver
from tidelog.kernel.join import Bindings, Columns
from tidelog.kernel.rows import layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.rules.syntax import Rule, Variable

Reference = Callable[[], Table | None]

_JOINED = "(joined)"


@dataclass
class _RuleRecord:
    """The tables that a rule read in the last batch, and the rows that it has looked at in total."""

    rule: Rule  # a reference, so that no other rule gets its id
    batch: int
    tables: list[Reference]  # weak, so that unused tables are freed
    unchanged: list[bool]
    effort: Effort = field(default_factory=Effort)
    joins: dict[tuple[int, ...], _CachedJoin] = field(default_factory=dict)


@dataclass(frozen=True)
class _CachedJoin:
    tables: tuple[Reference, ...]
    pattern: AtomPattern | None  # None: too large


class JoinCache:
    """The cached joins of one engine."""

    def __init__(self, solver: Solver, dictionary: Dictionary) -> None:
        self.solver = solver
        self.dictionary = dictionary
        self.batch = 0
        self.records: dict[int, _RuleRecord] = {}

    def new_batch(self, rules: Sequence[Rule]) -> None:
        """Start a batch. Tables are compared from batch to batch; records of rules that no longer run are dropped."""
        self.batch += 1
        if len(self.records) > 4 * len(rules) + 256:
            current = {id(r) for r in rules}
            self.records = {i: r for i, r in self.records.items() if i in current}

    def rewrite(self, rule: Rule, steps: list[BodyStep], wanted: Collection[Variable]) -> tuple[list[BodyStep], Effort]:
        """The steps with unchanged atoms replaced by their join, and the counter for the rows looked at."""
        record = self._record(rule, steps)
        tables = [_table(s) for s in steps]
        static = [u and t is old() for u, t, old in zip(record.unchanged, tables, record.tables, strict=True)]
        for group in _groups(steps, static):
            if record.effort.rows >= sum(len(t) for i in group if (t := tables[i]) is not None):
                pattern = self._joined(record, steps, group, wanted)
                if pattern is not None:
                    rest = [s for i, s in enumerate(steps) if i not in group]
                    return [*rest, pattern], record.effort
        return steps, record.effort

    def _record(self, rule: Rule, steps: Sequence[BodyStep]) -> _RuleRecord:
        record = self.records.get(id(rule))
        tables = [_table(s) for s in steps]
        if record is None or len(record.tables) != len(tables):
            record = self.records[id(rule)] = _RuleRecord(rule, self.batch, _references(tables), [False] * len(tables))
        elif record.batch != self.batch:
            record.unchanged = [t is not None and t is old() for t, old in zip(tables, record.tables, strict=True)]
            record.tables, record.batch = _references(tables), self.batch
        return record

    def _joined(
        self, record: _RuleRecord, steps: Sequence[BodyStep], group: tuple[int, ...], wanted: Collection[Variable]
    ) -> AtomPattern | None:
        tables = tuple(record.tables[i] for i in group)
        known = record.joins.get(group)
        if known is None or any(a() is not b() for a, b in zip(known.tables, tables, strict=True)):
            known = record.joins[group] = _CachedJoin(tables, self._join(record, steps, group, wanted))
            record.effort.rows = 0
        return known.pattern

    def _join(
        self, record: _RuleRecord, steps: Sequence[BodyStep], group: tuple[int, ...], wanted: Collection[Variable]
    ) -> AtomPattern | None:
        inside = [steps[i] for i in group]
        outside = set(wanted).union(*(needs(s) for i, s in enumerate(steps) if i not in group))
        variables = sorted(set[Variable]().union(*map(needs, inside)) & outside, key=lambda v: v.name)
        if not variables:
            return None
        most = tuning.JOIN_GROWTH * sum(len(t) for s in inside if (t := _table(s)) is not None)
        rows = self._rows(inside, variables, max(most, record.effort.rows))
        if rows is not None and rows.length > most:
            return None
        return None if rows is None else self._pattern(variables, rows)

    def _rows(self, steps: Sequence[BodyStep], variables: Sequence[Variable], most: int) -> Bindings | None:
        """The distinct values of the variables with weights; None if the join has to look at more than `most` rows."""
        blocks, length, effort = [], 0, Effort()
        for block in self.solver.solve(steps, variables, effort):
            if effort.rows > most:
                return None
            blocks.append(block.deduplicated())
            length += blocks[-1].length
        empty = np.empty(0, dtype=np.int64)
        columns: Columns = {v: np.concatenate([b.columns[v] for b in blocks] or [empty]) for v in variables}
        weights = [np.ones(b.length, dtype=np.int64) if b.weight is None else b.weight for b in blocks]
        return Bindings(columns, length, np.concatenate(weights) if weights else None).deduplicated()

    def _pattern(self, variables: Sequence[Variable], rows: Bindings) -> AtomPattern:
        if not rows.length:
            return AtomPattern(_JOINED, tuple(variables), LocalFacts(self.dictionary, {}))
        layout = layout_for(len(variables), len(self.dictionary))
        packed = layout.pack([rows.columns[v] for v in variables], rows.length)
        order = np.lexsort(packed[::-1])
        table = Table((Run(layout, packed[:, order]),))
        source = LocalFacts(self.dictionary, {(_JOINED, WHOLE): table})
        pattern = AtomPattern(_JOINED, tuple(variables), source)
        if rows.weight is None or (rows.weight == 1).all():
            return pattern
        return replace(pattern, weights=rows.weight[order])


def _references(tables: Sequence[Table | None]) -> list[Reference]:
    return [ref(t) if t is not None else (lambda: None) for t in tables]


def _table(step: BodyStep) -> Table | None:
    """The table that a positive atom reads; None for other steps and for atoms that read several tables."""
    return step.table() if isinstance(step, AtomPattern) and not step.negated else None


def _groups(steps: Sequence[BodyStep], static: Sequence[bool]) -> list[tuple[int, ...]]:
    """Groups of at least two unchanged atoms that share variables, largest first."""
    groups: list[tuple[set[int], frozenset[Variable]]] = []
    for i, step in enumerate(steps):
        if static[i]:
            members, variables = {i}, needs(step)
            for other in [g for g in groups if g[1] & variables]:
                groups.remove(other)
                members |= other[0]
                variables = variables | other[1]
            groups.append((members, variables))
    return sorted((tuple(sorted(m)) for m, _ in groups if len(m) > 1), key=len, reverse=True)
