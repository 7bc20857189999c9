"""Expressions over sets in shards, as the driver holds them: `| - &` builds a node and does no work.

    Held        a small set, in the driver's memory
    Leaf        a set in files
    Op, Only    expressions
    Positive    the facts of a tally that count

A node knows at most how many rows of each relation it has (`rows`), which is what plans and `may_match` ask. When
somebody needs to know exactly, the engine has the node written as a leaf and the node stands for that from then on.

What sets and tallies in shards have in common: an expression that is evaluated when somebody needs to know.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.spark.cluster.cluster import ScratchFiles
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.set_expressions import (
    Copy,
    DriverSetSpec,
    OfPredicateSpec,
    PositiveFactsSpec,
    SetOperationSpec,
    SetPart,
    Spec,
    StoredSetSpec,
)
from tidelog.engines.spark.sharded.shard_files import ShardFile, Stat, has_argument, rows_of

if TYPE_CHECKING:
    from tidelog.engines.spark.sharded.tally_nodes import TallyNode

N = TypeVar("N", bound="LazyNode[Any]")

_NUMBERS = itertools.count()
LIVE_NODES: weakref.WeakValueDictionary[int, SetNode | TallyNode] = weakref.WeakValueDictionary()


class LazyNode(Generic[N]):
    """A node of an expression of kind N. `exact`: `stats` is what there is, not only what there may be at most."""

    exact = False
    depth = 0

    def __init__(self) -> None:
        self.id = next(_NUMBERS)
        LIVE_NODES[self.id] = cast("SetNode | TallyNode", self)
        self._result: N | None = None

    def resolved(self) -> N:
        """The node to use for this one: itself, or what it was found to be."""
        return cast(N, self) if self._result is None else cast(N, self._result.resolved())

    def replace_with(self, result: N) -> None:
        """From now on it stands for another node, and what it was made of is not needed for it."""
        self._result = result
        self.release()

    def release(self) -> None:
        """Let go of what it was made of."""

    @cached_property
    def stats(self) -> Mapping[Relation, Stat]:
        return self._counted()

    def _counted(self) -> Mapping[Relation, Stat]:
        raise NotImplementedError

    def total(self) -> int:
        return sum(stat.rows for stat in self.stats.values())

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return ()

    def spec(self) -> Spec:
        raise NotImplementedError


class SetNode(LazyNode["SetNode"]):
    """A set of facts."""

    def __init__(self) -> None:
        super().__init__()
        self.differences: dict[int, SetNode] = {}  # what is left without some sets, by their ids, where that is known
        self.disjoint_with: frozenset[int] = frozenset()  # the ids of sets that it shares no fact with
        self._rows: dict[SetPart, int] = {}
        self._reading: dict[SetPart, int] = {}

    def replace_with(self, result: SetNode) -> None:
        result.disjoint_with |= self.disjoint_with
        super().replace_with(result)

    def rows(self, part: SetPart) -> int:
        """How many facts a part has at most."""
        found = self._rows.get(part)
        if found is None:
            found = self._rows[part] = self._most(part)
        return found

    def _most(self, part: SetPart) -> int:
        return sum(_in_part(self.stats[relation], part) for relation in part.among(self.stats))

    def reading(self, part: SetPart) -> int:
        """How many rows have to be read to evaluate a part."""
        found = self._reading.get(part)
        if found is None:
            found = self._reading[part] = self._to_read(part)
        return found

    def _to_read(self, part: SetPart) -> int:
        return self.rows(part)

    def is_disjoint(self, other: SetNode) -> bool:
        """True only if they are known to share no fact."""
        return bool(
            self.disjoint_with & {other.id, other.resolved().id} or other.disjoint_with & {self.id, self.resolved().id}
        )


def _in_part(stat: Stat, part: SetPart) -> int:
    if part.value is None or stat.popular is None:
        return stat.rows
    return stat.popular.get(part.value, 0)


class DriverSet(SetNode):
    """A small set in the driver's memory; its file is written when a task has to read it."""

    exact = True

    def __init__(self, facts: LocalFacts, scratch: Path) -> None:
        super().__init__()
        self.facts = facts
        self.scratch = scratch

    def _counted(self) -> Mapping[Relation, Stat]:
        return {relation: Stat(len(table), table.arity) for relation, table in self.facts.tables.items()}

    def total(self) -> int:
        return len(self.facts)

    def _most(self, part: SetPart) -> int:
        rows = super()._most(part)
        if part.value is None or not rows:
            return rows
        tables = map(self.facts.table, part.among(self.stats))
        return sum(len(t) for t in tables if t is not None and t.may_hold(1, part.value))

    @cached_property
    def _path(self) -> str:
        written = shard_files.write(self.scratch, list(rows_of(self.facts)))
        ScratchFiles(self, (written.path,))
        return written.path

    def spec(self) -> Spec:
        return DriverSetSpec(self._path)


