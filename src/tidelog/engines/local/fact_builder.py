"""From matches to facts: the rows of each head, and the results of aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import WHOLE, LocalFacts, Relation
from tidelog.kernel import rows as packed
from tidelog.kernel.budget import Budget
from tidelog.kernel.join import Bindings, group
from tidelog.kernel.rows import Ints, Layout, layout_for
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, integer
from tidelog.rules.expressions import aggregate
from tidelog.rules.syntax import Aggregate, Atom, Rule, Variable


@dataclass
class FactBuilder:
    """Collects packed rows per relation and builds a fact set of them."""

    dictionary: Dictionary
    budget: Budget
    parts: dict[tuple[Relation, Layout], list[Ints]] = field(default_factory=dict)
    pending: dict[tuple[Relation, Layout], int] = field(default_factory=dict)
    unclaimed: int = 0
    claimed: int = 0

    def add(self, relation: Relation, columns: Sequence[Ints | int], length: int) -> None:
        layout = layout_for(len(columns), len(self.dictionary))
        key = (relation, layout)
        self._claim(8 * length * layout.words, relation)
        self.parts.setdefault(key, []).append(layout.pack(columns, length))
        self.pending[key] = self.pending.get(key, 0) + length
        if self.pending[key] > max(tuning.COMPACTED_ROWS, 2 * self.parts[key][0].shape[1]):
            self._compact(key)

    def _claim(self, nbytes: int, relation: Relation) -> None:
        """Count bytes; sorting the rows and building a fact set needs about as many again."""
        self.unclaimed += 2 * nbytes
        if self.unclaimed >= tuning.CLAIMED_BYTES:
            self.budget.claim(self.unclaimed, f"holding more facts of {relation[0]}", self.claimed)
            self.claimed += self.unclaimed
            self.unclaimed = 0

    def _compact(self, key: tuple[Relation, Layout]) -> None:
        self.parts[key] = [packed.distinct(np.concatenate(self.parts[key], axis=1))]
        self.pending[key] = 0

    def absorb(self, other: FactBuilder) -> None:
        for key, parts in other.parts.items():
            self.parts.setdefault(key, []).extend(parts)

    def facts(self) -> LocalFacts:
        small = self._small()
        return self._tables() if small is None else small

    def _small(self) -> LocalFacts | None:
        """The facts as a small set; None if they are too many."""
        parts = [(relation, layout.arity, rows) for (relation, layout), some in self.parts.items() for rows in some]
        return LocalFacts.of_rows(self.dictionary, parts)

    def _tables(self) -> LocalFacts:
        tables: dict[Relation, Table] = {}
        for (relation, layout), parts in self.parts.items():
            rows = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
            table = Table((Run(layout, packed.distinct(rows)),))
            tables[relation] = tables[relation].plus(table) if relation in tables else table
        return LocalFacts(self.dictionary, tables)

    def add_heads(self, heads: Iterable[Atom], bindings: Bindings) -> None:
        for head in heads:
            columns = [self._column(a, bindings) for a in head.args]
            self.add_columns(head.predicate, columns, bindings.length)

    def _column(self, arg: Variable | str | Aggregate, bindings: Bindings) -> Ints | int:
        if isinstance(arg, Variable):
            return bindings.columns[arg]
        assert isinstance(arg, str)
        return self.dictionary.encode(arg)  # type: ignore[arg-type]

    def add_columns(self, predicate: str, columns: Sequence[Ints | int], length: int) -> None:
        """Add rows of a predicate; a triple goes to the table of its predicate."""
        if predicate != TRIPLE:
            self.add((predicate, WHOLE), columns, length)
            return
        subject, name, object_ = columns
        if isinstance(name, int):
            self.add((TRIPLE, name), (subject, object_), length)
            return
        ends: dict[object, Ints] = {i: c for i, c in enumerate((subject, object_)) if not isinstance(c, int)}
        rows = Bindings({**ends, TRIPLE: name}, length)
        for value, part in rows.split_by(TRIPLE):
            pair = [part.columns.get(i, c) for i, c in enumerate((subject, object_))]
            self.add((TRIPLE, value), pair, part.length)


def aggregate_heads(rule: Rule, blocks: Iterable[Bindings], gathered: FactBuilder) -> None:
    """Add the heads of an aggregate rule: one fact per group of equal other arguments, over distinct tuples."""
    (head,) = rule.heads
    spec = rule.aggregate
    assert spec is not None
    keys = list(dict.fromkeys(head.variables()))
    values = list(dict.fromkeys(spec.args))
    columns = _distinct_columns([*keys, *(v for v in values if v not in keys)], blocks)
    if columns is None:
        return
    length = len(next(iter(columns.values()))) if columns else 1
    number, first = group([columns[k] for k in keys], length)
    results = _group_results(spec, columns, number, len(first), gathered.dictionary)
    defined = results >= 0
    bindings = Bindings({k: columns[k][first][defined] for k in keys}, int(defined.sum()))
    args = [results[defined] if isinstance(a, Aggregate) else gathered._column(a, bindings) for a in head.args]
    if bindings.length:
        gathered.add_columns(head.predicate, args, bindings.length)


def _distinct_columns(variables: Sequence[Variable], blocks: Iterable[Bindings]) -> dict[Variable, Ints] | None:
    """The distinct values of the variables over all blocks; None if there is no match."""
    parts = []
    for block in blocks:
        columns = [block.columns[v] for v in variables]
        _, first = group(columns, block.length)
        parts.append([c[first] for c in columns])
    if not parts:
        return None
    together = [np.concatenate(cs) for cs in zip(*parts, strict=True)]
    _, first = group(together, len(together[0]) if together else 1)
    return {v: c[first] for v, c in zip(variables, together, strict=True)}


def _group_results(
    spec: Aggregate, columns: dict[Variable, Ints], number: Ints, groups: int, dictionary: Dictionary
) -> Ints:
    """The id of the aggregate of each group, -1 if it has no value."""
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(groups + 1))
    if spec.function == "count":
        sizes = np.diff(starts)
        return np.array([dictionary.encode(integer(int(n))) for n in sizes], dtype=np.int64)
    results: list[int] = []
    while len(results) < groups:
        low = len(results)
        high = max(low + 1, int(np.searchsorted(starts, starts[low] + tuning.AGGREGATED_ROWS, "right")) - 1)
        some = order[starts[low] : starts[high]]
        terms = list(zip(*(dictionary.decode_many(columns[v][some]) for v in spec.args), strict=True))
        for a, b in pairwise((starts[low : high + 1] - starts[low]).tolist()):
            result = aggregate(spec.function, terms[a:b])
            results.append(-1 if result is None else dictionary.encode(result))
    return np.array(results, dtype=np.int64)
