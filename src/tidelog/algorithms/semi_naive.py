"""Semi-naive materialisation: each rule instance is considered once (Abiteboul, Hull, Vianu 1995).

    A |= H <- B1[I - N] .. B(i-1)[I - N], Bi[N], B(i+1)[I] .. Bn[I]        for each rule and each i
    N  = A - I;  I |= N

E explicit facts, I materialised facts, N the newest part of I, A what one round derives. Strata are closed one after
the other; what a stratum negates or aggregates is complete before it starts.

Rematerialise: forget the consequences and compute them again. The honest baseline, and always right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.fixpoint import fixpoint
from tidelog.algebra.sourced_rule import all_from
from tidelog.algorithms.update import Outcome, Update
from tidelog.rules.analysis.strata import Stratum
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


def materialise(engine: Engine[F], strata: Sequence[Stratum], E: F, work: Work) -> F:
    """All consequences of the explicit facts."""
    I, nothing = E, engine.fact_set(())
    for stratum in strata:
        once = [r for r in stratum.rules if _runs_once(r)]
        N = engine.derive([all_from(r, I) for r in once], work) - I if once else nothing
        I, _ = fixpoint(engine, _incremental(stratum), nothing, I | N, work)
    return I


def _runs_once(rule: Rule) -> bool:
    """Aggregates, and rules without a positive atom to start from, read complete lower strata only."""
    return rule.aggregate is not None or not rule.atoms


def _incremental(stratum: Stratum) -> list[Rule]:
    return [r for r in stratum.rules if not _runs_once(r)]


def rematerialise(update: Update[F]) -> Outcome[F]:
    """From the explicit facts E after the change; I serves only to tell the difference."""
    after = materialise(update.engine, update.rules.strata, update.E, update.work)
    return Outcome(after, added=after - update.I, removed=update.I - after)
