"""Expressions of rules: the term that `?n + 1`, `STRLEN(?s) > 3` and `#sum(?v)` give under a binding of the variables.

An expression gives a term or has no value (None): a division by zero, an overflow, a function of the wrong type. If a
part has no value, the whole has none, and the match is dropped. `tidelog.values` defines the functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidelog.model.terms import Term
from tidelog.rules.syntax import Expression, Variable
from tidelog.values.literals import truth
from tidelog.values.rule_aggregates import AGGREGATES, aggregate
from tidelog.values.rule_functions import APPLY, COLUMNS, FUNCTIONS

__all__ = ["AGGREGATES", "FUNCTIONS", "aggregate", "evaluate", "evaluate_columns", "holds"]


def evaluate(expression: Expression, binding: Mapping[Variable, Term]) -> Term | None:
    """The term that an expression gives under a binding, or None where it has no value."""
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


def evaluate_columns(
    expression: Expression, columns: Mapping[Variable, Sequence[Term]], length: int
) -> Sequence[Term | None]:
    """`evaluate` for `length` bindings at once, given as one column of terms for each variable."""
    if isinstance(expression, Variable):
        return columns[expression]
    if isinstance(expression, str):
        return [expression] * length
    args = [evaluate_columns(arg, columns, length) for arg in expression.args]
    if (on_columns := COLUMNS.get(expression.function)) is not None:
        return on_columns(*args)
    apply = APPLY[expression.function]
    if not args:
        return [apply()] * length
    return [None if None in row else apply(*row) for row in zip(*args, strict=True)]


def holds(expression: Expression, binding: Mapping[Variable, Term]) -> bool:
    """Whether a condition is true; a condition without a value does not hold."""
    value = evaluate(expression, binding)
    return value is not None and truth(value) is True
