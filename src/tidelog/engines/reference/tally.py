"""A tally that is a dictionary from facts to counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tidelog.engines.reference.fact_set import ReferenceFacts
from tidelog.model.facts import Fact


class ReferenceTally:
    """Facts and their counts; see `tidelog.algebra.tally`."""

    def __init__(self, counts: Mapping[Fact, int]) -> None:
        self._counts = {fact: count for fact, count in counts.items() if count}

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[tuple[Fact, int]]:
        return iter(self._counts.items())

    def __add__(self, other: ReferenceTally) -> ReferenceTally:
        return self._combined(other, 1)

    def __sub__(self, other: ReferenceTally) -> ReferenceTally:
        return self._combined(other, -1)

    def _combined(self, other: ReferenceTally, sign: int) -> ReferenceTally:
        counts = dict(self._counts)
        for fact, count in other:
            counts[fact] = counts.get(fact, 0) + sign * count
        return ReferenceTally(counts)

    def of(self, facts: Iterable[Fact]) -> ReferenceTally:
        return ReferenceTally({fact: self._counts.get(fact, 0) for fact in facts})

    def facts(self) -> ReferenceFacts:
        return ReferenceFacts(fact for fact, count in self if count > 0)
