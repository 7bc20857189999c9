"""Bodies under construction: literals, and equations with individuals that are put in place when the rule is made.

`{ann} and Person` is not `?x = ann, Person(?x)` but `Person(ann)`: with equality axiomatised (or rewritten) this also
holds for everything that is the same as ann.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from tidelog.model.terms import Term
from tidelog.model.vocabulary import TRIPLE
from tidelog.owl.expressions import Place
from tidelog.owl.names import SAME_AS
from tidelog.rules.syntax import Aggregate, Assignment, Atom, Call, Condition, Expression, Literal, Negation, Variable


@dataclass(frozen=True, slots=True)
class Same:
    """A variable is a certain individual, or another variable."""

    variable: Variable
    place: Place


Step = Literal | Same
Steps = tuple[Step, ...]
Values = dict[Variable, Place]


def fresh() -> Iterator[Variable]:
    """Variables for one rule: x y z u v w, then v1, v2 …"""
    return map(Variable, chain("xyzuvw", (f"v{n}" for n in count(1))))


def same(x: Place, y: Place) -> Steps:
    """The step that says that two places hold the same individual."""
    if x == y:
        return ()
    if isinstance(x, Variable):
        return (Same(x, y),)
    return (Same(y, x),) if isinstance(y, Variable) else (Atom(TRIPLE, (x, SAME_AS, y)),)


def resolve(heads: Sequence[Atom], steps: Steps) -> tuple[tuple[Atom, ...], tuple[Literal, ...]]:
    """Heads and body with the equations put in place; each literal once."""
    values: Values = {}
    equal: list[Literal] = []
    for step in steps:
        if isinstance(step, Same):
            equal += _unify(_place(step.variable, values), _place(step.place, values), values)
    body = [_literal(step, values) for step in steps if not isinstance(step, Same)]
    return tuple(_atom(h, values) for h in heads), tuple(dict.fromkeys([*body, *equal]))


def _unify(x: Place, y: Place, values: Values) -> list[Literal]:
    for step in same(x, y):
        if not isinstance(step, Same):
            return [step]
        values[step.variable] = step.place
    return []


def _place(place: Place, values: Values) -> Place:
    while isinstance(place, Variable) and place in values:
        place = values[place]
    return place


def _atom(atom: Atom, values: Values) -> Atom:
    return Atom(atom.predicate, tuple(a if isinstance(a, Aggregate) else _place(a, values) for a in atom.args))


def _literal(literal: Literal, values: Values) -> Literal:
    match literal:
        case Atom():
            return _atom(literal, values)
        case Negation(atom):
            return Negation(_atom(atom, values))
        case Condition(expression):
            return Condition(_expression(expression, values))
        case Assignment(variable, expression):
            return _assigned(_place(variable, values), _expression(expression, values))


def _assigned(place: Place, value: Expression) -> Literal:
    """A variable that has become an individual is compared, not assigned."""
    return Assignment(place, value) if isinstance(place, Variable) else Condition(Call("=", (place, value)))


def _expression(expression: Expression, values: Values) -> Expression:
    if isinstance(expression, Call):
        return Call(expression.function, tuple(_expression(a, values) for a in expression.args))
    return _place(expression, values)


def condition(function: str, *args: Place | Term) -> Condition:
    return Condition(Call(function, args))


def unequal(x: Place, y: Place) -> Condition:
    """Two places hold different terms."""
    return Condition(Call("NOT", (Call("SAMETERM", (x, y)),)))
