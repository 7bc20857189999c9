"""The algorithms by name, each as one function from a change to its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import backward_forward, dred, fp_update
from tidelog.algorithms.layers import Decrease, Program, maintain
from tidelog.algorithms.outcome import Outcome
from tidelog.algorithms.rematerialise import rematerialise

F = TypeVar("F", bound=FactSet)


class Algorithm(Protocol):
    """From the materialisation I before a change to the one after it.

    E are the explicit facts after the change; `removed` were explicit before and are not any more, `added` are now.
    """

    def __call__(
        self, engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work
    ) -> Outcome[F]: ...


def _decreasing(decrease: Decrease) -> Algorithm:
    def algorithm(engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work) -> Outcome[F]:
        return maintain(engine, decrease, program, E, I, removed, added, work)

    return algorithm


ALGORITHMS: Mapping[str, Algorithm] = {
    "bf": _decreasing(backward_forward.decrease),
    "dred": _decreasing(dred.decrease),
    "fp": _decreasing(fp_update.decrease),
    "rematerialise": rematerialise,
}
