"""DRed as long as it overdeletes little, and otherwise another algorithm.

How many facts a change removes does not tell which algorithm is best. A university that goes takes its consequences
along: overdeletion finds hardly more than is gone, and looking for other proofs, as Backward/Forward does, only finds
that there are none. As many facts from everywhere support facts that have other proofs, and overdeletion goes far
beyond what is gone. So overdeletion is tried, and given up when D outgrows the facts that are lost to begin with.
"""

from __future__ import annotations

from typing import TypeVar

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms import backward_forward, dred
from tidelog.algorithms.layers import Support, maintain
from tidelog.algorithms.semi_naive import rematerialise
from tidelog.algorithms.update import Outcome, Update

F = TypeVar("F", bound=FactSet)


def dred_with_bf(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change: each layer by DRed, or by Backward/Forward if DRed overdeletes much."""
    return maintain(update, _dred_or_bf)


def dred_with_rematerialise(update: Update[F]) -> Outcome[F]:
    """For changes past the equilibrium, where Backward/Forward does not pay."""
    try:
        return maintain(update, _dred_or_give_up)
    except _OverdeletedError:
        return rematerialise(update)


class _OverdeletedError(Exception):
    """DRed overdeletes far more than is lost."""


def _dred_or_bf(support: Support[F], lost: F, work: Work) -> F:
    gone = dred.decrease_within(support, lost, tuning.FALLBACK_RATIO * len(lost), work)
    return backward_forward.decrease(support, lost, work) if gone is None else gone


def _dred_or_give_up(support: Support[F], lost: F, work: Work) -> F:
    gone = dred.decrease_within(support, lost, tuning.FALLBACK_RATIO * len(lost), work)
    if gone is None:
        raise _OverdeletedError
    return gone
