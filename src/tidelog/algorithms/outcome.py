"""What an algorithm hands back: the new materialisation and the net change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[F]):
    """I after the change; `added` and `removed` are disjoint from what stayed."""

    I: F
    added: F
    removed: F
