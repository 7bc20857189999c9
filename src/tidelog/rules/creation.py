"""Value-creating recursion: a rule that computes new values from values it created itself may never end.

    count(?n + 1) :- count(?n) .

Such a rule runs only if it says where it stops: with a comparison on the value or on what it is computed from, or with
`#[bound(N)]`, which ends the run with an error when the rule would add more than N facts.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.rules.operators import ORDER_COMPARISONS, SETTLING
from tidelog.rules.safety import rule_error
from tidelog.rules.syntax import Assignment, Atom, Call, Condition, Expression, Rule, Variable, expression_variables


def check_creation(rule: Rule, heads: Iterable[Atom], atoms: Iterable[Atom]) -> None:
    """Refuse a rule that may put unlimited new values into `heads`, given that it reads its own results in `atoms`.

    What is computed only from variables that other atoms bind too takes finitely many values and needs no limit.
    """
    if rule.bound is not None:
        return
    through = set(atoms)
    finite = {v for atom in rule.atoms if atom not in through for v in atom.variables()}
    growing = {v for atom in through for v in atom.variables()} - finite
    limited = _compared(rule)
    sources = _created(rule)
    for variable in (v for head in heads for v in head.variables() if v in sources):
        grown = sources[variable] & growing
        if grown and limited.isdisjoint({variable, *sources[variable]}):
            raise rule_error(
                rule,
                f"{variable} is a new value in each round of this recursive rule, which may never end; limit "
                f"{min(grown, key=str)} or {variable} with a comparison (< <= > >=), "
                "or put #[bound(1000)] before the rule",
            )


def _created(rule: Rule) -> dict[Variable, set[Variable]]:
    """The variables computed by a call, directly or through others, each with all it is computed from."""
    assigned = {b.variable: b.expression for b in rule.body if isinstance(b, Assignment)}
    for atom in rule.atoms:
        for variable in atom.variables():
            assigned.pop(variable, None)
    sources = {v: _reach(v, assigned) for v in assigned}
    return {v: s for v, s in sources.items() if any(_is_call(assigned.get(u)) for u in (v, *s))}


def _is_call(expression: Expression | None) -> bool:
    """Whether new values come out of new values; a function that gives its own results back gives few."""
    if not isinstance(expression, Call):
        return False
    return expression.function not in SETTLING or any(isinstance(a, Call) for a in expression.args)


def _reach(variable: Variable, assigned: dict[Variable, Expression]) -> set[Variable]:
    reached: set[Variable] = set()
    waiting = [variable]
    while waiting:
        expression = assigned.get(waiting.pop())
        new = set() if expression is None else set(expression_variables(expression)) - reached
        reached |= new
        waiting += new
    return reached


def _compared(rule: Rule) -> set[Variable]:
    """The variables of comparisons that can end a recursion."""
    return {
        v
        for b in rule.body
        if isinstance(b, Condition) and isinstance(b.expression, Call) and b.expression.function in ORDER_COMPARISONS
        for v in expression_variables(b.expression)
    }
