"""What an algorithm hands back: the new materialisation and the net change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[F]):
    """I after the change; `added` and `removed` are disjoint from what stayed.

    `kept` is what the algorithm wants to be given with the next change, if it makes that one too.
    """

    I: F
    added: F
    removed: F
    kept: object = None

    def then(self, second: Outcome[F]) -> Outcome[F]:
        """The outcome of two changes, one after the other."""
        plus = (self.added - second.removed) | (second.added - self.removed)
        minus = (self.removed - second.added) | (second.removed - self.added)
        return Outcome(second.I, plus, minus, second.kept)
