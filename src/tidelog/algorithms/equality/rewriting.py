"""Rules over representatives: what a program says about all names of a thing, said about the one that stands for them.

Constants in atoms are replaced by their representatives. Atoms `[?x, owl:sameAs, ?y]` can only match where ?x and ?y
are the same term, so the two variables become one; what then derives a fact from itself is dropped, and with it the
axioms eq-sym, eq-trans and eq-rep of OWL 2 RL, should the program have them.

Expressions see names, not representatives: `?x != ?y` is true of two names of one thing, `?n < 18` is asked of every
number that equals ?n. A rule that computes therefore runs in versions, each variable being read or made as it stands
in the facts, or through `(same)`:

    p(?x) :- q(?x, ?n), ?n < 18             as it stands, and     p(?x) :- q(?x, ?n), (same)(?n≈, ?n), ?n≈ < 18
    p(?m) :- q(?n), ?m = ?n + 1             p(?m) :- q(?n), ?m = ?n + 1, ~(same)(?m, _)
                                    and     p(?m) :- q(?n), ?m≈ = ?n + 1, (same)(?m≈, ?m)      (each for ?n and ?n≈)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product

from tidelog.algorithms.equality.representatives import EQUALITY, SAME, SAME_AS, components
from tidelog.model.terms import TRIPLE, Term
from tidelog.rules.analysis.dependencies import dependency_graph
from tidelog.rules.analysis.normalise import Substitution, replace_in_atom, replace_in_literal
from tidelog.rules.analysis.safety import rule_error
from tidelog.rules.syntax import (
    Assignment,
    Atom,
    Condition,
    Literal,
    Negation,
    Rule,
    Variable,
    expression_variables,
)

Renaming = Mapping[Variable, Variable]

_MOST_COMPUTED = 6  # variables of one rule that expressions read or make; each doubles the versions


def rewrite_rules(rules: Iterable[Rule], standing: Mapping[Term, Term]) -> tuple[Rule, ...]:
    """The rules to run, given which terms stand for others; each once."""
    found = (with_constants(version, standing) for rule in rules for version in versions(rule))
    return tuple({rule.key: rule for rule in found if not _is_tautology(rule)}.values())


def with_constants(rule: Rule, standing: Mapping[Term, Term]) -> Rule:
    """The rule with the constants of its atoms replaced; the very same rule when there is nothing to replace."""
    if not any(constant in standing for constant in _constants(rule)):
        return rule
    heads = tuple(replace_in_atom(head, standing) for head in rule.heads)
    return replace(rule, heads=heads, body=tuple(_mapped_literal(b, standing) for b in rule.body))


@lru_cache(maxsize=1000)
def constants(rules: tuple[Rule, ...]) -> frozenset[Term]:
    """The terms in the atoms of the rules."""
    return frozenset(constant for rule in rules for constant in _constants(rule))


@lru_cache(maxsize=20_000)
def versions(rule: Rule) -> tuple[Rule, ...]:
    """The rule for representatives, but with its own constants."""
    if rule.aggregate is not None:
        raise rule_error(
            rule,
            "an aggregate counts names, but with equality by rewriting a thing has one; "
            'open the knowledge base with equality="off" and give the axioms of equality as rules',
        )
    unified = _unified(rule)
    return tuple(
        replace(
            rule,
            heads=tuple(replace_in_atom(h, unified) for h in rule.heads),
            body=(*_body(rule, unified, values), *more),
        )
        for values, more in _choices(rule, unified)
    )


def query_versions(rule: Rule) -> tuple[tuple[Rule, ...], frozenset[int]]:
    """The versions of a query (one head), and the places of its head where answers stand for others.

    In the other places an expression has read or made the value: there each version has its own.
    """
    unified = _unified(rule)
    (head,) = rule.heads
    computed = _computed(rule)
    found = []
    for values, more in _choices(rule, unified):
        known = {**unified, **{v: values.get(v, v) for v in computed}}
        found.append(replace(rule, heads=(replace_in_atom(head, known),), body=(*_body(rule, unified, values), *more)))
    return tuple(found), frozenset(i for i, v in enumerate(head.variables()) if v not in computed)


@lru_cache(maxsize=100)
def relevant(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules that an equality can depend on. They must not negate: then equalities never undo each other."""
    graph = dependency_graph([*(r for r in rules if not r.is_constraint), Rule((), (EQUALITY,))])
    seen = {len(graph.rules) - 1}
    waiting = list(seen)
    while waiting:
        new = set(graph.needs[waiting.pop()]) - seen
        seen |= new
        waiting += new
    found = tuple(rule for number, rule in enumerate(graph.rules[:-1]) if number in seen)
    for rule in found:
        if any(n.atom.predicate != SAME for n in rule.negations):
            raise rule_error(rule, "an equality depends on this rule, so with equality by rewriting it must not negate")
    return found


