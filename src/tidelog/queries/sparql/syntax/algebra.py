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

from tidelog.model.terms import Term
from tidelog.rules.syntax import Variable

Node = Variable | Term


@dataclass(frozen=True, slots=True)
class Link:
    """A path of one triple."""

    predicate: Term


@dataclass(frozen=True, slots=True)
class Inverse:
    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    first: Path
    second: Path


@dataclass(frozen=True, slots=True)
class Alternative:
    first: Path
    second: Path


@dataclass(frozen=True, slots=True)
class Repeat:
    """`?` (at most once), `*` (any number) or `+` (at least once); pairs are distinct."""

    path: Path
    zero: bool
    many: bool


@dataclass(frozen=True, slots=True)
class Negated:
    """A negated property set: any predicate not in `forward`, or backwards any predicate not in `backward`."""

    forward: frozenset[Term] | None
    backward: frozenset[Term] | None


Path = Link | Inverse | Sequence | Alternative | Repeat | Negated


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """An operator (`&&`, `<`, …), a built-in by its name in capitals, or a cast by its datatype's IRI."""

    function: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    pattern: Pattern


Expression = Variable | Term | FunctionCall | Exists


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """COUNT, SUM, …. If `expression` is None, this is `COUNT(*)`."""

    function: str
    expression: Expression | None
    distinct: bool = False
    separator: str = " "


@dataclass(frozen=True, slots=True)
class Triple:
    subject: Node
    predicate: Node
    object: Node

    def variables(self) -> Iterator[Variable]:
        return (n for n in (self.subject, self.predicate, self.object) if isinstance(n, Variable))


@dataclass(frozen=True, slots=True)
class BasicPattern:
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class PathPattern:
    subject: Node
    path: Path
    object: Node


@dataclass(frozen=True, slots=True)
class Join:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    left: Pattern
    right: Pattern
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Union:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Minus:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Filter:
    pattern: Pattern
    condition: Expression


@dataclass(frozen=True, slots=True)
class Extend:
    pattern: Pattern
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class GraphPattern:
    """A pattern in a named graph."""

    name: Node
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Group:
    """One solution for each group: its keys and the results of aggregates."""

    pattern: Pattern
    keys: tuple[tuple[Variable, Expression], ...]
    aggregates: tuple[tuple[Variable, AggregateCall], ...]
    implicit: bool  # no GROUP BY: all solutions form one group, also if there is none


@dataclass(frozen=True, slots=True)
class Order:
    pattern: Pattern
    conditions: tuple[tuple[Expression, bool], ...]  # expression, whether it descends


@dataclass(frozen=True, slots=True)
class Project:
    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Slice:
    pattern: Pattern
    offset: int
    limit: int | None


Pattern = (
    BasicPattern
    | PathPattern
    | Join
    | LeftJoin
    | Union
    | Minus
    | Filter
    | Extend
    | Values
    | GraphPattern
    | Group
    | Order
    | Project
    | Distinct
    | Slice
)

UNIT = BasicPattern(())


@dataclass(frozen=True, slots=True)
class Select:
    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Construct:
    pattern: Pattern
    template: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    pattern: Pattern
    resources: tuple[Node, ...]


Query = Select | Ask | Construct | Describe


def is_named(variable: Variable) -> bool:
    """Whether a user wrote the variable: it is neither a blank node nor added by the translation."""
    return variable.name[0] not in "_." or (variable.name[0] == "_" and variable.name[:2] != "_:")


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
        case GraphPattern(name, inner):
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
        case Project(inner) | Distinct(inner) | Slice(inner) | GraphPattern(_, inner):
            return found | everywhere(inner)
        case _:
            return found
