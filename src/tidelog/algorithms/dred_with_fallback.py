"""DRed as long as it overdeletes little, and otherwise another algorithm.

How many facts a change removes does not tell which algorithm is best. A university that goes takes its consequences
along: overdeletion finds hardly more than is gone, and looking for other proofs, as Backward/Forward does, only finds
that there are none. As many facts from everywhere support facts that have other proofs, and overdeletion goes far
beyond what is gone. So overdeletion is tried, and given up when D outgrows the facts that are lost to begin with.
"""

from __future__ import annotations

from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import backward_forward, dred
from tidelog.algorithms.layers import Program, Support, maintain
from tidelog.algorithms.semi_naive import rematerialise
from tidelog.algorithms.update import Outcome

F = TypeVar("F", bound=FactSet)

LITTLE = 2  # overdeleted facts for each lost one: `bench/maintenance` and `bench/updates` show both kinds of change


def decrease(support: Support[F], lost: F, work: Work) -> F:
    """The facts that are gone: by DRed or by Backward/Forward, layer by layer."""
    gone = dred.decrease_within(support, lost, LITTLE * len(lost), work)
    return backward_forward.decrease(support, lost, work) if gone is None else gone


def dred_else_rematerialise(
    engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
) -> Outcome[F]:
    """For changes past the equilibrium, where Backward/Forward is no choice."""
    try:
        return maintain(engine, _decrease_or_give_up, program, E, I, removed, added, work)
    except _TooMuchError:
        return rematerialise(engine, program, E, I, removed, added, work)


class _TooMuchError(Exception):
    """Overdeletion goes beyond what is lost."""


def _decrease_or_give_up(support: Support[F], lost: F, work: Work) -> F:
    gone = dred.decrease_within(support, lost, LITTLE * len(lost), work)
    if gone is None:
        raise _TooMuchError
    return gone
