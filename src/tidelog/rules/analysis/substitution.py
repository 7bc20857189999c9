"""Substitution: variables of atoms, expressions and body literals replaced by other variables or terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tidelog.model.terms import Term
from tidelog.rules.analysis.normalise import fresh_variables
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Literal,
    Negation,
    Rule,
    Variable,
    literal_variables,
)

Substitution = Mapping[Any, Variable | Term]  # keys are variables, or terms to be replaced in atoms


def replace_in_atom(atom: Atom, values: Substitution) -> Atom:
    """The atom with the values for its arguments; an argument without a value stays."""
    return Atom(atom.predicate, tuple(values.get(a, a) for a in atom.args))


def replace_in_expression(expression: Expression, values: Substitution) -> Expression:
    """The expression with the values for its variables."""
    if isinstance(expression, Variable):
        return values.get(expression, expression)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(replace_in_expression(a, values) for a in expression.args))
    return expression


def replace_in_literal(literal: Literal, values: Substitution) -> Literal:
    """The literal with the values for its variables; `?x = e` is a condition where `?x` has a term as its value."""
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
def unnegated(rule: Rule, number: int) -> Rule:
    """The rule with its `number`th negated atom put in front; variables of that atom alone get other names."""
    negation = rule.negations[number]
    others = {v for b in rule.body if b is not negation for v in literal_variables(b)}
    fresh = fresh_variables(v.name for b in rule.body for v in literal_variables(b))
    own = {v: next(fresh) for v in dict.fromkeys(negation.atom.variables()) if v not in others}
    return replace(rule, body=(replace_in_atom(negation.atom, own), *rule.body))
