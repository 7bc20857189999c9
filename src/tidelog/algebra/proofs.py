"""Proofs at first sight: which facts follow in one step, as far as a short look shows.

A fact with thousands of matches needs one. An engine that can stop at the first offers the verb `proofs`, with the same
arguments; for any other the first candidates of `supports` have to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import guarded
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


def proofs(engine: Engine[F], rules: Sequence[Rule], guards: F, facts: F, negated: F, work: Work) -> tuple[F, F, F]:
    """Some of the guard facts that rules derive from `facts`, all others, and body facts from which they follow.

    The rules are as in `supports`. One of the others may have a match all the same, but one with few
    candidates should not be overlooked. Adds the number of matches looked at to `work.derivations`.
    """
    own = getattr(engine, "proofs", None)
    if own is not None:
        found: tuple[F, F, F] = own(rules, guards, facts, negated, work)
        return found
    bodies, _ = engine.supports(rules, guards, facts, negated, 0, 1, work)
    proved = engine.derive([guarded(r, guards, bodies, negated) for r in rules if guards.may_match(r.atoms[0])], Work())
    proved = proved & guards
    return proved, guards - proved, bodies
