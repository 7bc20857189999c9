"""The fixpoint loop: derive from what is new until nothing is new, and count the work.

N = what is new        I = all that is known, N included
repeat   A = the heads of all matches with at least one atom in N, each match once
         N = A - I;  I = I | N
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.errors import LimitError
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)

# A rule that creates values may recurse for ever; without a declared bound this many rounds are taken to be that.
MOST_ROUNDS = 100_000


def fixpoint(
    engine: Engine[F], rules: Sequence[Rule], known: F, new: F, work: Work, negated: F | None = None
) -> tuple[F, list[F]]:
    """Close `known | new` under the rules; `known` is closed already and disjoint from `new`.

    Returns everything, and what each round added. Each match of a rule is considered once: when the last of its facts
    arrives, and then only for the leftmost atom that matches a new fact. Negated atoms read `negated`, or everything:
    what they name is complete before these rules run.
    """
    rules, everything = tuple(rules), known | new
    added: list[F] = []
    bound = min((r.bound for r in rules if r.bound is not None), default=None)
    while new:
        work.check()
        work.rounds += 1
        absent = everything if negated is None else negated
        derived = engine.derive_pivoted(rules, known, new, everything, absent, work)
        known, new = everything, derived - everything
        everything = known | new
        added.append(new)
        check_bound(bound, sum(map(len, added)) if bound else 0, len(added))
    return everything, added


def consequences(engine: Engine[F], rules: Sequence[Rule], known: F, new: F, work: Work, negated: F | None = None) -> F:
    """`new`, and all that follows from it together with `known`; both as in `fixpoint`."""
    _, rounds = fixpoint(engine, rules, known, new, work, negated)
    for N in rounds:
        new = new | N
    return new


def check_bound(bound: int | None, added: int, rounds: int) -> None:
    """Refuse a recursion that seems to have no end."""
    if bound is not None and added > bound:
        raise LimitError(
            f"a recursive rule with #[bound({bound})] has led to {added} new facts. "
            "Nothing was changed. Raise the bound, or restrict the rule."
        )
    if bound is None and rounds > MOST_ROUNDS:
        raise LimitError(
            f"no end after {rounds} rounds: a recursive rule seems to create values for ever. "
            "Nothing was changed. Restrict the rule, or declare how many facts it may lead to with #[bound(N)]."
        )
