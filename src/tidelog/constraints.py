"""Constraints: `:- body .` must have no match; a change that leads to one is refused.

Before the change there was no match, so a new one has an atom among the facts that were added, or a negated atom whose
match was removed. Only those are looked for, except for constraints that are new themselves:

    plus[Bi], B1[I] .. Bn[I]          minus[Nj], B1[I] .. Bn[I]

A constraint with `#[report]` is looked at only if `strict`: its matches are allowed and listed (`inconsistencies`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine
from tidelog.algebra.extended import Extended, extend, over, pivoted
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.layers import Program
from tidelog.algorithms.outcome import Outcome
from tidelog.errors import ConstraintError
from tidelog.rules.printer import format_term
from tidelog.rules.syntax import Rule, Variable
from tidelog.rules.unnegated import unnegated

F = TypeVar("F", bound=FactSet)

_SHOWN = 3


def check_constraints(engine: Engine[F], program: Program, outcome: Outcome[F], *, strict: bool = False) -> None:
    """Raise for the first constraint that the change gives a match, with a few of its matches."""
    old = set() if program.before is program.after else {(r.key, r.report) for r in program.before if r.is_constraint}
    for rule in program.after:
        if rule.is_constraint and (strict or not rule.report):
            known = program.before is program.after or (rule.key, rule.report) in old
            for extended in _touched(rule, outcome) if known else [over(rule, outcome.I)]:
                _refuse_match(engine, rule, extended)


def _touched(rule: Rule, outcome: Outcome[F]) -> Iterator[Extended[F]]:
    """The matches of a constraint that the change may have led to; one may be found more than once."""
    I = outcome.I
    yield from pivoted(rule, I, outcome.added, I, I)
    for i, negation in enumerate(rule.negations):
        if outcome.removed.may_match(negation.atom):
            yield extend(unnegated(rule, i), (outcome.removed, *over(rule, I).sources))


def _refuse_match(engine: Engine[F], rule: Rule, extended: Extended[F]) -> None:
    variables = list(dict.fromkeys(v for a in rule.atoms for v in a.variables() if not v.name.startswith("_")))
    found = list(engine.instances(extended, variables, limit=_SHOWN + 1))
    if found:
        shown = [_match(variables, row) for row in found[:_SHOWN]]
        more = " …" if len(found) > _SHOWN else ""
        raise ConstraintError(f"the constraint {rule} has a match: {'; '.join(shown)}{more}\nNothing was changed.")


def _match(variables: Sequence[Variable], row: Sequence[str]) -> str:
    return ", ".join(f"{v} = {format_term(t)}" for v, t in zip(variables, row, strict=True)) or "its body holds"  # type: ignore[arg-type]
