"""Constraints: `:- body .` must have no match; a change that leads to one is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tidelog.algebra.engine import Engine
from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.errors import ConstraintError
from tidelog.rules.printer import format_term
from tidelog.rules.syntax import Rule, Variable

F = TypeVar("F", bound=FactSet)

_SHOWN = 3


def check_constraints(engine: Engine[F], rules: Sequence[Rule], I: F) -> None:
    """Raise for the first constraint that has a match, with a few of its matches."""
    for rule in rules:
        if not rule.is_constraint:
            continue
        variables = list(dict.fromkeys(v for a in rule.atoms for v in a.variables() if not v.name.startswith("_")))
        found = list(engine.instances(over(rule, I), variables, limit=_SHOWN + 1))
        if found:
            shown = [_match(variables, row) for row in found[:_SHOWN]]
            more = " …" if len(found) > _SHOWN else ""
            raise ConstraintError(f"the constraint {rule} has a match: {'; '.join(shown)}{more}\nNothing was changed.")


def _match(variables: Sequence[Variable], row: Sequence[str]) -> str:
    return ", ".join(f"{v} = {format_term(t)}" for v, t in zip(variables, row, strict=True)) or "its body holds"  # type: ignore[arg-type]
