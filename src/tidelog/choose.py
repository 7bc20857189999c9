"""Which algorithm for a change, and why, in one line."""

from __future__ import annotations

from dataclasses import dataclass

from tidelog.algorithms.registry import ALGORITHMS
from tidelog.errors import UsageError

# Past this part of the explicit facts, computing everything again is cheaper than taking facts away one by one.
_EQUILIBRIUM = 0.03
_FEW = 1000  # removed facts that are never worth it


@dataclass(frozen=True, slots=True)
class Choice:
    algorithm: str
    reason: str


def choose(asked: str, explicit: int, removed: int, first: bool) -> Choice:
    """`explicit` facts before the change, of which some are `removed`; `first`: there were no rules before."""
    if asked != "auto":
        if asked not in ALGORITHMS:
            raise UsageError(f"unknown algorithm {asked!r}; choose one of: auto, {', '.join(ALGORITHMS)}")
        return Choice(asked, "asked for")
    if first:
        return Choice("rematerialise", "nothing was derived before")
    if removed > max(_FEW, _EQUILIBRIUM * explicit):
        return Choice("rematerialise", f"{removed} of {explicit} explicit facts are removed")
    return Choice("bf", "a small change")
