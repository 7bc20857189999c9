"""DRed: delete whatever might have lost its support, then bring back what has not (Gupta, Mumick, Subrahmanian 1993).

    overdelete   A |= H <- B1[I - (O | N)] .. B(i-1)[I - (O | N)], Bi[N], B(i+1)[I - O] .. Bn[I - O]      (DR2)
                 N  = A - D;  D |= N                                                     O = D without N
    rederive     R  = (D & E) | H <- H[D], B1[I - D] .. Bn[I - D]                                          (DR4)
    reinsert     semi-naive from R, within D                                                             (DR5)

E explicit facts, I materialised facts, D overdeleted, N the newest part of D, R what has another derivation. No rule
instance is considered twice in a step: the `inverse semi-naive` sources of Motik et al. (AAAI 2015, section 3).
Pays for every consequence of a deletion, even for those with another proof: prefer Backward/Forward there.
"""

from __future__ import annotations

from sys import maxsize
from typing import TypeVar

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.fixpoint import consequences
from tidelog.algebra.sourced_rule import with_body
from tidelog.algorithms.layers import Support, maintain
from tidelog.algorithms.update import Outcome, Update

F = TypeVar("F", bound=FactSet)


def dred(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change."""
    return maintain(update, decrease)


def decrease(support: Support[F], lost: F, work: Work) -> F:
    """The facts that are gone."""
    return _gone(support, _overdelete(support, lost, work), work)


def decrease_within(support: Support[F], lost: F, most: int, work: Work) -> F | None:
    """The facts that are gone; None as soon as more than `most` facts are overdeleted."""
    D = _overdelete(support, lost, work, most)
    return _gone(support, D, work) if len(D) <= most else None


def _gone(support: Support[F], D: F, work: Work) -> F:
    work.count("D", len(D))
    return D - _rederive(support, D, work)


def _overdelete(support: Support[F], lost: F, work: Work, most: int = maxsize) -> F:
    """D; or the part of it that is too much."""
    before = work.derivations
    D = N = lost
    rest = support.I  # I - O
    while N and len(D) <= most:
        work.check()
        work.rounds += 1
        remaining = rest - N
        A = support.engine.derive_pivoted(support.rules, remaining, N, rest, support.negated, work)
        rest, N = remaining, A - D
        D = D | N
    work.count("DR2", work.derivations - before)
    return D


def _rederive(support: Support[F], D: F, work: Work) -> F:
    """What of D still has a derivation."""
    known = support.I - D
    before = work.derivations
    guarded = tuple(with_body(r, head) for r in support.rules for head in r.heads)
    R = support.axioms(D, work)
    work.check()
    if len(D) <= tuning.SINGLE_DERIVATION_FACTS:
        R = R | support.engine.proofs(guarded, D - R, known, support.negated, work)[0]
    rest = D - R
    heads = [(r, len(r.atoms) - 1) for r in guarded if rest.may_match(r.atoms[0])]
    R = R | (support.engine.derive([support.extend(r, (rest, *[known] * n)) for r, n in heads], work) & rest)
    work.count("DR4", work.derivations - before)
    before = work.derivations
    rules = [r for r in support.rules if r.atoms]
    R = consequences(support.engine, rules, known, R, work, support.negated)
    work.count("DR5", work.derivations - before)
    return R
