"""FP-update: keep what depends on nothing removed, and chain forward from it (Kotowski, Bry, Brodt 2011).

    dependent-atoms   A = H <- B1[I - N] .. B(i-1)[I - N], Bi[N], B(i+1)[I] .. Bn[I];  N = A - U;  U |= N
    T(K)              N = (H <- B1[K] .. Bn[K]) - K                       K = I - U, the axioms in U added to N
    T(F, N)           semi-naive from N; all that it finds is O

I materialised facts, U unsure: they depend on something removed, K kept, O otherwise supported: what is back of U, N
the newest part of U, later of O (the paper's delta). The rules are the program's own, with no atom added to any. As
bodies read the old fixpoint I, a fact is in U after as many rounds as its shortest way from what is removed has steps.
The first step of the second half is naive: it joins all of K for every rule that may conclude a fact of U. Prefer DRed
or Backward/Forward where those joins are large; FP-update is near them when U is most of what its rules conclude.
"""

from __future__ import annotations

from typing import TypeVar

from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.fixpoint import consequences
from tidelog.algorithms.layers import Support, maintain
from tidelog.algorithms.update import Outcome, Update

F = TypeVar("F", bound=FactSet)


def fp_update(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change."""
    return maintain(update, decrease)


def decrease(support: Support[F], lost: F, work: Work) -> F:
    """The facts that are gone."""
    U = dependent_atoms(support, lost, work)
    K = support.I - U
    O = otherwise_supported(support, U, K, work)
    for name, facts in (("U", U), ("K", K), ("O", O)):
        work.count(name, len(facts))
    return U - O


def dependent_atoms(support: Support[F], lost: F, work: Work) -> F:
    """Algorithm 1.2: the facts that depend on what is removed; `lost` are the immediate consequences of that."""
    before = work.derivations
    U = N = lost
    while N:
        work.rounds += 1
        rest = support.I - N
        A = support.engine.derive_pivoted(support.rules, rest, N, support.I, support.negated, work)
        N = A - U
        U = U | N
    work.count("dependent-atoms", work.derivations - before)
    return U


def otherwise_supported(support: Support[F], U: F, K: F, work: Work) -> F:
    """Algorithm 1.3 behind its first two lines: the facts of U that follow from K."""
    before = work.derivations
    heading = [r for r in support.rules if any(map(U.may_match, r.heads))]
    derived = support.engine.derive([support.extend(r, [K] * len(r.atoms)) for r in heading], work)
    O = support.axioms(U, work) | (derived & U)  # nothing is derived outside I, so `& U` is the paper's `- K`
    work.count("T(K)", work.derivations - before)
    before = work.derivations
    rules = [r for r in support.rules if r.atoms]
    O = consequences(support.engine, rules, K, O, work, support.negated)
    work.count("T(F, N)", work.derivations - before)
    return O
