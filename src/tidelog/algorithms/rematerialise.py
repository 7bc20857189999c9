"""Rematerialise: forget the consequences and compute them again. The honest baseline, and always right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.outcome import Outcome
from tidelog.algorithms.semi_naive import materialise
from tidelog.rules.strata import Stratum

F = TypeVar("F", bound=FactSet)


def rematerialise(engine: Engine[F], strata: Sequence[Stratum], E: F, I: F, work: Work) -> Outcome[F]:
    """From the new explicit facts E; I is the materialisation before."""
    after = materialise(engine, strata, E, work)
    return Outcome(after, added=after - I, removed=I - after)
