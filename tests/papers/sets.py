"""The sets that the papers print, taken from the parts of the algorithms while a change is made.

The parts are functions that return sets; Backward/Forward keeps its sets in a search, which is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from unittest import mock

from tests.oracle.histories import State
from tests.oracle.ways import changed
from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import backward_forward, dred, fp_update
from tidelog.algorithms.layers import Support, maintain
from tidelog.model.terms import Fact

F = TypeVar("F", bound=FactSet)


def sets_of(algorithm: str, before: State, after: State) -> dict[str, frozenset[Fact]]:
    """The algorithm's sets by their letters, over all layers."""
    found: dict[str, frozenset[Fact]] = {}
    take, decrease = ALGORITHMS_WITH_SETS[algorithm]

    def recording(support: Support[F], lost: F, work: Work) -> F:
        for letter, facts in take(support, lost).items():
            found[letter] = found.get(letter, frozenset()) | frozenset(facts)
        return decrease(support, lost, work)

    engine = ReferenceEngine()
    maintain(changed(engine, before, after), recording)
    return found


def _dred(support: Support[F], lost: F) -> Mapping[str, F]:
    D = dred._overdelete(support, lost, Work())
    return {"D": D, "R": dred._rederive(support, D, Work())}


def _fp(support: Support[F], lost: F) -> Mapping[str, F]:
    U = fp_update.dependent_atoms(support, lost, Work())
    K = support.I - U
    return {"U": U, "K": K, "O": fp_update.otherwise_supported(support, U, K, Work())}


def _bf(support: Support[F], lost: F) -> Mapping[str, F]:
    """C as the search leaves it; D is all that it was asked for."""
    searches: list[backward_forward.Search[F]] = []
    asked: list[F] = []

    class Recorded(backward_forward.Search[F]):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            searches.append(self)

        def check(self, N: F) -> F:
            asked.append(N)
            return super().check(N)

    with mock.patch.object(backward_forward, "Search", Recorded):
        backward_forward.decrease(support, lost, Work())
    D = lost
    for N in asked:
        D = D | N
    return {"C": searches[0].C | searches[0].seen, "D": D}


ALGORITHMS_WITH_SETS = {
    "bf": (_bf, backward_forward.decrease),
    "dred": (_dred, dred.decrease),
    "fp": (_fp, fp_update.decrease),
}
SEEN = {"bf": "C", "dred": "D", "fp": "U"}  # the set of the facts at which an algorithm looks
