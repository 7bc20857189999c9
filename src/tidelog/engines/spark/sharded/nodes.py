"""Sets and tallies in shards, as the driver holds them: `| - &` and `+ -` build a node and do no work.

    DriverSet, DriverTally      in the driver's memory, because they are small
    StoredSet, StoredTally      in shard files
    SetOperation, OfPredicate   expressions over sets
    TallySum, CountsOf          expressions over tallies
    PositiveFacts, Ones         a set made from a tally, and a tally made from a set

A node knows an upper bound of the number of rows of each relation (`stats`). Plans and `may_match` use this bound. When
the exact number is needed, the driver evaluates the node, and the node stands for the result from then on.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import delete_with
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.set_expressions import (
    Copy,
    CountsOfSpec,
    DriverFileSpec,
    OfPredicateSpec,
    OnesSpec,
    OperationSpec,
    PositiveFactsSpec,
    SetPart,
    Spec,
    StoredSetSpec,
    StoredTallySpec,
)
from tidelog.engines.spark.sharded.shard_files import (
    RelationRows,
    ShardFile,
    Stat,
    has_argument,
    rows_of,
    weighted_rows,
)

N = TypeVar("N", bound="LazyNode[Any]")

_NUMBERS = itertools.count()
LIVE_NODES: weakref.WeakValueDictionary[int, SetNode | TallyNode] = weakref.WeakValueDictionary()


class LazyNode(Generic[N]):
    """A node of an expression; N is its type. `exact`: `stats` is exact, and not only an upper bound."""

    exact = False

    def __init__(self, *children: SetNode | TallyNode) -> None:
        self.id = next(_NUMBERS)
        LIVE_NODES[self.id] = cast("SetNode | TallyNode", self)
        self.children = tuple(child.resolved() for child in children)
        self.depth: int = max((child.depth + 1 for child in self.children), default=0)
        self._result: N | None = None

    def resolved(self) -> N:
        """The node to use instead of this one: its result if it was evaluated, else itself."""
        return cast(N, self) if self._result is None else cast(N, self._result.resolved())

    def replace_with(self, result: N) -> None:
        """Let this node stand for `result` from now on, and release its children."""
        self._result = result
        self.children = ()

    @cached_property
    def stats(self) -> Mapping[Relation, Stat]:
        """The rows of each relation, at most."""
        return self._stats() if self._result is None else self.resolved().stats

    def _stats(self) -> Mapping[Relation, Stat]:
        raise NotImplementedError

    def total(self) -> int:
        return sum(stat.rows for stat in self.stats.values())

    def spec(self) -> Spec:
        """The node as tasks read it. It names the children by the ids under which `walk` yields them."""
        raise NotImplementedError


class SetNode(LazyNode["SetNode"]):
    """A set of facts."""

    def __init__(self, *children: SetNode | TallyNode) -> None:
        super().__init__(*children)
        self.differences: dict[int, SetNode] = {}  # by the id of a set: this set without it, where that is known
        self.disjoint_with: frozenset[int] = frozenset()  # the ids of sets that share no fact with this one
        self._rows: dict[SetPart, int] = {}
        self._reading: dict[SetPart, int] = {}

    def replace_with(self, result: SetNode) -> None:
        result.disjoint_with |= self.disjoint_with
        super().replace_with(result)

    def rows(self, part: SetPart) -> int:
        """The number of facts in a part, at most."""
        found = self._rows.get(part)
        if found is None:
            found = self._rows[part] = self._count_rows(part)
        return found

    def _count_rows(self, part: SetPart) -> int:
        return sum(_rows_with_value(self.stats[relation], part) for relation in part.among(self.stats))

    def reading(self, part: SetPart) -> int:
        """The number of rows that a task reads to evaluate a part."""
        found = self._reading.get(part)
        if found is None:
            found = self._reading[part] = self._count_reading(part)
        return found

    def _count_reading(self, part: SetPart) -> int:
        return self.rows(part)

    def is_disjoint(self, other: SetNode) -> bool:
        """True only if the two sets are known to share no fact."""
        return bool(
            self.disjoint_with & {other.id, other.resolved().id} or other.disjoint_with & {self.id, self.resolved().id}
        )


def _rows_with_value(stat: Stat, part: SetPart) -> int:
    if part.value is None or stat.popular is None:
        return stat.rows
    return stat.popular.get(part.value, 0)


class TallyNode(LazyNode["TallyNode"]):
    """Facts and their counts."""


class _DriverNode(LazyNode[N]):
    """A small set or tally in the driver's memory. Its file is written when a task first reads it."""

    exact = True
    scratch: Path

    def _packed(self) -> Iterable[RelationRows]:
        raise NotImplementedError

    @cached_property
    def _spec(self) -> DriverFileSpec:
        written = shard_files.write(self.scratch, list(self._packed()))
        delete_with(self, [written.path])
        return DriverFileSpec(written.path)

    def spec(self) -> Spec:
        return self._spec


