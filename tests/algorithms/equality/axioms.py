"""Equality axiomatised: what rewriting must be indistinguishable from. Symmetry, transitivity, and replacement in every
place of every relation (eq-sym, eq-trans, eq-rep-s, eq-rep-p, eq-rep-o of OWL 2 RL, and the same beyond triples)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tidelog.algorithms.equality.representatives import SAME_AS
from tidelog.model.terms import Fact
from tidelog.rules.syntax import Atom, Rule, Variable

X, Y, Z = map(Variable, "xyz")


def equal(x: Variable, y: Variable) -> Atom:
    return Atom("triple", (x, SAME_AS, y))


def axioms(arities: Mapping[str, int]) -> list[Rule]:
    congruence = [Rule((equal(Y, X),), (equal(X, Y),)), Rule((equal(X, Z),), (equal(X, Y), equal(Y, Z)))]
    places = ((name, arity, place) for name, arity in arities.items() for place in range(arity))
    return [*congruence, *(_replacement(*where) for where in places)]


def _replacement(name: str, arity: int, place: int) -> Rule:
    args = [Variable(f"a{i}") for i in range(arity)]
    replaced = [Y if i == place else a for i, a in enumerate(args)]
    body = (equal(X, Y), Atom(name, tuple(X if i == place else a for i, a in enumerate(args))))
    return Rule((Atom(name, tuple(replaced)),), body)


def arities(rules: Iterable[Rule], facts: Iterable[Fact]) -> dict[str, int]:
    return {"triple": 3, **dict(_seen(rules, facts))}


def _seen(rules: Iterable[Rule], facts: Iterable[Fact]) -> Iterator[tuple[str, int]]:
    yield from ((fact.predicate, len(fact.args)) for fact in facts)
    for rule in rules:
        for atom in (*rule.heads, *rule.atoms, *(n.atom for n in rule.negations)):
            yield atom.predicate, len(atom.args)