class StoredSet(SetNode):
    """A set in files. Those by the first argument go with it if they are `owned`; copies always do."""

    exact = True

    def __init__(self, written: Sequence[ShardFile | None], owned: bool = True) -> None:
        super().__init__()
        self.copies: list[Copy] = [Copy(0, None, tuple(w.path if w else None for w in written))]
        self._files = ScratchFiles(self, filter(None, self.copies[0].paths) if owned else ())
        self._sum = total_stats(written)

    def _counted(self) -> Mapping[Relation, Stat]:
        return self._sum

    def add(self, key: int, relations: frozenset[Relation], written: Sequence[ShardFile | None]) -> None:
        """A copy by another argument."""
        self.copies.append(Copy(key, relations, tuple(w.path if w else None for w in written)))
        self._files.add(*filter(None, self.copies[-1].paths))

    def lacks(self, key: int, part: SetPart) -> set[Relation]:
        """The relations of a part that have no copy by this argument."""
        copies = [c for c in self.copies if c.key == key]
        able = (r for r in part.among(self.stats) if has_argument(r, self.stats[r].arity, key))
        return {r for r in able if not any(c.has(r) for c in copies)}

    def spec(self) -> Spec:
        return StoredSetSpec(tuple(self.copies))


def total_stats(written: Iterable[ShardFile | None]) -> dict[Relation, Stat]:
    """What the pieces of a set have together."""
    together: dict[Relation, Stat] = {}
    for block in written:
        for relation, stat in block.stats.items() if block else ():
            before = together.get(relation)
            together[relation] = stat if before is None else before.plus(stat)
    return together


class SetOperation(SetNode):
    """`| - &` of two sets."""

    def __init__(self, op: str, left: SetNode, right: SetNode, exact: bool = False) -> None:
        super().__init__()
        self.op = op
        self.left, self.right = left.resolved(), right.resolved()
        self.depth = max(self.left.depth, self.right.depth) + 1
        disjoint = op == "|" and self.left.exact and self.right.exact and left.is_disjoint(right)
        self.exact = exact or disjoint
        if op == "-":
            self.disjoint_with = frozenset((right.id, self.right.id))

    def release(self) -> None:
        self.left = self.right = self.resolved()

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return self.left, self.right

    def _counted(self) -> Mapping[Relation, Stat]:
        left, right = self.left.stats, self.right.stats
        if self.op == "-":
            return left
        if self.op == "&":
            return {r: min(left[r], right[r], key=lambda stat: stat.rows) for r in left.keys() & right.keys()}
        together = dict(left)
        for relation, stat in right.items():
            before = together.get(relation)
            together[relation] = stat if before is None else before.plus(stat)
        return together

    def _most(self, part: SetPart) -> int:
        left, right = self.left.rows(part), self.right.rows(part)
        return left + right if self.op == "|" else left if self.op == "-" else min(left, right)

    def _to_read(self, part: SetPart) -> int:
        return self.left.reading(part) + self.right.reading(part)

    def spec(self) -> Spec:
        return SetOperationSpec(self.op, self.left.id, self.right.id)


class OfPredicate(SetNode):
    """The facts of one predicate."""

    def __init__(self, source: SetNode, predicate: str) -> None:
        super().__init__()
        self.source, self.predicate = source.resolved(), predicate
        self.depth = self.source.depth + 1
        self.exact = self.source.exact

    def release(self) -> None:
        self.source = self.resolved()

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return (self.source,)

    def _counted(self) -> Mapping[Relation, Stat]:
        return {r: s for r, s in self.source.stats.items() if r[0] == self.predicate}

    def spec(self) -> Spec:
        return OfPredicateSpec(self.source.id, self.predicate)


class PositiveFacts(SetNode):
    """The facts of a tally whose count is positive."""

    def __init__(self, tally: TallyNode) -> None:
        super().__init__()
        self._tally: TallyNode | None = tally.resolved()
        self._most_of = self._tally.stats
        self.depth = self._tally.depth + 1

    def release(self) -> None:
        self._tally = None

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return (self._tally,) if self._tally is not None else ()

    @property
    def tally(self) -> TallyNode:
        assert self._tally is not None
        return self._tally

    def _counted(self) -> Mapping[Relation, Stat]:
        return self._most_of

    def spec(self) -> Spec:
        return PositiveFactsSpec(self.tally.id)


def walk(roots: Iterable[SetNode | TallyNode]) -> Iterator[tuple[int, SetNode | TallyNode]]:
    """Every node that some expressions are made of: the id it is known by, and what is used for it now."""
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
