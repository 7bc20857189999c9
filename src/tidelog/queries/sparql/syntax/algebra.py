"""The SPARQL algebra, with the names of section 18 of the specification. The parser builds it.

Terms are canonical N-Triples texts; variables are those of rules. A blank node in a pattern is a variable whose name
starts with `_:`. A variable that the translation adds starts with `.`. Users cannot write either, and neither is ever
projected.

    visible(pattern)         the variables that a pattern may bind
    certain(pattern)         the variables that each of its solutions binds
    mentioned(expression)    the variables that an expression depends on
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import dataclass_transform

from tidelog.model.terms import Term
from tidelog.rules.syntax import Variable

Node = Variable | Term


@dataclass_transform(frozen_default=True)
class Record:
    """The base of all classes of the algebra. It makes each subclass a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Link(Record):
    """A path of one triple."""

    predicate: Term


class Inverse(Record):
    path: Path


class Sequence(Record):
    first: Path
    second: Path


class Alternative(Record):
    first: Path
    second: Path


class Repeat(Record):
    """`?` (at most once), `*` (any number) or `+` (at least once); pairs are distinct."""

    path: Path
    zero: bool
    many: bool


class Negated(Record):
    """A negated property set: any predicate not in `forward`, or backwards any predicate not in `backward`."""

    forward: frozenset[Term] | None
    backward: frozenset[Term] | None


Path = Link | Inverse | Sequence | Alternative | Repeat | Negated


class FunctionCall(Record):
    """An operator (`&&`, `<`, …), a built-in by its name in capitals, or a cast by its datatype's IRI."""

    function: str
    args: tuple[Expression, ...]


class Exists(Record):
    pattern: Pattern


Expression = Variable | Term | FunctionCall | Exists


class AggregateCall(Record):
    """COUNT, SUM, …. If `expression` is None, this is `COUNT(*)`."""

    function: str
    expression: Expression | None
    distinct: bool = False
    separator: str = " "


class Triple(Record):
    subject: Node
    predicate: Node
    object: Node

    def variables(self) -> Iterator[Variable]:
        return (n for n in (self.subject, self.predicate, self.object) if isinstance(n, Variable))


class BasicPattern(Record):
    triples: tuple[Triple, ...]


class PathPattern(Record):
    subject: Node
    path: Path
    object: Node


class Join(Record):
    left: Pattern
    right: Pattern


class LeftJoin(Record):
    left: Pattern
    right: Pattern
    condition: Expression | None


class Union(Record):
    left: Pattern
    right: Pattern


class Minus(Record):
    left: Pattern
    right: Pattern


class Filter(Record):
    pattern: Pattern
    condition: Expression


class Extend(Record):
    pattern: Pattern
    variable: Variable
    expression: Expression


class Values(Record):
    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


class GraphPattern(Record):
    """A pattern in a named graph."""

    name: Node
    pattern: Pattern


class Group(Record):
    """One solution for each group: its keys and the results of aggregates."""

    pattern: Pattern
    keys: tuple[tuple[Variable, Expression], ...]
    aggregates: tuple[tuple[Variable, AggregateCall], ...]
    implicit: bool  # no GROUP BY: all solutions form one group, also if there is none


class Order(Record):
    pattern: Pattern
    conditions: tuple[tuple[Expression, bool], ...]  # expression, whether it descends


class Project(Record):
    pattern: Pattern
    variables: tuple[Variable, ...]


class Distinct(Record):
    pattern: Pattern


class Slice(Record):
    pattern: Pattern
    offset: int
    limit: int | None


OfTwo = Join | LeftJoin | Union | Minus
OfOne = Filter | Extend | GraphPattern | Group | Order | Project | Distinct | Slice
Pattern = BasicPattern | PathPattern | Values | OfTwo | OfOne

UNIT = BasicPattern(())


class Select(Record):
    pattern: Pattern
    variables: tuple[Variable, ...]


class Ask(Record):
    pattern: Pattern


class Construct(Record):
    pattern: Pattern
    template: tuple[Triple, ...]


class Describe(Record):
    pattern: Pattern
    resources: tuple[Node, ...]


Query = Select | Ask | Construct | Describe


def is_named(variable: Variable) -> bool:
    """Whether a user wrote the variable: it is neither a blank node nor added by the translation."""
    return not variable.name.startswith((".", "_:"))


def parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside a pattern."""
    if isinstance(pattern, OfTwo):
        return pattern.left, pattern.right
    return (pattern.pattern,) if isinstance(pattern, OfOne) else ()


def expressions(pattern: Pattern) -> Iterator[Expression]:
    """The expressions of a pattern, without those of the patterns inside it."""
    match pattern:
        case Filter(_, condition) | LeftJoin(_, _, condition):
            yield from () if condition is None else (condition,)
        case Extend(_, _, expression):
            yield expression
        case Order(_, conditions):
            yield from (expression for expression, _ in conditions)
        case Group(_, keys, aggregates):
            yield from (expression for _, expression in keys)
            yield from (a.expression for _, a in aggregates if a.expression is not None)


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
        case Minus(left, _):
            yield from _visible(left)
        case Group(_, keys, aggregates):
            yield from (variable for variable, _ in (*keys, *aggregates))
        case Values(variables, _) | Project(_, variables):
            yield from variables
        case _:
            if isinstance(pattern, GraphPattern) and isinstance(pattern.name, Variable):
                yield pattern.name
            for part in parts(pattern):
                yield from _visible(part)
            if isinstance(pattern, Extend):
                yield pattern.variable


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
    """The variables that an expression depends on, including those of a pattern in EXISTS."""
    match expression:
        case Variable():
            return frozenset((expression,))
        case FunctionCall(_, args):
            return frozenset[Variable]().union(*map(mentioned, args))
        case Exists(pattern):
            return everywhere(pattern)
        case _:
            return frozenset()


def everywhere(pattern: Pattern) -> frozenset[Variable]:
    """All variables that occur in a pattern, in any scope."""
    inside = (*map(everywhere, parts(pattern)), *map(mentioned, expressions(pattern)))
    return frozenset(_visible(pattern)).union(*inside)
