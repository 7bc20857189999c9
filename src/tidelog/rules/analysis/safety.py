"""Checks of single rules: variables are bound, functions exist, arities agree, no accidental cartesian product.

A variable is bound by a positive body atom, or by an assignment whose own variables are bound. A variable that occurs
in one negated atom and nowhere else needs no binding: no value may match. `strata` checks how rules depend on each
other.

A recursive rule may never end if it computes new values from values that it created itself:

    count(?n + 1) :- count(?n) .

Such a rule needs a limit: a comparison on the new value or on a variable from which it is computed, or `#[bound(N)]`,
which raises an error if the rule would add more than N facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tidelog.errors import Location, RuleError
from tidelog.model.terms import TRIPLE, Fact
from tidelog.rules.parsing.terms import ORDER_COMPARISONS, SETTLING, call_problem
from tidelog.rules.printer import as_written, format_fact, format_predicate, literal_as_written
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Call,
    Condition,
    Expression,
    Negation,
    Rule,
    RuleFile,
    Variable,
    all_atoms,
    expression_variables,
    literal_variables,
)


def check_rules(
    rules: Iterable[Rule], arities: Mapping[str, int] | None = None, *, allow_cartesian: bool = False
) -> dict[str, int]:
    """Refuse rules that cannot run, with advice; return the arity of every predicate."""
    found = {TRIPLE: 3, **(arities or {})}
    where: dict[str, Rule] = {}
    for rule in rules:
        _check_shape(rule)
        _check_calls(rule)
        _check_variables(rule)
        if not (allow_cartesian or rule.cartesian):
            _check_product(rule)
        _check_arities(rule, found, where)
    return found


def check_arity(facts: Iterable[Fact], arities: Mapping[str, int] | None = None) -> dict[str, int]:
    """Refuse facts with another arity than their predicate; return the arity of every predicate."""
    found = {TRIPLE: 3, **(arities or {})}
    for fact in facts:
        if found.setdefault(fact.predicate, len(fact.args)) != len(fact.args):
            raise RuleError(f"{_arity_problem(fact.predicate, len(fact.args), found)}\n    fact: {format_fact(fact)}")
    return found


def check_program(program: RuleFile) -> None:
    """Refuse a program whose facts have another number of arguments than other facts or rules; name both places."""
    first: dict[str, tuple[int, Location | None]] = {}
    for (predicate, arity), (fact, place) in program.first_facts.items():
        known, there = first.setdefault(predicate, (arity, place))
        if known != arity:
            problem = _arity_problem(predicate, arity, {predicate: known}, f" ({there})")
            raise RuleError(f"{problem}\n    fact: {format_fact(fact)}", replace(place, text=""))
    for rule in program.rules:
        for atom in all_atoms(rule):
            known, there = first.get(atom.predicate, (len(atom.args), None))
            if known != len(atom.args):
                raise rule_error(
                    rule, _arity_problem(atom.predicate, len(atom.args), {atom.predicate: known}, f" ({there})")
                )


def rule_error(rule: Rule, problem: str, *more: str) -> RuleError:
    """The error for a rule. It shows the whole rule and the lines in `more`."""
    location = replace(rule.location, text="") if rule.location else None
    return RuleError("\n    ".join([problem, f"rule: {as_written(rule)}", *more]), location)


def _check_shape(rule: Rule) -> None:
    aggregates = [a for h in rule.heads for a in h.args if isinstance(a, Aggregate)]
    if len(aggregates) > 1:
        raise rule_error(rule, "a rule computes at most one aggregate; use one rule for each")
    if rule.body and rule.heads and not rule.atoms:
        raise rule_error(rule, "a rule needs a body atom that is not negated; write what always holds as a fact")


def _check_calls(rule: Rule) -> None:
    for literal in rule.body:
        if isinstance(literal, Assignment | Condition):
            for call in _calls(literal.expression):
                if problem := call_problem(call.function, len(call.args)):
                    raise rule_error(rule, problem)


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for arg in expression.args:
            yield from _calls(arg)


def _check_variables(rule: Rule) -> None:
    bound = _bound_variables(rule)
    for literal in rule.body:
        if isinstance(literal, Negation):
            _check_negation(rule, literal, bound)
        elif unbound := literal_variables(literal) - bound:
            raise rule_error(rule, f"{_listed(unbound)} in `{literal_as_written(literal, rule)}` {_not_bound(unbound)}")
    for head in rule.heads:
        inside = (v for a in head.args if isinstance(a, Aggregate) for v in a.args)
        if unbound := {*head.variables(), *inside} - bound:
            raise rule_error(rule, f"{_listed(unbound)} in the head {_not_bound(unbound)}")


def _bound_variables(rule: Rule) -> set[Variable]:
    bound = {v for atom in rule.atoms for v in atom.variables()}
    waiting = [b for b in rule.body if isinstance(b, Assignment)]
    while ready := [a for a in waiting if bound.issuperset(expression_variables(a.expression))]:
        bound.update(a.variable for a in ready)
        waiting = [a for a in waiting if a not in ready]
    return bound


def _check_negation(rule: Rule, negation: Negation, bound: set[Variable]) -> None:
    unbound = literal_variables(negation) - bound
    elsewhere = Counter(v for b in rule.body for v in literal_variables(b))
    if shared := {v for v in unbound if elsewhere[v] > 1}:
        raise rule_error(
            rule,
            f"{_listed(shared)} in `{literal_as_written(negation, rule)}`, used elsewhere too, {_not_bound(shared)}",
        )


def _listed(variables: Iterable[Variable]) -> str:
    return ", ".join(sorted(map(str, variables)))


def _not_bound(variables: set[Variable]) -> str:
    are, them = ("is", "it") if len(variables) == 1 else ("are", "them")
    return f"{are} not bound; bind {them} with a positive body atom or an assignment"


def _check_product(rule: Rule) -> None:
    """Refuse a body whose atoms are in groups without common variables."""
    groups: list[set[Variable]] = []
    for literal in rule.body:
        groups = _merged(groups, literal_variables(literal))
    parts = [next((a for a in rule.atoms if not g.isdisjoint(a.variables())), None) for g in groups]
    unconnected = [literal_as_written(a, rule) for a in parts if a is not None]
    if len(unconnected) > 1:
        raise rule_error(
            rule,
            f"nothing connects `{unconnected[0]}` with `{unconnected[1]}`: the body is a cartesian product; "
            "share a variable, or put #[cartesian] before the rule if you want every pair",
        )


def _merged(groups: list[set[Variable]], variables: set[Variable]) -> list[set[Variable]]:
    if not variables:
        return groups
    apart = [g for g in groups if g.isdisjoint(variables)]
    return [*apart, variables.union(*(g for g in groups if not g.isdisjoint(variables)))]


def _check_arities(rule: Rule, found: dict[str, int], where: dict[str, Rule]) -> None:
    for atom in all_atoms(rule):
        arity = found.setdefault(atom.predicate, len(atom.args))
        if arity != len(atom.args):
            first = where.get(atom.predicate)
            place = f" ({first.location})" if first and first.location else ""
            raise rule_error(rule, _arity_problem(atom.predicate, len(atom.args), found, place))
        where.setdefault(atom.predicate, rule)


def _arity_problem(predicate: str, count: int, arities: Mapping[str, int], place: str = "") -> str:
    here = f"`{format_predicate(predicate)}` has {count} argument{'s' * (count != 1)} here"
    return f"{here} but {arities[predicate]} elsewhere{place}; every use needs the same"


def check_creation(rule: Rule, heads: Iterable[Atom], atoms: Iterable[Atom]) -> None:
    """Refuse a rule that may put unlimited new values into `heads`; its `atoms` read its own results.

    A value needs no limit if it is computed only from variables that other atoms bind: those have finitely many values.
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
            is_invented = variable.name.startswith("_")
            limited_by = f"{min(grown, key=str)}{'' if is_invented else f' or {variable}'}"
            raise rule_error(
                rule,
                f"{_shown(variable, rule)} is a new value in each round of this recursive rule, which may never end; "
                f"limit {limited_by} with a comparison (< <= > >=), or put #[bound(1000)] before the rule",
            )


def _shown(variable: Variable, rule: Rule) -> str:
    """A variable as the user wrote it: an invented one as its expression."""
    assigned = {b.variable: b for b in rule.body if isinstance(b, Assignment)}
    return f"`{literal_as_written(assigned[variable], rule)}`" if variable.name.startswith("_") else str(variable)


def _created(rule: Rule) -> dict[Variable, set[Variable]]:
    """The variables that calls compute, directly or indirectly, each with all variables it is computed from."""
    assigned = {b.variable: b.expression for b in rule.body if isinstance(b, Assignment)}
    for atom in rule.atoms:
        for variable in atom.variables():
            assigned.pop(variable, None)
    sources = {v: _reach(v, assigned) for v in assigned}
    return {v: s for v, s in sources.items() if any(_is_call(assigned.get(u)) for u in (v, *s))}


def _is_call(expression: Expression | None) -> bool:
    """Whether an expression can create ever new values. An idempotent function alone cannot."""
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
    """The variables in order comparisons. Such a comparison can end a recursion."""
    return {
        v
        for b in rule.body
        if isinstance(b, Condition) and isinstance(b.expression, Call) and b.expression.function in ORDER_COMPARISONS
        for v in expression_variables(b.expression)
    }