class _OperationNode(LazyNode[N]):
    """An operation on two sets, or on two tallies."""

    op: str

    @property
    def left(self) -> N:
        return cast(N, self.children[0].resolved())

    @property
    def right(self) -> N:
        return cast(N, self.children[1].resolved())

    def spec(self) -> Spec:
        return OperationSpec(self.op, self.children[0].id, self.children[1].id)


class DriverSet(_DriverNode[SetNode], SetNode):
    """A small set in the driver's memory."""

    def __init__(self, facts: LocalFacts, scratch: Path) -> None:
        super().__init__()
        self.facts, self.scratch = facts, scratch

    def _stats(self) -> Mapping[Relation, Stat]:
        return {relation: Stat(len(table), table.arity) for relation, table in self.facts.tables.items()}

    def total(self) -> int:
        return len(self.facts)

    def _count_rows(self, part: SetPart) -> int:
        rows = super()._count_rows(part)
        if part.value is None or not rows:
            return rows
        tables = map(self.facts.table, part.among(self.stats))
        return sum(len(t) for t in tables if t is not None and t.may_hold(1, part.value))

    def _packed(self) -> Iterable[RelationRows]:
        return rows_of(self.facts)


class StoredSet(SetNode):
    """A set in shard files. All files are deleted with it, but those by the first argument only if they are `owned`."""

    exact = True

    def __init__(self, written: Sequence[ShardFile | None], owned: bool = True) -> None:
        super().__init__()
        self.copies: list[Copy] = [Copy(0, None, _paths(written))]
        self._files = list(filter(None, self.copies[0].paths)) if owned else []
        delete_with(self, self._files)
        self._total_stats = add_stats(*(file.stats for file in written if file))

    def _stats(self) -> Mapping[Relation, Stat]:
        return self._total_stats

    def add(self, key: int, relations: frozenset[Relation], written: Sequence[ShardFile | None]) -> None:
        """Add a copy that is partitioned by another argument."""
        self.copies.append(Copy(key, relations, _paths(written)))
        self._files += filter(None, self.copies[-1].paths)

    def lacks(self, key: int, part: SetPart) -> set[Relation]:
        """The relations of a part that have no copy by this argument."""
        copies = [c for c in self.copies if c.key == key]
        able = (r for r in part.among(self.stats) if has_argument(r, self.stats[r].arity, key))
        return {r for r in able if not any(c.has(r) for c in copies)}

    def spec(self) -> Spec:
        return StoredSetSpec(tuple(self.copies))


def _paths(written: Sequence[ShardFile | None]) -> tuple[str | None, ...]:
    return tuple(file.path if file else None for file in written)


def add_stats(*parts: Mapping[Relation, Stat]) -> dict[Relation, Stat]:
    """The sum of some statistics."""
    together: dict[Relation, Stat] = {}
    for part in parts:
        for relation, stat in part.items():
            before = together.get(relation)
            together[relation] = stat if before is None else before.plus(stat)
    return together


class SetOperation(_OperationNode[SetNode], SetNode):
    """`| - &` of two sets."""

    def __init__(self, op: str, left: SetNode, right: SetNode) -> None:
        super().__init__(left, right)
        self.op = op
        self.exact = op == "|" and self.left.exact and self.right.exact and left.is_disjoint(right)
        if op == "-":
            self.disjoint_with = frozenset((right.id, self.right.id))

    def _stats(self) -> Mapping[Relation, Stat]:
        left, right = self.left.stats, self.right.stats
        if self.op == "-":
            return left
        if self.op == "&":
            return {r: min(left[r], right[r], key=lambda stat: stat.rows) for r in left.keys() & right.keys()}
        return add_stats(left, right)

    def _count_rows(self, part: SetPart) -> int:
        left, right = self.left.rows(part), self.right.rows(part)
        return left + right if self.op == "|" else left if self.op == "-" else min(left, right)

    def _count_reading(self, part: SetPart) -> int:
        return self.left.reading(part) + self.right.reading(part)


