"""What a removal meets: the cases in which incremental deletion is hard, counted for the generator's quotas.

A removed fact *touches* every fact that it leads to: a deletion algorithm looks at them all and must keep those that
have another derivation.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.histories import State
from tests.oracle.support import reachable
from tidelog.model.terms import Fact


def removal_features(before: State, removed: Fact, after: frozenset[Fact]) -> Iterator[str]:
    """`removed` is an explicit fact of `before`; `after` is the model without it (and with the rest of its step)."""
    edges = before.edges
    touched = reachable(edges, edges.get(removed, set()))
    if touched & after:
        yield "another derivation"
    if touched & before.cyclic:
        yield "cyclic support"
    if any(removed in heads for heads in edges.values()):
        yield "explicit and derivable"
