"""Few facts looked up in large expressions, by the driver itself: no expression is evaluated for that, and no job run."""

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
    node = node.now()
    if not len(facts):
        return facts
    if isinstance(node, Held):
        return facts & node.facts
    if isinstance(node, Op):
        left = within(reader, node.left, facts)
        if node.op == "|":
            return left | within(reader, node.right, facts - left)
        right = within(reader, node.right, left)
        return right if node.op == "&" else left - right
    if isinstance(node, Only):
        return within(reader, node.source, facts.only(node.predicate))
    if isinstance(node, Positive):
        return counts_of(reader, node.tally, facts).facts()
    assert isinstance(node, Leaf)
    found = (here & reader.facts(node.id, 0, part, shard) for shard, part, here in _at_home(reader, facts))
    return reduce(or_, found, facts - facts)


def _at_home(reader: Reader, facts: LocalFacts) -> Iterator[tuple[int, Part, LocalFacts]]:
    """The facts by relation and home."""
    for rows in rows_of(facts):
        for shard, there in split(rows, 0, reader.shards):
            yield shard, Part.of(rows.relation), reader.of_rows([there])


def counts_of(reader: Reader, node: TallyNode, facts: LocalFacts) -> LocalTally:
    """The counts of some facts."""
    node = node.now()
    if isinstance(node, TallyHeld):
        return node.tally.of(facts)
    if isinstance(node, Sum):
        left, right = counts_of(reader, node.left, facts), counts_of(reader, node.right, facts)
        return left + right if node.op == "+" else left - right
    if isinstance(node, Of):
        tally, some = node.made_of
        return counts_of(reader, tally, within(reader, some, facts))
    if isinstance(node, Once):
        return LocalTally.once(within(reader, node.facts, facts))
    assert isinstance(node, TallyLeaf)
    parts = [reader.tally(node.id, part, shard).of(here) for shard, part, here in _at_home(reader, facts)]
    return LocalTally.sum(reader.dictionary, parts)


def whole_tally(reader: Reader, node: TallyNode) -> LocalTally:
    """All of a tally."""
    node = node.now()
    if isinstance(node, TallyHeld):
        return node.tally
    shards = (reader.tally(node.id, EVERYTHING, shard) for shard in range(reader.shards))
    return LocalTally.sum(reader.dictionary, shards)
