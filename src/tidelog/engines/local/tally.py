"""Counts of facts: packed rows with a weight each. And a builder that collects them from matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import WHOLE, LocalFacts, Relation
from tidelog.kernel.budget import Budget
from tidelog.kernel.counts import RowCounts, WeightedRun
from tidelog.kernel.join import Bindings
from tidelog.kernel.rows import Ints, layout_for
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, Fact
from tidelog.rules.syntax import Aggregate, Atom, Variable


class LocalTally:
    """Facts and their counts; see `tidelog.algebra.fact_set`."""

    def __init__(self, dictionary: Dictionary, counts: Mapping[Relation, RowCounts]) -> None:
        self.dictionary = dictionary
        self.counts = MappingProxyType({r: c for r, c in counts.items() if c.size})

    @classmethod
    def once(cls, facts: LocalFacts) -> LocalTally:
        counts = {r: RowCounts.of_run(WeightedRun.once(table.flat)) for r, table in facts.tables.items()}
        return cls(facts.dictionary, counts)

    @classmethod
    def sum(cls, dictionary: Dictionary, tallies: Iterable[LocalTally]) -> LocalTally:
        """The sum of tallies."""
        parts: dict[Relation, list[RowCounts]] = {}
        for tally in tallies:
            for relation, counts in tally.counts.items():
                parts.setdefault(relation, []).append(counts)
        return cls(dictionary, {r: RowCounts.sum(counts) for r, counts in parts.items()})

    def __len__(self) -> int:
        return sum(map(len, self.counts.values()))

    def __iter__(self) -> Iterator[tuple[Fact, int]]:
        for relation, counts in self.counts.items():
            facts = LocalFacts(self.dictionary, {relation: Table((counts.flat.run,))})
            yield from zip(facts, counts.flat.weight.tolist(), strict=True)

    def __add__(self, other: LocalTally) -> LocalTally:
        if not other.counts or not self.counts:
            return self if self.counts else other
        together = dict(self.counts)
        for relation, counts in other.counts.items():
            mine = together.get(relation)
            together[relation] = counts if mine is None else mine.plus(counts)
        return LocalTally(self.dictionary, together)

    def __sub__(self, other: LocalTally) -> LocalTally:
        return self + LocalTally(self.dictionary, {r: c.negative() for r, c in other.counts.items()})

    def counts_of(self, facts: LocalFacts) -> LocalTally:
        shared = self.counts.keys() & facts.tables.keys()
        return LocalTally(self.dictionary, {r: self.counts[r].among(facts.tables[r].flat) for r in shared})

    def facts(self) -> LocalFacts:
        positive = {relation: counts.positive() for relation, counts in self.counts.items()}
        return LocalFacts(self.dictionary, {r: Table((run,)) for r, run in positive.items() if len(run)})


class TallyBuilder:
    """Collects the heads of matches, block by block, and builds a tally of them."""

    def __init__(self, dictionary: Dictionary, budget: Budget) -> None:
        self.dictionary = dictionary
        self.budget = budget
        self.tally = LocalTally(dictionary, {})
        self.unclaimed = 0

    def add_head(self, head: Atom, block: Bindings) -> None:
        """Count one head of each match; a triple is counted in the relation of its predicate."""
        if head.predicate != TRIPLE:
            self._add((head.predicate, WHOLE), head.args, block)
            return
        subject, predicate, object_ = head.args
        if isinstance(predicate, Variable):
            for name, part in block.split_by(predicate):
                self._add((TRIPLE, name), (subject, object_), part)
        else:
            self._add((TRIPLE, self._encode(predicate)), (subject, object_), block)

    def _add(self, relation: Relation, args: tuple[Variable | str | Aggregate, ...], block: Bindings) -> None:
        layout = layout_for(len(args), len(self.dictionary))
        self._claim(8 * block.length * (layout.words + 1), relation)
        columns: list[Ints | int] = [block.columns[a] if isinstance(a, Variable) else self._encode(a) for a in args]
        weight = np.broadcast_to(np.int64(1), block.length) if block.weight is None else block.weight
        weighted = WeightedRun.summed(layout, layout.pack(columns, block.length), weight)
        self.tally += LocalTally(self.dictionary, {relation: RowCounts.of_run(weighted)})

    def _encode(self, term: str | Aggregate) -> int:
        return self.dictionary.encode(term)  # type: ignore[arg-type]

    def _claim(self, nbytes: int, relation: Relation) -> None:
        """Count bytes; sorting and merging the rows needs about as many again."""
        self.unclaimed += 2 * nbytes
        if self.unclaimed >= tuning.CLAIMED_BYTES:
            self.budget.claim(self.unclaimed, f"counting the derivations of {relation[0]}")
            self.unclaimed = 0
