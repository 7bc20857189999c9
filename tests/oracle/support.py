"""Which facts lead to which: the rule instances of a model as a graph from body facts to head facts.

Instances of aggregate rules are left out: they have no single set of body facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.reference.engine import ReferenceFacts, conclusions, matches
from tidelog.algebra.sourced_rule import all_from
from tidelog.model.terms import Fact, Term
from tidelog.rules.syntax import Aggregate, Atom, Rule, Variable

Edges = dict[Fact, set[Fact]]


def instance_graph(rules: Iterable[Rule], facts: Iterable[Fact]) -> Edges:
    """An edge from each positive body fact to each head fact, for every match in the model."""
    edges: Edges = {}
    model = ReferenceFacts(facts)
    for rule in rules:
        if rule.aggregate is None:
            for binding in matches(all_from(rule, model)):
                for fact in _facts(rule.atoms, binding):
                    edges.setdefault(fact, set()).update(conclusions(rule, [binding]))
    return edges


def reachable(edges: Edges, start: Iterable[Fact]) -> set[Fact]:
    seen: set[Fact] = set()
    waiting = list(start)
    while waiting:
        fact = waiting.pop()
        if fact not in seen:
            seen.add(fact)
            waiting.extend(edges.get(fact, ()))
    return seen


def on_cycles(edges: Edges) -> set[Fact]:
    """The facts that support themselves through others."""
    return {fact for fact, heads in edges.items() if fact in reachable(edges, heads)}


def _facts(atoms: Iterable[Atom], binding: dict[Variable, Term]) -> Iterator[Fact]:
    for atom in atoms:
        places = (a for a in atom.args if not isinstance(a, Aggregate))
        yield Fact(atom.predicate, tuple(binding[a] if isinstance(a, Variable) else a for a in places))
