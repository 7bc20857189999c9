"""SWRL's built-in relations (swrlb:) as our functions.

A test is a condition on its arguments. In `swrlb:add(?z, ?x, ?y)` the first argument is the result: it is computed
where nothing else binds it, and compared where something does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidelog.rules.syntax import Call, Expression

Build = Callable[..., Expression]


@dataclass(frozen=True, slots=True)
class Builtin:
    """How a built-in is computed; of a test all arguments are inputs, of a function all but the first."""

    build: Build
    least: int
    most: int | None
    is_test: bool = False

    def takes(self, inputs: int) -> bool:
        return inputs >= self.least and (self.most is None or inputs <= self.most)

    def wanted(self) -> str:
        """How many arguments there must be, the result included."""
        least = self.least + (not self.is_test)
        if self.most is None:
            return f"at least {least}"
        most = self.most + (not self.is_test)
        return str(least) if most == least else f"{least} or {most}"


def _test(function: str) -> Builtin:
    return Builtin(lambda x, y: Call(function, (x, y)), 2, 2, is_test=True)


def _unary(function: str) -> Builtin:
    return Builtin(lambda x: Call(function, (x,)), 1, 1)


def _binary(function: str) -> Builtin:
    return Builtin(lambda x, y: Call(function, (x, y)), 2, 2)


def _folded(function: str) -> Builtin:
    return Builtin(lambda *args: Call(function, args), 2, None)


def _lower(x: Expression) -> Call:
    return Call("LCASE", (x,))


BUILTINS: dict[str, Builtin] = {
    "equal": _test("="),
    "notEqual": _test("!="),
    "lessThan": _test("<"),
    "lessThanOrEqual": _test("<="),
    "greaterThan": _test(">"),
    "greaterThanOrEqual": _test(">="),
    "contains": _test("CONTAINS"),
    "startsWith": _test("STRSTARTS"),
    "endsWith": _test("STRENDS"),
    "matches": _test("REGEX"),
    "containsIgnoreCase": Builtin(lambda x, y: Call("CONTAINS", (_lower(x), _lower(y))), 2, 2, is_test=True),
    "stringEqualIgnoreCase": Builtin(lambda x, y: Call("=", (_lower(x), _lower(y))), 2, 2, is_test=True),
    "add": _folded("SUM"),
    "subtract": _binary("-"),
    "multiply": _folded("PRODUCT"),
    # SWRL divides decimals; our division of two integers is whole.
    "divide": Builtin(lambda x, y: Call("/", (Call("DOUBLE", (x,)), y)), 2, 2),
    "integerDivide": _binary("/"),
    "mod": _binary("REM"),
    "pow": _binary("POW"),
    "unaryPlus": Builtin(lambda x: x, 1, 1),
    "unaryMinus": _unary("INVERTSIGN"),
    "abs": _unary("ABS"),
    "ceiling": _unary("CEIL"),
    "floor": _unary("FLOOR"),
    "round": _unary("ROUND"),
    "sin": _unary("SIN"),
    "cos": _unary("COS"),
    "tan": _unary("TAN"),
    "stringConcat": Builtin(lambda *args: Call("CONCAT", tuple(Call("STR", (a,)) for a in args)), 1, None),
    "substring": Builtin(lambda *args: Call("SUBSTR", args), 2, 3),
    "stringLength": _unary("STRLEN"),
    "upperCase": _unary("UCASE"),
    "lowerCase": _unary("LCASE"),
    "substringBefore": _binary("STRBEFORE"),
    "substringAfter": _binary("STRAFTER"),
    "booleanNot": _unary("NOT"),
}
