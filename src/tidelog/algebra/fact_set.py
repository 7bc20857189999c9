"""A fact set: an immutable set of facts over all relations, with `| - &`.

Immutable is the point: `I | N` and `I - D` share what they can with `I`, cost in proportion to the smaller side, and
leave `I` as it was. So a snapshot is a reference, a preview is free, and a failed change has changed nothing.

A tally: facts, each with how many derivations it has. Immutable, like a fact set; `+ -` add and subtract counts.

A fact whose count is zero is not in the tally. A small change to a large tally costs in proportion to the change, and
leaves the tally it was made from as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self, TypeVar

from tidelog.model.terms import Fact, is_helper
from tidelog.rules.syntax import Atom


class FactSet(Protocol):
    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Fact]: ...

    def __or__(self, other: Self, /) -> Self: ...

    def __sub__(self, other: Self, /) -> Self: ...

    def __and__(self, other: Self, /) -> Self: ...

    def predicates(self) -> dict[str, int]:
        """How many facts each predicate has; predicates without facts are absent."""
        ...

    def count_of(self, predicate: str) -> int:
        """How many facts a predicate has."""
        ...

    def arities(self) -> dict[str, int]:
        """How many arguments the facts of each predicate have; predicates without facts are absent."""
        ...

    def of_predicate(self, predicate: str) -> Self:
        """The facts of one predicate."""
        ...

    def may_match(self, atom: Atom) -> bool:
        """False only if no fact here matches the atom; must be cheap."""
        ...


F = TypeVar("F", bound=FactSet)


def without_helpers(facts: F) -> F:
    """The facts of all relations but the helper relations."""
    for predicate in facts.predicates():
        if is_helper(predicate):
            facts = facts - facts.of_predicate(predicate)
    return facts


def shown_count(facts: FactSet) -> int:
    """The number of facts of all relations but the helper relations; reads no facts."""
    return sum(count for predicate, count in facts.predicates().items() if not is_helper(predicate))


class Tally(Protocol[F]):
    def __len__(self) -> int:
        """How many facts have a count."""
        ...

    def __iter__(self) -> Iterator[tuple[Fact, int]]: ...

    def __add__(self, other: Self, /) -> Self: ...

    def __sub__(self, other: Self, /) -> Self: ...

    def counts_of(self, facts: F) -> Self:
        """The counts of these facts only."""
        ...

    def facts(self) -> F:
        """The facts whose count is positive."""
        ...
