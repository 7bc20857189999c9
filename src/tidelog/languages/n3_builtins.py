"""The built-in predicates of Notation3 that our rule language can compute, as data, and the refusal of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from tidelog.languages.n3_grammar import SWAP
from tidelog.model import terms
from tidelog.rules.operators import NEGATE
from tidelog.rules.syntax import Call, Expression

Expressions = tuple[Expression, ...]


class BuiltIn(NamedTuple):
    """What it computes from its arguments: a truth, or (`gives`) the value of its object."""

    compute: Callable[..., Expression]
    least: int  # arguments; of one that gives no value subject and object are the two
    most: int | None
    gives: bool = True


def _call(function: str) -> Callable[..., Expression]:
    return lambda *args: Call(function, args)


def _test(compute: Callable[..., Expression]) -> BuiltIn:
    return BuiltIn(compute, 2, 2, gives=False)


def _lower(expression: Expression) -> Expression:
    return Call("LCASE", (expression,))


def _text(expression: Expression) -> Expression:
    """The text of what is not known to be a string."""
    is_string = isinstance(expression, str) and terms.is_literal(expression) and expression[-1] == '"'
    return expression if is_string else Call("STR", (expression,))


def _ordered(operator: str) -> BuiltIn:
    return _test(lambda one, other: Call(operator, (Call("COMPARE", (one, other)), terms.integer(0))))


def _function(name: str, least: int = 1, most: int | None = 1) -> BuiltIn:
    return BuiltIn(_call(name), least, most)


# By what stands after http://www.w3.org/2000/10/swap/
BUILT_INS: Mapping[str, BuiltIn] = MappingProxyType(
    {
        "math#equalTo": _test(_call("=")),
        "math#notEqualTo": _test(_call("!=")),
        "math#lessThan": _test(_call("<")),
        "math#notLessThan": _test(_call(">=")),
        "math#greaterThan": _test(_call(">")),
        "math#notGreaterThan": _test(_call("<=")),
        "math#sum": _function("SUM", 1, None),
        "math#product": _function("PRODUCT", 1, None),
        "math#difference": _function("-", 2, 2),
        "math#quotient": BuiltIn(lambda one, other: Call("/", (Call("DOUBLE", (one,)), other)), 2, 2),
        "math#remainder": _function("REM", 2, 2),
        "math#exponentiation": _function("POW", 2, 2),
        "math#negation": _function(NEGATE),
        "math#absoluteValue": _function("ABS"),
        "math#rounded": _function("ROUND"),
        "math#ceiling": _function("CEIL"),
        "math#floor": _function("FLOOR"),
        "math#sin": _function("SIN"),
        "math#cos": _function("COS"),
        "math#tan": _function("TAN"),
        "string#contains": _test(_call("CONTAINS")),
        "string#containsIgnoringCase": _test(lambda one, other: Call("CONTAINS", (_lower(one), _lower(other)))),
        "string#startsWith": _test(_call("STRSTARTS")),
        "string#endsWith": _test(_call("STRENDS")),
        "string#matches": _test(_call("REGEX")),
        "string#notMatches": _test(lambda one, other: Call("NOT", (Call("REGEX", (one, other)),))),
        "string#equalIgnoringCase": _test(lambda one, other: Call("=", (_lower(one), _lower(other)))),
        "string#notEqualIgnoringCase": _test(lambda one, other: Call("!=", (_lower(one), _lower(other)))),
        "string#lessThan": _ordered("<"),
        "string#notLessThan": _ordered(">="),
        "string#greaterThan": _ordered(">"),
        "string#notGreaterThan": _ordered("<="),
        "string#concatenation": BuiltIn(lambda *args: Call("CONCAT", tuple(map(_text, args))), 1, None),
        "string#length": _function("STRLEN"),
        "string#upperCase": _function("UCASE"),
        "string#lowerCase": _function("LCASE"),
        "string#encodeForURI": _function("URIENCODE"),
        "log#equalTo": _test(_call("=")),
        "log#notEqualTo": _test(_call("!=")),
        "log#uri": _function("STR"),
        "log#langlit": _function("STRLANG", 2, 2),
    }
)


def built_in_name(predicate: object) -> str | None:
    """`math#sum` for that predicate; None for one that is no built-in."""
    is_built_in = isinstance(predicate, str) and predicate.startswith(f"<{SWAP}")
    return str(predicate)[len(SWAP) + 1 : -1] if is_built_in else None


def shown(name: str) -> str:
    return f"`{name.replace('#', ':')}`"
