"""Which variables a pattern may bind, which it always binds, and which an expression mentions."""

from __future__ import annotations

from collections.abc import Iterator

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


def visible(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables in scope after a pattern, in order of their first appearance."""
    return tuple(dict.fromkeys(_visible(pattern)))


def _visible(pattern: Pattern) -> Iterator[Variable]:
    match pattern:
        case BasicPattern(triples):
            for triple in triples:
                yield from triple.variables()
        case PathPattern(subject, _, object_):
            yield from (n for n in (subject, object_) if isinstance(n, Variable))
        case Join(left, right) | LeftJoin(left, right) | Union(left, right):
            yield from _visible(left)
            yield from _visible(right)
        case Minus(left, _):
            yield from _visible(left)
        case Filter(inner) | Order(inner) | Distinct(inner) | Slice(inner):
            yield from _visible(inner)
        case Extend(inner, variable, _):
            yield from _visible(inner)
            yield variable
        case Graph(name, inner):
            yield from (name,) if isinstance(name, Variable) else ()
            yield from _visible(inner)
        case Group(_, keys, aggregates):
            yield from (variable for variable, _ in keys)
            yield from (variable for variable, _ in aggregates)
        case Values(variables, _) | Project(_, variables):
            yield from variables


def certain(pattern: Pattern) -> frozenset[Variable]:
    """Variables that every solution binds."""
    match pattern:
        case BasicPattern() | PathPattern():
            return frozenset(_visible(pattern))
        case Join(left, right):
            return certain(left) | certain(right)
        case LeftJoin(left) | Minus(left):
            return certain(left)
        case Union(left, right):
            return certain(left) & certain(right)
        case Filter(inner) | Order(inner) | Distinct(inner) | Slice(inner) | Extend(inner):
            return certain(inner)
        case Values(variables, rows):
            return frozenset(v for i, v in enumerate(variables) if all(row[i] is not None for row in rows))
        case Project(inner, variables):
            return certain(inner) & frozenset(variables)
        case Group(inner, keys):
            return frozenset(v for v, expression in keys if v == expression) & certain(inner)
        case _:
            return frozenset()


def mentioned(expression: Expression) -> frozenset[Variable]:
    """The variables an expression depends on, those of a pattern in EXISTS included."""
    match expression:
        case Variable():
            return frozenset((expression,))
        case Call(_, args):
            return frozenset[Variable]().union(*map(mentioned, args))
        case Exists(pattern):
            return everywhere(pattern)
        case _:
            return frozenset()


def everywhere(pattern: Pattern) -> frozenset[Variable]:
    """All variables that occur in a pattern, in whatever scope."""
    found = frozenset(_visible(pattern))
    match pattern:
        case Join(left, right) | Union(left, right) | Minus(left, right):
            return found | everywhere(left) | everywhere(right)
        case LeftJoin(left, right, condition):
            inside = everywhere(left) | everywhere(right)
            return found | inside | (mentioned(condition) if condition is not None else frozenset())
        case Filter(inner, condition):
            return found | everywhere(inner) | mentioned(condition)
        case Extend(inner, _, expression):
            return found | everywhere(inner) | mentioned(expression)
        case Order(inner, conditions):
            return (found | everywhere(inner)).union(*(mentioned(e) for e, _ in conditions))
        case Group(inner, keys, aggregates):
            used = [e for _, e in keys] + [a.expression for _, a in aggregates if a.expression is not None]
            return (found | everywhere(inner)).union(*map(mentioned, used))
        case Project(inner) | Distinct(inner) | Slice(inner) | Graph(_, inner):
            return found | everywhere(inner)
        case _:
            return found
