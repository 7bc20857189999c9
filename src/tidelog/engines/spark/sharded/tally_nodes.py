"""Expressions over tallies in shards: as `nodes`, with `+ -` instead of `| - &`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from tidelog.engines.local.facts import Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import ScratchFiles
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.nodes import LazyNode, SetNode, total_stats
from tidelog.engines.spark.sharded.set_expressions import (
    CountsOfSpec,
    DriverTallySpec,
    OnesSpec,
    Spec,
    StoredTallySpec,
    TallySumSpec,
)
from tidelog.engines.spark.sharded.shard_files import RelationRows, ShardFile, Stat


class TallyNode(LazyNode["TallyNode"]):
    """Facts and their counts."""


class DriverTally(TallyNode):
    """A small tally in the driver's memory."""

    exact = True

    def __init__(self, tally: LocalTally, scratch: Path) -> None:
        super().__init__()
        self.tally = tally
        self.scratch = scratch

    def _counted(self) -> Mapping[Relation, Stat]:
        return {r: Stat(len(c), c.flat.run.layout.arity) for r, c in self.tally.counts.items()}

    @cached_property
    def _path(self) -> str:
        written = shard_files.write(self.scratch, list(weighted_rows(self.tally)))
        ScratchFiles(self, (written.path,))
        return written.path

    def spec(self) -> Spec:
        return DriverTallySpec(self._path)


def weighted_rows(tally: LocalTally) -> list[RelationRows]:
    """A tally as sorted rows with their weights."""
    flat = ((relation, counts.flat) for relation, counts in tally.counts.items())
    return [RelationRows(relation, w.run.layout, w.run.rows, w.weight) for relation, w in flat if len(w)]


class StoredTally(TallyNode):
    """A tally in files."""

    exact = True

    def __init__(self, written: Sequence[ShardFile | None]) -> None:
        super().__init__()
        self._paths = tuple(w.path if w else None for w in written)
        self._sum = total_stats(written)
        ScratchFiles(self, filter(None, self._paths))

    def _counted(self) -> Mapping[Relation, Stat]:
        return self._sum

    def spec(self) -> Spec:
        return StoredTallySpec(self._paths)


class TallySum(TallyNode):
    """`+ -` of two tallies."""

    def __init__(self, op: str, left: TallyNode, right: TallyNode) -> None:
        super().__init__()
        self.op = op
        self.left, self.right = left.resolved(), right.resolved()
        self.depth = max(self.left.depth, self.right.depth) + 1

    def release(self) -> None:
        self.left = self.right = self.resolved()

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return self.left, self.right

    def _counted(self) -> Mapping[Relation, Stat]:
        together = dict(self.left.stats)
        for relation, stat in self.right.stats.items():
            before = together.get(relation)
            together[relation] = stat if before is None else before.plus(stat)
        return together

    def spec(self) -> Spec:
        return TallySumSpec(self.op, self.left.id, self.right.id)


class CountsOf(TallyNode):
    """The counts of the facts of a set."""

    def __init__(self, tally: TallyNode, facts: SetNode) -> None:
        super().__init__()
        self._made_of: tuple[TallyNode, SetNode] | None = (tally.resolved(), facts.resolved())
        self._most = facts.resolved().stats
        self.depth = max(tally.resolved().depth, facts.resolved().depth) + 1

    def release(self) -> None:
        self._made_of = None

    @property
    def made_of(self) -> tuple[TallyNode, SetNode]:
        assert self._made_of is not None
        return self._made_of

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return self._made_of or ()

    def _counted(self) -> Mapping[Relation, Stat]:
        return self._most

    def spec(self) -> Spec:
        tally, facts = self.made_of
        return CountsOfSpec(tally.id, facts.id)


class Ones(TallyNode):
    """Each fact of a set, once."""

    def __init__(self, facts: SetNode) -> None:
        super().__init__()
        self.facts = facts.resolved()
        self.exact = self.facts.exact
        self.depth = self.facts.depth + 1

    @property
    def children(self) -> tuple[SetNode | TallyNode, ...]:
        return (self.facts,)

    def _counted(self) -> Mapping[Relation, Stat]:
        return self.facts.stats

    def spec(self) -> Spec:
        return OnesSpec(self.facts.id)
