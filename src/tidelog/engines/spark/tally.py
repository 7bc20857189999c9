"""Tallies in shards; see `tidelog.algebra.tally`. As with sets, what is small is done by the driver at once."""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.engines.spark.counts import Of, Once, Sum, TallyHeld, TallyNode
from tidelog.engines.spark.driver import Driver
from tidelog.engines.spark.facts import SparkFacts
from tidelog.engines.spark.lookup import counts_of, whole_tally
from tidelog.engines.spark.nodes import Held, Positive
from tidelog.model.facts import Fact

_DEEPEST = 16  # operations in an expression before it is written


class SparkTally:
    """Facts and their counts."""

    def __init__(self, driver: Driver, node: TallyNode) -> None:
        self.driver = driver
        self.node = node

    @classmethod
    def once(cls, facts: SparkFacts) -> SparkTally:
        driver, node = facts.driver, facts.node.now()
        if isinstance(node, Held):
            return cls(driver, driver.hold_tally(driver.local.once(node.facts)))
        return cls(driver, Once(node))

    def __len__(self) -> int:
        node = self.node.now()
        return (node if node.exact else self.driver.force_tally(node)).total()

    def __iter__(self) -> Iterator[tuple[Fact, int]]:
        return iter(whole_tally(self.driver.reader, self.node))

    def __add__(self, other: SparkTally) -> SparkTally:
        return self._sum("+", other)

    def __sub__(self, other: SparkTally) -> SparkTally:
        return self._sum("-", other)

    def _sum(self, op: str, other: SparkTally) -> SparkTally:
        driver, left, right = self.driver, self.node.now(), other.node.now()
        if isinstance(left, TallyHeld) and isinstance(right, TallyHeld):
            tally = left.tally + right.tally if op == "+" else left.tally - right.tally
            return SparkTally(driver, driver.hold_tally(tally))
        if not right.total():
            return self
        if op == "+" and not left.total():
            return other
        made = Sum(op, left, right)
        if made.depth > _DEEPEST:
            driver.force_tally(made)
        return SparkTally(driver, made)

    def of(self, facts: SparkFacts) -> SparkTally:
        driver, node = self.driver, facts.node.now()
        if isinstance(node, Held):
            return SparkTally(driver, driver.hold_tally(counts_of(driver.reader, self.node, node.facts)))
        return SparkTally(driver, Of(self.node, node))

    def facts(self) -> SparkFacts:
        node = self.node.now()
        if isinstance(node, TallyHeld):
            return SparkFacts(self.driver, self.driver.hold(node.tally.facts()))
        return SparkFacts(self.driver, Positive(node))
