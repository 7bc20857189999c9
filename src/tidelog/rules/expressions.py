"""Expressions of rules: what `?n + 1`, `STRLEN(?s) > 3` and `#sum(?v)` give under a binding of the variables.

An expression gives a term or has no value (None): a division by zero, an overflow, a function of the wrong type. What
has no value makes the whole expression have none, and the match is dropped. See `values` for how terms compare.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.model.terms import Term
from tidelog.rules.aggregates import AGGREGATES, aggregate
from tidelog.rules.functions import APPLY, FUNCTIONS
from tidelog.rules.syntax import Expression, Variable
from tidelog.rules.values import truth

__all__ = ["AGGREGATES", "FUNCTIONS", "aggregate", "evaluate", "holds"]


def evaluate(expression: Expression, binding: Mapping[Variable, Term]) -> Term | None:
    """The term an expression gives under a binding, or None where it has no value (wrong type, division by zero …)."""
    if isinstance(expression, Variable):
        return binding[expression]
    if isinstance(expression, str):
        return expression
    args = []
    for arg in expression.args:
        value = evaluate(arg, binding)
        if value is None:
            return None
        args.append(value)
    return APPLY[expression.function](*args)


def holds(expression: Expression, binding: Mapping[Variable, Term]) -> bool:
    """Whether a condition is true; a condition without a value does not hold."""
    value = evaluate(expression, binding)
    return value is not None and truth(value) is True
