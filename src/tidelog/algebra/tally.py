"""A tally: facts, each with how many derivations it has. Immutable, like a fact set; `+ -` add and subtract counts.

A fact whose count is zero is not in the tally. A small change to a large tally costs in proportion to the change, and
leaves the tally it was made from as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self, TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.model.facts import Fact

F = TypeVar("F", bound=FactSet)


class Tally(Protocol[F]):
    def __len__(self) -> int:
        """How many facts have a count."""
        ...

    def __iter__(self) -> Iterator[tuple[Fact, int]]: ...

    def __add__(self, other: Self, /) -> Self: ...

    def __sub__(self, other: Self, /) -> Self: ...

    def of(self, facts: F) -> Self:
        """The counts of these facts only."""
        ...

    def facts(self) -> F:
        """The facts whose count is positive."""
        ...
