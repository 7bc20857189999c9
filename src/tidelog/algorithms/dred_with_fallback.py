"""DRed as long as it overdeletes little, and otherwise another algorithm.

The number of removed facts does not show which algorithm is best. If a whole university is removed, its consequences
go too: overdeletion finds few facts that stay, and Backward/Forward would look for proofs that do not exist. If the
same number of facts from everywhere is removed, most consequences have other proofs, and overdeletion goes too far. So
this algorithm overdeletes first, and stops when D is much larger than the facts that are lost to begin with.
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
