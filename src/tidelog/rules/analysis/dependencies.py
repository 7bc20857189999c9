"""Dependencies between rules: a graph over rules and the patterns of their atoms, and its components.

A rule depends on another rule if a head of the other unifies with one of its body atoms. Atoms that differ in a
constant do not unify, so rules over triples with different predicates or classes are independent. The pattern of an
atom is its predicate, and a constant or None for each argument. Equal patterns share a node, so the graph is linear in
the rules:

    rule -> pattern of a body atom -> patterns of heads that unify -> rules with such a head

Components are found by Tarjan's algorithm without recursion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tidelog.model.terms import Term
from tidelog.rules.syntax import Atom, Negation, Rule

Constants = tuple[Term | None, ...]
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The predicate and the constants of an atom. They decide whether it unifies with another atom."""

    predicate: str
    constants: Constants


@dataclass
class DependencyGraph:
    """Nodes 0 … len(rules) - 1 are the rules, the other nodes are patterns. Node n depends on the nodes `needs[n]`."""

    rules: Sequence[Rule]
    needs: list[list[int]]
    head_nodes: dict[Pattern, int] = field(default_factory=dict)
    body_nodes: dict[Pattern, int] = field(default_factory=dict)


def pattern(atom: Atom) -> Pattern:
    return Pattern(atom.predicate, tuple(a if isinstance(a, str) else None for a in atom.args))


def body_atoms(rule: Rule) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a body, each with whether its facts must be complete before the rule runs."""
    for literal in rule.body:
        if isinstance(literal, Atom):
            yield literal, rule.aggregate is not None
        elif isinstance(literal, Negation):
            yield literal.atom, True


def dependency_graph(rules: Sequence[Rule]) -> DependencyGraph:
    graph = DependencyGraph(rules, [[] for _ in rules])
    for number, rule in enumerate(rules):
        for head in rule.heads:
            graph.needs[_node(graph, graph.head_nodes, pattern(head))].append(number)
        for atom, _ in body_atoms(rule):
            graph.needs[number].append(_node(graph, graph.body_nodes, pattern(atom)))
    unifying = _UnifyingHeads(graph.head_nodes)
    for body, node in graph.body_nodes.items():
        graph.needs[node] = [graph.head_nodes[head] for head in unifying.matching(body)]
    return graph


def _node(graph: DependencyGraph, nodes: dict[Pattern, int], key: Pattern) -> int:
    if key not in nodes:
        nodes[key] = len(graph.needs)
        graph.needs.append([])
    return nodes[key]


class _UnifyingHeads:
    """An index of head patterns. Finds those that have the constants of a body pattern at their common positions."""

    def __init__(self, heads: Iterable[Pattern]) -> None:
        self._same_shape: dict[tuple[str, Places, int], list[Pattern]] = defaultdict(list)
        self._shapes: dict[str, dict[tuple[Places, int], None]] = defaultdict(dict)
        self._tables: dict[tuple[str, Places, int, Places], dict[Constants, list[Pattern]]] = {}
        for head in heads:
            shape = _places(head), len(head.constants)
            self._same_shape[head.predicate, *shape].append(head)
            self._shapes[head.predicate][shape] = None

    def matching(self, body: Pattern) -> Iterator[Pattern]:
        mine = set(_places(body))
        for places, arity in self._shapes.get(body.predicate, ()):
            if arity == len(body.constants):
                common = tuple(p for p in places if p in mine)
                yield from self._table(body.predicate, places, arity, common).get(_at(body, common), ())

    def _table(self, predicate: str, places: Places, arity: int, common: Places) -> dict[Constants, list[Pattern]]:
        key = predicate, places, arity, common
        if key not in self._tables:
            table: dict[Constants, list[Pattern]] = defaultdict(list)
            for head in self._same_shape[predicate, places, arity]:
                table[_at(head, common)].append(head)
            self._tables[key] = table
        return self._tables[key]


def _places(of: Pattern) -> Places:
    return tuple(place for place, constant in enumerate(of.constants) if constant is not None)


def _at(of: Pattern, places: Places) -> Constants:
    return tuple(of.constants[place] for place in places)


def strongly_connected(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """The components of the graph with edges from n to `edges[n]`. A component comes after those it leads to."""
    return _ComponentSearch(edges).run()


class _ComponentSearch:
    def __init__(self, edges: Sequence[Sequence[int]]) -> None:
        self.edges = edges
        self.order: dict[int, int] = {}  # node -> when it was entered
        self.low: dict[int, int] = {}  # node -> the earliest open node that it leads to
        self.open: dict[int, None] = {}  # entered but not yet in a component, in this order
        self.path: list[tuple[int, Iterator[int]]] = []
        self.components: list[list[int]] = []

    def run(self) -> list[list[int]]:
        for root in range(len(self.edges)):
            if root not in self.order:
                self._enter(root)
            while self.path:
                self._step()
        return self.components

    def _enter(self, node: int) -> None:
        self.order[node] = self.low[node] = len(self.order)
        self.open[node] = None
        self.path.append((node, iter(self.edges[node])))

    def _step(self) -> None:
        """Follow the next edge of the last node of the path; leave the node if it has no more edges."""
        node, rest = self.path[-1]
        for child in rest:
            if child not in self.order:
                self._enter(child)
                return
            if child in self.open:
                self.low[node] = min(self.low[node], self.order[child])
        self._leave(node)

    def _leave(self, node: int) -> None:
        self.path.pop()
        if self.path:
            parent = self.path[-1][0]
            self.low[parent] = min(self.low[parent], self.low[node])
        if self.low[node] == self.order[node]:
            component: list[int] = []
            while not component or component[-1] != node:
                component.append(self.open.popitem()[0])
            self.components.append(component)
