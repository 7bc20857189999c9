"""A fact set: an immutable set of facts over all relations, with `| - &`.

Immutable is the point: `I | N` and `I - D` share what they can with `I`, cost in proportion to the smaller side, and
leave `I` as it was. So a snapshot is a reference, a preview is free, and a failed change has changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self

from tidelog.model.facts import Fact
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

    def arities(self) -> dict[str, int]:
        """How many arguments the facts of each predicate have; predicates without facts are absent."""
        ...

    def only(self, predicate: str) -> Self:
        """The facts of one predicate."""
        ...

    def may_match(self, atom: Atom) -> bool:
        """False only if no fact here matches the atom; must be cheap."""
        ...
