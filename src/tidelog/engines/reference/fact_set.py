"""A fact set that is a frozenset of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from tidelog.model.facts import Fact
from tidelog.rules.syntax import Atom


class ReferenceFacts:
    """Facts in a frozenset; `of` lists those of one predicate."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts = frozenset(facts)

    @cached_property
    def _by_predicate(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = {}
        for fact in self._facts:
            found.setdefault(fact.predicate, []).append(fact)
        return found

    def of(self, predicate: str) -> list[Fact]:
        return self._by_predicate.get(predicate, [])

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    def __contains__(self, fact: object) -> bool:
        return fact in self._facts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReferenceFacts) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    def __repr__(self) -> str:
        return f"ReferenceFacts({sorted(self._facts)})"

    def __or__(self, other: ReferenceFacts) -> ReferenceFacts:
        return ReferenceFacts(self._facts | other._facts)

    def __sub__(self, other: ReferenceFacts) -> ReferenceFacts:
        return ReferenceFacts(self._facts - other._facts)

    def __and__(self, other: ReferenceFacts) -> ReferenceFacts:
        return ReferenceFacts(self._facts & other._facts)

    def predicates(self) -> dict[str, int]:
        return dict(Counter(fact.predicate for fact in self._facts))

    def arities(self) -> dict[str, int]:
        return {predicate: len(facts[0].args) for predicate, facts in self._by_predicate.items()}

    def only(self, predicate: str) -> ReferenceFacts:
        return ReferenceFacts(self.of(predicate))

    def may_match(self, atom: Atom) -> bool:
        return bool(self.of(atom.predicate))
