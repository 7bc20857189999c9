"""Expressions of rules: the term that `?n + 1`, `STRLEN(?s) > 3` and `#sum(?v)` give under a binding of the variables.

An expression gives a term, or it has no value (None): a division by zero, an overflow, an argument of a wrong type. If
a part has no value, the whole expression has none, and the match is dropped. `tidelog.values` defines the functions.

`BuiltIn` describes how our functions compute a built-in predicate of SWRL or Notation3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tidelog.model.terms import Term
from tidelog.rules.syntax import Call, Expression, Variable
from tidelog.values.literals import truth
from tidelog.values.rule_aggregates import AGGREGATES, aggregate
from tidelog.values.rule_functions import APPLY, COLUMNS, FUNCTIONS

__all__ = ["AGGREGATES", "FUNCTIONS", "aggregate"]


def evaluate(expression: Expression, binding: Mapping[Variable, Term]) -> Term | None:
    """The value of an expression under a binding; None if it has no value."""
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
    """`evaluate` for `length` bindings; `columns` has one column of terms for each variable."""
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
    """Whether a condition is true. A condition without a value is not true."""
    value = evaluate(expression, binding)
    return value is not None and truth(value) is True


class BuiltIn(NamedTuple):
    """A built-in predicate of another rule language. A test has only inputs; any other built-in has a result too."""

    compute: Callable[..., Expression]
    least: int  # number of inputs
    most: int | None  # None: any number
    is_test: bool = False

    @classmethod
    def function(cls, name: str, least: int = 1, most: int | None = 1) -> BuiltIn:
        """The built-in that calls our function `name`."""
        return cls(lambda *args: Call(name, args), least, most)

    @classmethod
    def test(cls, name: str) -> BuiltIn:
        """The test of two inputs that calls our condition `name`."""
        return cls(lambda x, y: Call(name, (x, y)), 2, 2, is_test=True)

    @classmethod
    def test_without_case(cls, name: str) -> BuiltIn:
        """The test that calls our condition `name` with both inputs in lower case."""
        return cls(lambda x, y: Call(name, (Call("LCASE", (x,)), Call("LCASE", (y,)))), 2, 2, is_test=True)


# Our division of two integers is whole; the other languages divide decimals.
QUOTIENT = BuiltIn(lambda x, y: Call("/", (Call("DOUBLE", (x,)), y)), 2, 2)
