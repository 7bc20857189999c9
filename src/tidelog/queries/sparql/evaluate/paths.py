"""Property paths, on ids. A breadth-first search takes one step from all nodes of the frontier at once.

`reach` returns the pairs (index of a node, target) such that a path leads from the node to the target, as often as the
path matches. A repeated path returns each pair once. A node that the query names reaches itself by a path of length
zero, even if it does not occur in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tidelog.engines.local.facts import LocalFacts
from tidelog.kernel.budget import Budget
from tidelog.kernel.join import Bindings, probe
from tidelog.kernel.rows import Ints, Mask, distinct, expand
from tidelog.kernel.table import Table
from tidelog.model.terms import TRIPLE, Term
from tidelog.queries.limits import QueryBudget
from tidelog.queries.sparql.evaluate.query_dictionary import Overlay
from tidelog.queries.sparql.evaluate.tables import bound_alike
from tidelog.queries.sparql.syntax import algebra
from tidelog.rules.syntax import Variable

Pairs = tuple[Ints, Ints]

_NODE_NAME, _OTHER, _WHICH = "node", "other", "which"  # columns of a step
_NODE_BITS = 32
_NODE = (1 << _NODE_BITS) - 1


class Paths:
    """Paths in the triples of one fact set."""

    def __init__(self, I: LocalFacts, overlay: Overlay, budget: QueryBudget) -> None:
        self.I, self.overlay, self.budget = I, overlay, budget

    def extend(self, pattern: algebra.PathPattern, bindings: Bindings, *, substituted: bool) -> Iterator[Bindings]:
        """The bindings extended by the matches of a path. `substituted`: they stand for constants of the query."""
        ends = [n for n in (pattern.subject, pattern.object) if isinstance(n, Variable)]
        bound = [v for v in ends if v in bindings.columns]
        for part in bound_alike(bindings, bound):
            if is_nullable(pattern.path) and not substituted:
                for variable in bound:
                    if variable in part.columns:
                        part = part.take(self._are_nodes(part.columns[variable]))
            yield self._extend(pattern, part)

    def _are_nodes(self, column: Ints) -> Mask:
        """Which terms occur in the graph. A variable matches only such terms, also on a path of length zero."""
        nodes = _distinct(column)
        found = np.zeros(len(nodes), dtype=np.bool_)
        for table in self.I.triple_tables.values():
            for forward in (True, False):
                open_ = np.flatnonzero(~found)
                if not len(open_):
                    return found[np.searchsorted(nodes, column)]
                bindings = Bindings({_NODE_NAME: nodes[open_]}, len(open_))
                found[open_] = probe(bindings, table, _ends(forward)).bindings_with_match(self.budget)
        return found[np.searchsorted(nodes, column)]

    def _extend(self, pattern: algebra.PathPattern, bindings: Bindings) -> Bindings:
        subject, path, object_ = pattern.subject, pattern.path, pattern.object
        starts = self._known(subject, bindings)
        if starts is None and (stops := self._known(object_, bindings)) is not None:
            return self._from(bindings, stops, algebra.Inverse(path), subject)
        if starts is None and isinstance(subject, Variable):
            nodes = self._starts(path, forward=True)
            self.budget.claim_table(bindings.length * len(nodes), len(bindings.columns) + 1)
            starts = np.tile(nodes, bindings.length)
            bindings = bindings.take(np.repeat(np.arange(bindings.length), len(nodes))).with_column(subject, starts)
        assert starts is not None
        return self._from(bindings, starts, path, object_)

    def _known(self, node: algebra.Node, bindings: Bindings) -> Ints | None:
        if isinstance(node, Variable):
            return bindings.columns.get(node)
        return np.full(bindings.length, self.overlay.encode(node), dtype=np.int64)

    def _from(self, bindings: Bindings, starts: Ints, path: algebra.Path, end: algebra.Node) -> Bindings:
        """The bindings, with `end` bound to each target of the path from `starts`."""
        rows, targets = self._follow(path, starts, forward=True)
        known = self._known(end, bindings)
        if known is not None:
            return bindings.take(rows[known[rows] == targets])
        return bindings.take(rows).with_column(end, targets)

    def _follow(self, path: algebra.Path, starts: Ints, *, forward: bool) -> Pairs:
        """The targets of a path from each start: (index in `starts`, target). Starts may repeat."""
        nodes = _distinct(starts)
        which, targets = self.reach(path, nodes, forward=forward)
        order = np.argsort(which, kind="stable")
        counts = np.bincount(which, minlength=len(nodes))
        wanted = np.searchsorted(nodes, starts)
        sizes = counts[wanted]
        total = int(sizes.sum())
        self.budget.claim_table(total, 2)
        rows, positions = expand((np.cumsum(counts) - counts)[wanted], sizes, total)
        return rows, targets[order[positions]]

    def reach(self, path: algebra.Path, nodes: Ints, *, forward: bool) -> Pairs:
        """The pairs (index of a node, target) of a path from distinct nodes; backwards unless `forward`."""
        self.budget.tick()
        match path:
            case algebra.Link(predicate):
                return self._step(self._table(predicate), nodes, forward)
            case algebra.Inverse(inner):
                return self.reach(inner, nodes, forward=not forward)
            case algebra.Sequence(first, second):
                before, after = (first, second) if forward else (second, first)
                which, middle = self.reach(before, nodes, forward=forward)
                rows, targets = self._follow(after, middle, forward=forward)
                return which[rows], targets
            case algebra.Alternative(first, second):
                return _together([self.reach(p, nodes, forward=forward) for p in (first, second)])
            case algebra.Negated():
                return self._negated(path, nodes, forward)
            case algebra.Repeat():
                return self._repeated(path, nodes, forward)

    def _table(self, predicate: Term) -> Table | None:
        id_ = self.overlay.encode(predicate)
        return self.I.table((TRIPLE, id_)) if id_ < self.overlay.start else None

    def _step(self, table: Table | None, nodes: Ints, forward: bool) -> Pairs:
        if table is None:
            return nodes[:0], nodes[:0]
        return neighbours(table, nodes, self.budget, forward=forward)

    def _negated(self, path: algebra.Negated, nodes: Ints, forward: bool) -> Pairs:
        found = []
        for excluded, along in ((path.forward, forward), (path.backward, not forward)):
            if excluded is not None:
                without = {self.overlay.encode(term) for term in excluded}
                tables = (t for p, t in self.I.triple_tables.items() if p not in without)
                found += [self._step(table, nodes, along) for table in tables]
        return _together(found) if found else (nodes[:0], nodes[:0])

    def _repeated(self, path: algebra.Repeat, nodes: Ints, forward: bool) -> Pairs:
        itself = np.arange(len(nodes), dtype=np.int64) << _NODE_BITS | nodes
        seen = _Seen(itself) if path.zero else _Seen(itself[:0])
        frontier = itself
        while len(frontier):
            rows, targets = self._follow(path.path, frontier & _NODE, forward=forward)
            self.budget.claim_table(len(seen) + len(rows), 2)
            frontier = seen.add(frontier[rows] & ~_NODE | targets)
            if not path.many:
                break
        pairs = seen.all()
        return pairs >> _NODE_BITS, pairs & _NODE

    def _starts(self, path: algebra.Path, *, forward: bool) -> Ints:
        """A superset of the nodes from which the path leads to a target."""
        match path:
            case algebra.Link(predicate):
                table = self._table(predicate)
                return self.nodes[:0] if table is None else _distinct(table.columns()[0 if forward else 1])
            case algebra.Inverse(inner):
                return self._starts(inner, forward=not forward)
            case algebra.Sequence(first, second):
                return self._starts(first if forward else second, forward=forward)
            case algebra.Alternative(first, second):
                ends = [self._starts(p, forward=forward) for p in (first, second)]
                return _distinct(np.concatenate(ends))
            case algebra.Repeat(inner, zero=False):
                return self._starts(inner, forward=forward)
            case _:
                return self.nodes

    @cached_property
    def nodes(self) -> Ints:
        """All subjects and objects of the graph."""
        columns = [c for table in self.I.triple_tables.values() for c in table.columns()]
        self.budget.claim_table(sum(map(len, columns)), 1)
        return _distinct(np.concatenate(columns or [np.empty(0, dtype=np.int64)]))


def neighbours(table: Table, nodes: Ints, budget: Budget, *, forward: bool) -> Pairs:
    """The objects (or subjects) of each node in a table of triples: (index of the node, neighbour)."""
    bindings = Bindings({_NODE_NAME: nodes, _WHICH: np.arange(len(nodes), dtype=np.int64)}, len(nodes))
    blocks = list(probe(bindings, table, _ends(forward)).carry_out((_WHICH, _OTHER), budget)) if len(nodes) else []
    parts = [(b.columns[_WHICH], b.columns[_OTHER]) for b in blocks]
    return _together(parts) if parts else (nodes[:0], nodes[:0])


def _ends(forward: bool) -> tuple[str, str]:
    return (_NODE_NAME, _OTHER) if forward else (_OTHER, _NODE_NAME)


def is_nullable(path: algebra.Path) -> bool:
    """Whether a path may have length zero."""
    match path:
        case algebra.Repeat(inner, zero):
            return zero or is_nullable(inner)
        case algebra.Inverse(inner):
            return is_nullable(inner)
        case algebra.Sequence(first, second):
            return is_nullable(first) and is_nullable(second)
        case algebra.Alternative(first, second):
            return is_nullable(first) or is_nullable(second)
        case _:
            return False


class _Seen:
    """A growing set of numbers, as sorted runs. Each run is at least twice as long as the next."""

    def __init__(self, numbers: Ints) -> None:
        self.runs = [numbers] if len(numbers) else []

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def add(self, numbers: Ints) -> Ints:
        """Add numbers, and return the new ones, sorted."""
        fresh = _distinct(numbers)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, fresh), len(run) - 1)
            fresh = fresh[run[at] != fresh]
        if len(fresh):
            self.runs.append(fresh)
            while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
                last = self.runs.pop()
                self.runs[-1] = np.sort(np.concatenate([self.runs[-1], last]))
        return fresh

    def all(self) -> Ints:
        return np.concatenate(self.runs) if self.runs else np.empty(0, dtype=np.int64)


def _distinct(numbers: Ints) -> Ints:
    found: Ints = distinct(numbers.reshape(1, -1))[0]
    return found


def _together(parts: list[Pairs]) -> Pairs:
    return np.concatenate([w for w, _ in parts]), np.concatenate([t for _, t in parts])