class OfPredicate(SetNode):
    """The facts of one predicate."""

    def __init__(self, source: SetNode, predicate: str) -> None:
        super().__init__(source)
        self.predicate = predicate
        self.exact = self.source.exact

    @property
    def source(self) -> SetNode:
        return cast(SetNode, self.children[0].resolved())

    def _stats(self) -> Mapping[Relation, Stat]:
        return {r: s for r, s in self.source.stats.items() if r[0] == self.predicate}

    def spec(self) -> Spec:
        return OfPredicateSpec(self.children[0].id, self.predicate)


class PositiveFacts(SetNode):
    """The facts of a tally whose count is positive."""

    def __init__(self, tally: TallyNode) -> None:
        super().__init__(tally)

    @property
    def tally(self) -> TallyNode:
        return cast(TallyNode, self.children[0].resolved())

    def _stats(self) -> Mapping[Relation, Stat]:
        return self.tally.stats

    def spec(self) -> Spec:
        return PositiveFactsSpec(self.children[0].id)


class DriverTally(_DriverNode[TallyNode], TallyNode):
    """A small tally in the driver's memory."""

    def __init__(self, tally: LocalTally, scratch: Path) -> None:
        super().__init__()
        self.tally, self.scratch = tally, scratch

    def _stats(self) -> Mapping[Relation, Stat]:
        return {r: Stat(len(c), c.flat.run.layout.arity) for r, c in self.tally.counts.items()}

    def _packed(self) -> Iterable[RelationRows]:
        return weighted_rows(self.tally)


class StoredTally(TallyNode):
    """A tally in shard files."""

    exact = True

    def __init__(self, written: Sequence[ShardFile | None]) -> None:
        super().__init__()
        self._spec = StoredTallySpec(_paths(written))
        self._total_stats = add_stats(*(file.stats for file in written if file))
        delete_with(self, list(filter(None, self._spec.paths)))

    def _stats(self) -> Mapping[Relation, Stat]:
        return self._total_stats

    def spec(self) -> Spec:
        return self._spec


class TallySum(_OperationNode[TallyNode], TallyNode):
    """`+ -` of two tallies."""

    def __init__(self, op: str, left: TallyNode, right: TallyNode) -> None:
        super().__init__(left, right)
        self.op = op

    def _stats(self) -> Mapping[Relation, Stat]:
        return add_stats(self.left.stats, self.right.stats)


class CountsOf(TallyNode):
    """The counts of the facts of a set."""

    def __init__(self, tally: TallyNode, facts: SetNode) -> None:
        super().__init__(tally, facts)

    @property
    def operands(self) -> tuple[TallyNode, SetNode]:
        tally, facts = self.children
        return cast(TallyNode, tally.resolved()), cast(SetNode, facts.resolved())

    def _stats(self) -> Mapping[Relation, Stat]:
        return self.operands[1].stats

    def spec(self) -> Spec:
        return CountsOfSpec(self.children[0].id, self.children[1].id)


class Ones(TallyNode):
    """The facts of a set, each with the count 1."""

    def __init__(self, facts: SetNode) -> None:
        super().__init__(facts)
        self.exact = self.facts.exact

    @property
    def facts(self) -> SetNode:
        return cast(SetNode, self.children[0].resolved())

    def _stats(self) -> Mapping[Relation, Stat]:
        return self.facts.stats

    def spec(self) -> Spec:
        return OnesSpec(self.children[0].id)


def walk(roots: Iterable[SetNode | TallyNode]) -> Iterator[tuple[int, SetNode | TallyNode]]:
    """Yield every node below some roots: its id, and the node that stands for it now."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node.id not in seen:
            seen.add(node.id)
            resolved = node.resolved()
            yield node.id, resolved
            waiting.extend(resolved.children)


def specs(roots: Iterable[SetNode | TallyNode]) -> dict[int, Spec]:
    return {id_: node.spec() for id_, node in walk(roots)}