def goals(rules: Iterable[Rule]) -> tuple[Atom, ...]:
    """Atoms that match every fact that an equality can depend on, given the relevant rules."""
    return tuple(dict.fromkeys([EQUALITY, *(a for r in rules for a in (*r.heads, *r.atoms))]))


def _constants(rule: Rule) -> Iterator[Term]:
    for atom in (*rule.heads, *rule.atoms, *(n.atom for n in rule.negations)):
        yield from (a for a in atom.args if isinstance(a, str))


def _unified(rule: Rule) -> Renaming:
    """Which variable stands for which, by the rule's equality atoms."""
    pairs = [(a.args[0], a.args[2]) for a in rule.atoms if a.predicate == TRIPLE and a.args[1] == SAME_AS]
    names = [(Term(x.name), Term(y.name)) for x, y in pairs if isinstance(x, Variable) and isinstance(y, Variable)]
    return {Variable(name): Variable(first) for name, first in components(names).items()}


def _is_tautology(rule: Rule) -> bool:
    return bool(rule.heads) and set(rule.heads) <= set(rule.atoms)


def _computed(rule: Rule) -> dict[Variable, bool]:
    """The variables that expressions read or make, and whether they are made."""
    expressions = [b for b in rule.body if isinstance(b, Assignment | Condition)]
    read = {v: False for b in expressions for v in expression_variables(b.expression)}
    return read | {b.variable: True for b in expressions if isinstance(b, Assignment)}


def _choices(rule: Rule, unified: Renaming) -> Iterator[tuple[Renaming, tuple[Literal, ...]]]:
    """For each version: by what name expressions know each variable, and the literals that connect the names."""
    computed = _computed(rule)
    stored = {v for a in (*rule.heads, *rule.atoms, *(n.atom for n in rule.negations)) for v in a.variables()}
    several = [v for v in computed if v in stored]
    if len(several) > _MOST_COMPUTED:
        raise rule_error(rule, f"more than {_MOST_COMPUTED} variables are computed with; split the rule")
    for through in product((False, True), repeat=len(several)):
        values: dict[Variable, Variable] = {}
        more: list[Literal] = []
        for variable, is_named in zip(several, through, strict=True):
            known = unified.get(variable, variable)
            values[variable] = Variable(f"{variable.name}≈") if is_named else known
            if is_named:
                more.append(Atom(SAME, (values[variable], known)))
            elif computed[variable]:
                more.append(Negation(Atom(SAME, (known, Variable(f"_{known.name}≈")))))
        yield values, tuple(more)


def _body(rule: Rule, unified: Renaming, values: Renaming) -> Iterator[Literal]:
    for literal in dict.fromkeys(_mapped_literal(b, unified) for b in rule.body):
        yield literal if isinstance(literal, Atom | Negation) else replace_in_literal(literal, values)


def _mapped_literal(literal: Literal, mapping: Substitution) -> Literal:
    """Substitution in an atom or a negated atom; other literals stay."""
    if isinstance(literal, Negation):
        return Negation(replace_in_atom(literal.atom, mapping))
    return replace_in_atom(literal, mapping) if isinstance(literal, Atom) else literal
