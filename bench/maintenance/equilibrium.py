"""Where an algorithm takes as long as rematerialising: between two sizes, on straight lines of a log-log plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

Point = tuple[int, float]  # removed facts, and the ratio of the times


@dataclass(frozen=True)
class Equilibrium:
    """At `removed` facts; `below` or `above` them when the curves do not meet within the sizes measured."""

    removed: float
    bound: str = "at"


def equilibrium(points: Sequence[Point]) -> Equilibrium | None:
    """The first crossing of the ratio 1, by growing size; none without points."""
    if not points:
        return None
    if points[0][1] >= 1:
        return Equilibrium(points[0][0], "below")
    for (few, low), (many, high) in pairwise(points):
        if high >= 1:
            part = -log(low) / (log(high) - log(low))
            return Equilibrium(exp(log(few) + part * (log(many) - log(few))))
    return Equilibrium(points[-1][0], "above")
