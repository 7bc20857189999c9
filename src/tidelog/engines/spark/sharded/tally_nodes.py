"""Expressions over tallies in shards: as `nodes`, with `+ -` instead of `| - &`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from tidelog.engines.local.facts import Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import Files
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.nodes import Lazy, Node, sum_of
from tidelog.engines.spark.sharded.set_expressions import OfSpec, OnceSpec, Spec, SumSpec, TallyHeldSpec, TallyLeafSpec
from tidelog.engines.spark.sharded.shard_files import Rows, Stat, Written


class TallyNode(Lazy["TallyNode"]):
    """Facts and their counts."""


class TallyHeld(TallyNode):
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
        Files(self, (written.path,))
        return written.path

    def spec(self) -> Spec:
        return TallyHeldSpec(self._path)


def weighted_rows(tally: LocalTally) -> list[Rows]:
    """A tally as sorted rows with their weights."""
    flat = ((relation, counts.flat) for relation, counts in tally.counts.items())
    return [Rows(relation, w.run.layout, w.run.rows, w.weight) for relation, w in flat if len(w)]


class TallyLeaf(TallyNode):
    """A tally in files."""

    exact = True

    def __init__(self, written: Sequence[Written | None]) -> None:
        super().__init__()
        self._paths = tuple(w.path if w else None for w in written)
        self._sum = sum_of(written)
        Files(self, filter(None, self._paths))

    def _counted(self) -> Mapping[Relation, Stat]:
        return self._sum

    def spec(self) -> Spec:
        return TallyLeafSpec(self._paths)


class Sum(TallyNode):
    """`+ -` of two tallies."""

    def __init__(self, op: str, left: TallyNode, right: TallyNode) -> None:
        super().__init__()
        self.op = op
        self.left, self.right = left.now(), right.now()
        self.depth = max(self.left.depth, self.right.depth) + 1

    def release(self) -> None:
        self.left = self.right = self.now()

    @property
    def children(self) -> tuple[Node | TallyNode, ...]:
        return self.left, self.right

    def _counted(self) -> Mapping[Relation, Stat]:
        together = dict(self.left.stats)
        for relation, stat in self.right.stats.items():
            before = together.get(relation)
            together[relation] = stat if before is None else before.plus(stat)
        return together

    def spec(self) -> Spec:
        return SumSpec(self.op, self.left.id, self.right.id)


class Of(TallyNode):
    """The counts of the facts of a set."""

    def __init__(self, tally: TallyNode, facts: Node) -> None:
        super().__init__()
        self._made_of: tuple[TallyNode, Node] | None = (tally.now(), facts.now())
        self._most = facts.now().stats
        self.depth = max(tally.now().depth, facts.now().depth) + 1

    def release(self) -> None:
        self._made_of = None

    @property
    def made_of(self) -> tuple[TallyNode, Node]:
        assert self._made_of is not None
        return self._made_of

    @property
    def children(self) -> tuple[Node | TallyNode, ...]:
        return self._made_of or ()

    def _counted(self) -> Mapping[Relation, Stat]:
        return self._most

    def spec(self) -> Spec:
        tally, facts = self.made_of
        return OfSpec(tally.id, facts.id)


class Once(TallyNode):
    """Each fact of a set, once."""

    def __init__(self, facts: Node) -> None:
        super().__init__()
        self.facts = facts.now()
        self.exact = self.facts.exact
        self.depth = self.facts.depth + 1

    @property
    def children(self) -> tuple[Node | TallyNode, ...]:
        return (self.facts,)

    def _counted(self) -> Mapping[Relation, Stat]:
        return self.facts.stats

    def spec(self) -> Spec:
        return OnceSpec(self.facts.id)
