"""The order in which rules run: strata, layers and levels.

Strata are groups of rules that run one after the other, so that negated and aggregated facts are complete before they
are read. A component is a set of rules that all depend on each other. The level of a component is the longest path
below it. On a path, a dependency counts if it is strict (negated, or read by an aggregate), or if exactly one of its
two components is recursive. The components of one level and kind form a stratum. In a stratum a rule comes after the
rules that it depends on.

Layers are strata of the rules before and after a change together, as coarse as negation and aggregates allow. No rule
of a layer negates or aggregates facts that another rule of the layer derives, so the algorithms for plain Datalog
apply.

Levels are groups of rules that are not recursive. A level reads only what earlier levels derive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from typing import NamedTuple

from tidelog.errors import RuleError
from tidelog.rules.analysis.dependencies import (
    DependencyGraph,
    body_atoms,
    dependency_graph,
    pattern,
    strongly_connected,
)
from tidelog.rules.analysis.safety import check_creation, rule_error
from tidelog.rules.printer import as_written, literal_as_written
from tidelog.rules.syntax import Atom, Rule


@dataclass(frozen=True)
class Stratum:
    """Rules that run together: to a fixpoint if `recursive`, else once in this order."""

    rules: tuple[Rule, ...]
    recursive: bool


def stratify(rules: Iterable[Rule]) -> list[Stratum]:
    """The strata of the rules without constraints. Negation, aggregates or new values in a cycle are a `RuleError`."""
    graph = dependency_graph([r for r in rules if not r.is_constraint])
    components = strongly_connected(graph.needs)
    component_of = {node: number for number, component in enumerate(components) for node in component}
    for component in components:
        if len(component) > 1:  # a rule and the patterns through which it depends on itself
            _check_cycle(graph, component, component_of)
    return _strata(graph, components, component_of)


def _check_cycle(graph: DependencyGraph, component: list[int], component_of: dict[int, int]) -> None:
    """Refuse strict dependencies within a component, and rules that create values without a limit."""
    here = component_of[component[0]]
    for number in sorted(n for n in component if n < len(graph.rules)):
        rule = graph.rules[number]
        inside = [
            (atom, strict) for atom, strict in body_atoms(rule) if component_of[graph.body_nodes[pattern(atom)]] == here
        ]
        for atom, strict in inside:
            if strict:
                raise _cycle_error(graph, number, atom, component_of)
        heads = [h for h in rule.heads if component_of[graph.head_nodes[pattern(h)]] == here]
        check_creation(rule, heads, [atom for atom, _ in inside])


def _cycle_error(graph: DependencyGraph, number: int, atom: Atom, component_of: dict[int, int]) -> RuleError:
    rule = graph.rules[number]
    what = "an aggregate over" if atom in rule.atoms else "the negation of"
    cycle = _path(graph, graph.body_nodes[pattern(atom)], number, component_of)
    lines = [f"then {as_written(r)}{f' ({r.location})' if r.location else ''}" for r in cycle[:-1]]
    problem = (
        f"{what} `{literal_as_written(atom, rule)}` depends on the result of its own rule; break this cycle of rules"
    )
    return rule_error(rule, problem, *lines, "then the first rule again")


def _path(graph: DependencyGraph, start: int, goal: int, component_of: dict[int, int]) -> list[Rule]:
    """The rules on a shortest path from `start` to `goal` within their component."""
    came_from = {start: start}
    queue = deque([start])
    while goal not in came_from:
        node = queue.popleft()
        for child in graph.needs[node]:
            if component_of[child] == component_of[goal] and child not in came_from:
                came_from[child] = node
                queue.append(child)
    nodes = [goal]
    while nodes[-1] != start:
        nodes.append(came_from[nodes[-1]])
    return [graph.rules[n] for n in reversed(nodes) if n < len(graph.rules)]


def _strata(graph: DependencyGraph, components: list[list[int]], component_of: dict[int, int]) -> list[Stratum]:
    """Group the components by level and kind. `components` has each component after those it depends on."""
    levels: list[_Levels] = []
    groups: dict[tuple[int, bool], list[Rule]] = {}
    for component in components:
        rules = sorted(n for n in component if n < len(graph.rules))
        below = [(levels[component_of[need]], strict) for need, strict in _outside(graph, component, component_of)]
        if rules:
            recursive = len(component) > 1
            level = max((_above(found, strict, recursive) for found, strict in below), default=0)
            groups.setdefault((level, recursive), []).extend(graph.rules[n] for n in rules)
            levels.append(_Levels(_NONE, level) if recursive else _Levels(level, _NONE))
        else:
            plain, recursive_ = (max((found[i] for found, _ in below), default=_NONE) for i in (0, 1))
            levels.append(_Levels(plain, recursive_))
    return [Stratum(tuple(groups[key]), key[1]) for key in sorted(groups)]


class _Levels(NamedTuple):
    """The highest levels of the non-recursive and of the recursive rules that a component depends on."""

    plain: int
    recursive: int


_NONE = -1


def _above(found: _Levels, strict: bool, recursive: bool) -> int:
    """The least level of a component that has this dependency."""
    plain = found.plain + (strict or recursive) if found.plain != _NONE else 0
    other = found.recursive + (strict or not recursive) if found.recursive != _NONE else 0
    return max(plain, other)


def _outside(graph: DependencyGraph, component: list[int], component_of: dict[int, int]) -> Iterator[tuple[int, bool]]:
    """The nodes outside of a component that it depends on, each with whether the dependency is strict."""
    here = component_of[component[0]]
    for node in component:
        strict = [s for _, s in body_atoms(graph.rules[node])] if node < len(graph.rules) else repeat(False)
        yield from ((need, s) for need, s in zip(graph.needs[node], strict, strict=False) if component_of[need] != here)


@dataclass(frozen=True)
class Layer:
    """The rules of a layer that stay, that are removed, and that are added."""

    kept: tuple[Rule, ...]
    removed: tuple[Rule, ...] = ()
    added: tuple[Rule, ...] = ()

    @cached_property
    def kept_plain(self) -> tuple[Rule, ...]:
        """Rules that stay and are neither aggregates nor axioms. Cached, so that caches keyed by the tuple are fast."""
        return tuple(r for r in self.kept if r.aggregate is None and r.atoms)

    @cached_property
    def kept_aggregates(self) -> tuple[Rule, ...]:
        return tuple(r for r in self.kept if r.aggregate is not None)

    @cached_property
    def kept_axioms(self) -> tuple[Rule, ...]:
        return tuple(r for r in self.kept if not r.atoms)


def layers(before: Iterable[Rule], after: Iterable[Rule]) -> list[Layer]:
    """The layers of a change of rules. Raises `RuleError` if old and new rules have no common order."""
    old = {r.key: r for r in before}
    new = {r.key: r for r in after}
    groups: list[list[Rule]] = [[]]
    for stratum in stratify({**old, **new}.values()):
        if any(r.negations or r.aggregate for r in stratum.rules):
            groups.append([])
        groups[-1].extend(stratum.rules)
    return [layer_of(group, old.keys(), new.keys()) for group in groups if group]


def layer_of(rules: Iterable[Rule], old: Set[str], new: Set[str]) -> Layer:
    """The layer of `rules`, given the keys of all rules before (`old`) and after (`new`) the change."""
    together = tuple(rules)
    return Layer(
        kept=tuple(r for r in together if r.key in old and r.key in new),
        removed=tuple(r for r in together if r.key not in new),
        added=tuple(r for r in together if r.key not in old),
    )


@lru_cache(maxsize=64)
def levels(rules: tuple[Rule, ...]) -> Sequence[Sequence[Rule]]:
    """The levels of `rules`, in which each rule comes after those it depends on."""
    graph = dependency_graph(rules)
    heights: dict[int, int] = {}
    groups: list[list[Rule]] = []
    for number, rule in enumerate(rules):
        height = heights[number] = max((_height(graph, heights, node) for node in graph.needs[number]), default=0)
        groups.extend([] for _ in range(height + 1 - len(groups)))
        groups[height].append(rule)
    return groups


def _height(graph: DependencyGraph, heights: dict[int, int], pattern: int) -> int:
    """The first level that may read the facts of a pattern. The levels of the rules it depends on are in `heights`."""
    if pattern not in heights:
        rules = len(graph.rules)
        behind = (heights[n] + 1 if n < rules else _height(graph, heights, n) for n in graph.needs[pattern])
        heights[pattern] = max(behind, default=0)
    return heights[pattern]
