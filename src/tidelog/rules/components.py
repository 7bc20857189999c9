"""Strongly connected components of a graph, by Tarjan's algorithm, without recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def strongly_connected(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """The components of the graph in which node n has edges to `edges[n]`, each after those it leads to."""
    return _Search(edges).run()


class _Search:
    def __init__(self, edges: Sequence[Sequence[int]]) -> None:
        self.edges = edges
        self.order: dict[int, int] = {}  # when a node was first seen
        self.low: dict[int, int] = {}  # the earliest node of the open ones it leads back to
        self.open: dict[int, None] = {}  # seen but not yet in a component, in that order
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
        """Follow the next edge of the last node of the path, or leave the node."""
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
