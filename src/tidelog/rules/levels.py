"""Levels: rules that are not recursive, in groups of which each reads only what the groups before it derive."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tidelog.rules.dependencies import Graph, dependency_graph
from tidelog.rules.syntax import Rule


@lru_cache(maxsize=64)
def levels(rules: tuple[Rule, ...]) -> Sequence[Sequence[Rule]]:
    """The levels of rules that are given in an order in which each comes after those it depends on."""
    graph = dependency_graph(rules)
    heights: dict[int, int] = {}
    groups: list[list[Rule]] = []
    for number, rule in enumerate(rules):
        height = heights[number] = max((_height(graph, heights, node) for node in graph.needs[number]), default=0)
        groups.extend([] for _ in range(height + 1 - len(groups)))
        groups[height].append(rule)
    return groups


def _height(graph: Graph, heights: dict[int, int], pattern: int) -> int:
    """The first level that may read what a pattern matches. The rules behind it have their place already."""
    if pattern not in heights:
        rules = len(graph.rules)
        behind = (heights[n] + 1 if n < rules else _height(graph, heights, n) for n in graph.needs[pattern])
        heights[pattern] = max(behind, default=0)
    return heights[pattern]
