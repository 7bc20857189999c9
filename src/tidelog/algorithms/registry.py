"""The algorithms by name, each as one function from a change to its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import backward_forward, declarative_dred, dred, dred_with_fallback, fp_update
from tidelog.algorithms.counting import counting, counting_else
from tidelog.algorithms.layers import Decrease, Program, maintain
from tidelog.algorithms.recursive_counting import recursive_counting
from tidelog.algorithms.semi_naive import rematerialise
from tidelog.algorithms.update import Outcome

F = TypeVar("F", bound=FactSet)


class Algorithm(Protocol):
    """From the materialisation I before a change to the one after it.

    E are the explicit facts after the change; `removed` were explicit before and are not any more, `added` are now.
    `kept` is what the outcome of the change before asked to be kept, whichever algorithm made it: one that counts goes
    on from its own counts, and takes them anew when another algorithm ran in between.
    """

    def __call__(
        self, engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
    ) -> Outcome[F]: ...


def _decreasing(decrease: Decrease) -> Algorithm:
    def algorithm(
        engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
    ) -> Outcome[F]:
        return maintain(engine, decrease, program, E, I, removed, added, work)

    return algorithm


def _counting_with_bf(
    engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
) -> Outcome[F]:
    return counting_else(engine, backward_forward.decrease, program, E, I, removed, added, work, kept)


ALGORITHMS: Mapping[str, Algorithm] = {
    "bf": _decreasing(backward_forward.decrease),
    "counting": counting,
    "counting+bf": _counting_with_bf,
    "declarative": _decreasing(declarative_dred.decrease),
    "dred": _decreasing(dred.decrease),
    "dred+bf": _decreasing(dred_with_fallback.decrease),
    "dred+rematerialise": dred_with_fallback.dred_else_rematerialise,
    "fp": _decreasing(fp_update.decrease),
    "recursive-counting": recursive_counting,
    "rematerialise": rematerialise,
}
