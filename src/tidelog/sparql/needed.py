"""Which variables of a basic graph pattern somebody else looks at: the others need not be carried along."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import (
    BasicPattern,
    Call,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Order,
    PathPattern,
    Pattern,
    Project,
    Slice,
    Union,
    Values,
)
from tidelog.sparql.scope import visible


def mentions(pattern: Pattern, also: Iterable[Variable]) -> Counter[Variable]:
    """In how many parts of a query each variable occurs; a basic graph pattern is one part."""
    counts = Counter(also)
    for part in _parts(pattern):
        counts.update(part)
    return counts


def _parts(pattern: Pattern) -> Iterator[tuple[Variable, ...]]:
    match pattern:
        case BasicPattern() | PathPattern() | Values():
            yield visible(pattern)
        case Join(left, right) | Union(left, right) | Minus(left, right):
            yield from _parts(left)
            yield from _parts(right)
        case LeftJoin(left, right, condition):
            yield from _parts(left)
            yield from _parts(right)
            yield from _of(condition)
        case Filter(inner, condition):
            yield from _parts(inner)
            yield from _of(condition)
        case Extend(inner, variable, expression):
            yield from _parts(inner)
            yield (variable,)
            yield from _of(expression)
        case Graph(_, inner) | Distinct(inner) | Slice(inner):
            yield from _parts(inner)
        case Group(inner, keys, aggregates):
            yield from _parts(inner)
            for variable, expression in keys:
                yield (variable,)
                yield from _of(expression)
            for variable, aggregate in aggregates:
                yield (variable,)
                yield from _of(aggregate.expression)
                if aggregate.expression is None and aggregate.distinct:
                    yield visible(inner)
        case Order(inner, conditions):
            yield from _parts(inner)
            for expression, _ in conditions:
                yield from _of(expression)
        case Project(inner, variables):
            yield from _parts(inner)
            yield variables


def _of(expression: Expression | None) -> Iterator[tuple[Variable, ...]]:
    match expression:
        case Variable():
            yield (expression,)
        case Call(_, args):
            for arg in args:
                yield from _of(arg)
        case Exists(pattern):
            yield from _parts(pattern)
