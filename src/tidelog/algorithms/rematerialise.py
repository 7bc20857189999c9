"""Rematerialise: forget the consequences and compute them again. The honest baseline, and always right."""

from __future__ import annotations

from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.layers import Program
from tidelog.algorithms.outcome import Outcome
from tidelog.algorithms.semi_naive import materialise

F = TypeVar("F", bound=FactSet)


def rematerialise(
    engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
) -> Outcome[F]:
    """From the explicit facts E after the change; what was known before serves only to tell the difference."""
    after = materialise(engine, program.strata, E, work)
    return Outcome(after, added=after - I, removed=I - after)
