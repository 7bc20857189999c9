"""Few facts looked up in a large expression by the driver itself: nothing is evaluated for that, and no job run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.counts import Of, Once, Sum, TallyHeld, TallyLeaf, TallyNode
from tidelog.engines.spark.nodes import Held, Leaf, Node, Only, Op, Positive
from tidelog.engines.spark.pieces import rows_of, split
from tidelog.engines.spark.reader import Reader
from tidelog.engines.spark.specs import EVERYTHING, Part


def within(reader: Reader, node: Node, facts: LocalFacts) -> LocalFacts:
    """Those of some facts that are in a set."""
    return _Lookup(reader, facts).within(node)


def counts_of(reader: Reader, node: TallyNode, facts: LocalFacts) -> LocalTally:
    """The counts of some facts."""
    return _Lookup(reader, facts).counts(node)


def whole_tally(reader: Reader, node: TallyNode) -> LocalTally:
    """All of a tally."""
    node = node.now()
    if isinstance(node, TallyHeld):
        return node.tally
    shards = (reader.tally(node.id, EVERYTHING, shard) for shard in range(reader.shards))
    return LocalTally.sum(reader.dictionary, shards)


class _Lookup:
    """The same facts in every part of an expression; a part that is used twice is asked once."""

    def __init__(self, reader: Reader, facts: LocalFacts) -> None:
        self.reader, self.facts = reader, facts
        self._within: dict[int, LocalFacts] = {}
        self._counts: dict[int, LocalTally] = {}

    def within(self, node: Node) -> LocalFacts:
        node = node.now()
        if node.id not in self._within:
            self._within[node.id] = self._found(node)
        return self._within[node.id]

    def _found(self, node: Node) -> LocalFacts:
        if isinstance(node, Held):
            return self.facts & node.facts
        if isinstance(node, Op):
            left, right = self.within(node.left), self.within(node.right)
            return left | right if node.op == "|" else left - right if node.op == "-" else left & right
        if isinstance(node, Only):
            return self.within(node.source).only(node.predicate)
        if isinstance(node, Positive):
            return self.counts(node.tally).facts()
        assert isinstance(node, Leaf)
        found = (here & self.reader.facts(node.id, 0, part, shard) for shard, part, here in self._at_home(self.facts))
        return reduce(or_, found, LocalFacts(self.reader.dictionary, {}))

    def _at_home(self, facts: LocalFacts) -> Iterator[tuple[int, Part, LocalFacts]]:
        """The facts by relation and home."""
        for rows in rows_of(facts):
            for shard, there in split(rows, 0, self.reader.shards):
                yield shard, Part.of(rows.relation), self.reader.of_rows([there])

    def counts(self, node: TallyNode) -> LocalTally:
        node = node.now()
        if node.id not in self._counts:
            self._counts[node.id] = self._counted(node)
        return self._counts[node.id]

    def _counted(self, node: TallyNode) -> LocalTally:
        if isinstance(node, TallyHeld):
            return node.tally.of(self.facts)
        if isinstance(node, Sum):
            left, right = self.counts(node.left), self.counts(node.right)
            return left + right if node.op == "+" else left - right
        if isinstance(node, Of):
            tally, some = node.made_of
            return self.counts(tally).of(self.within(some))
        if isinstance(node, Once):
            return LocalTally.once(self.within(node.facts))
        assert isinstance(node, TallyLeaf)
        homes = self._at_home(self.facts)
        parts = [self.reader.tally(node.id, part, shard).of(here) for shard, part, here in homes]
        return LocalTally.sum(self.reader.dictionary, parts)
