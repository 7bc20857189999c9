"""The normal form of rules that engines run, and the substitution of variables.

In the normal form every computed argument is an assignment to a variable of its own:

    p(?x + 1) :- q(?x), ~r(?x * 2)     p(?_2) :- q(?x), ?_1 = ?x * 2, ~r(?_1), ?_2 = ?x + 1

`?v = expression` binds `?v` if no atom and no earlier assignment binds it. Otherwise it is a condition. A variable that
the parser invented (its name starts with `_`) is always assigned. If an atom binds it too, both must be the same term.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any

from tidelog.model.terms import Term
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Rule,
    Variable,
    expression_variables,
    literal_variables,
)


@dataclass(frozen=True, slots=True)
class RawAggregate:
    """An aggregate as written: its arguments may be computed.

    If it is a part of the expression `within`, `AGGREGATE_VALUE` stands for it there.
    """

    function: str
    args: tuple[Expression, ...]
    within: Expression | None = None


AGGREGATE_VALUE = Variable("#")  # no name that a user can write


@dataclass(frozen=True, slots=True)
class RawAtom:
    """An atom as written: its arguments may be computed."""

    predicate: str
    args: tuple[Expression | RawAggregate, ...]


@dataclass(frozen=True, slots=True)
class RawNegation:
    atom: RawAtom


RawLiteral = RawAtom | RawNegation | Condition


def fresh_variables(used: Iterable[str]) -> Iterator[Variable]:
    """The variables `?_1`, `?_2` … without the names in `used`."""
    taken = set(used)
    return (Variable(f"_{n}") for n in count(1) if f"_{n}" not in taken)


def normalise(
    heads: Sequence[RawAtom], body: Sequence[RawLiteral], fresh: Iterator[Variable]
) -> tuple[tuple[Atom, ...], tuple[Literal, ...]]:
    """Heads and body in normal form; `fresh` gives the new variables."""
    spelled_out: list[Literal] = []
    for literal in body:
        spelled_out += _spell_out_literal(literal, fresh)
    new_heads = []
    for head in heads:
        atom, assignments = _spell_out(head, fresh)
        new_heads.append(atom)
        spelled_out += assignments
    return tuple(new_heads), tuple(_assign(spelled_out))


def _spell_out_literal(literal: RawLiteral, fresh: Iterator[Variable]) -> list[Literal]:
    if isinstance(literal, Condition):
        return [literal]
    raw = literal.atom if isinstance(literal, RawNegation) else literal
    atom, assignments = _spell_out(raw, fresh)
    return [*assignments, Negation(atom) if isinstance(literal, RawNegation) else atom]


def _spell_out(raw: RawAtom, fresh: Iterator[Variable]) -> tuple[Atom, list[Assignment]]:
    """The atom with variables for its computed arguments, and the assignments of these variables."""
    assignments: list[Assignment] = []

    def assigned(expression: Expression) -> Variable:
        assignments.append(Assignment(next(fresh), expression))
        return assignments[-1].variable

    args: list[Variable | Term | Aggregate] = []
    for arg in raw.args:
        if isinstance(arg, RawAggregate):
            variables = (a if isinstance(a, Variable) else assigned(a) for a in arg.args)
            args.append(Aggregate(arg.function, tuple(variables)))
        else:
            args.append(assigned(arg) if isinstance(arg, Call) else arg)
    return Atom(raw.predicate, tuple(args)), assignments


def _assign(body: list[Literal]) -> list[Literal]:
    """The body with an assignment for each equation that binds a variable. The other side must be bound."""
    result = list(body)
    assigned = {b.variable for b in body if isinstance(b, Assignment)}
    bound = assigned | {v for b in body if isinstance(b, Atom) for v in b.variables()}
    pending = [i for i, b in enumerate(body) if _is_equation(b)]
    progress = True
    while progress:
        progress = False
        for i in list(pending):
            found = _assignment(result[i], bound, assigned)
            if found is not None:
                result[i] = found
                bound.add(found.variable)
                assigned.add(found.variable)
                pending.remove(i)
                progress = True
    return result


def _is_equation(literal: Literal) -> bool:
    expression = literal.expression if isinstance(literal, Condition) else None
    return isinstance(expression, Call) and expression.function == "="


def _assignment(literal: Literal, bound: set[Variable], assigned: set[Variable]) -> Assignment | None:
    """The assignment of an equation whose one side is an unbound variable and whose other side is bound; else None."""
    assert isinstance(literal, Condition)
    assert isinstance(literal.expression, Call)
    left, right = literal.expression.args
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Variable) and _binds(side, bound, assigned):
            variables = set(expression_variables(other))
            if side not in variables and variables <= bound:
                return Assignment(side, other)
    return None


def _binds(variable: Variable, bound: set[Variable], assigned: set[Variable]) -> bool:
    return variable not in bound or (variable.name.startswith("_") and variable not in assigned)


Substitution = Mapping[Any, Variable | Term]  # keys are variables; in atoms also terms


def replace_in_atom(atom: Atom, values: Substitution) -> Atom:
    """The atom with its arguments replaced by their values; other arguments stay."""
    return Atom(atom.predicate, tuple(values.get(a, a) for a in atom.args))


def replace_in_expression(expression: Expression, values: Substitution) -> Expression:
    """The expression with its variables replaced by their values."""
    if isinstance(expression, Variable):
        return values.get(expression, expression)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(replace_in_expression(a, values) for a in expression.args))
    return expression


def replace_in_literal(literal: Literal, values: Substitution) -> Literal:
    """The literal with its variables replaced. If `?x` becomes a term, the assignment `?x = e` becomes a condition."""
    if isinstance(literal, Atom):
        return replace_in_atom(literal, values)
    if isinstance(literal, Negation):
        return Negation(replace_in_atom(literal.atom, values))
    expression = replace_in_expression(literal.expression, values)
    if isinstance(literal, Condition):
        return Condition(expression)
    variable = values.get(literal.variable, literal.variable)
    return (
        Assignment(variable, expression)
        if isinstance(variable, Variable)
        else Condition(Call("=", (variable, expression)))
    )


@lru_cache(maxsize=20_000)
def pivot_on_negation(rule: Rule, number: int) -> Rule:
    """The rule with its negated atom `number` also as a positive first atom.

    Variables that occur in no other literal get new names in the first atom.
    """
    negation = rule.negations[number]
    others = {v for b in rule.body if b is not negation for v in literal_variables(b)}
    fresh = fresh_variables(v.name for b in rule.body for v in literal_variables(b))
    own = {v: next(fresh) for v in dict.fromkeys(negation.atom.variables()) if v not in others}
    return replace(rule, body=(replace_in_atom(negation.atom, own), *rule.body))
