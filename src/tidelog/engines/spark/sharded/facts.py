"""Fact sets in shards; see `tidelog.algebra.fact_set`.

The driver computes `| - &` of two sets in its memory at once. It also computes `small - large`: it looks up a few facts
in the files. Every other operation becomes an expression, which tasks evaluate when they read it. The same holds for
tallies and `+ -`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from tidelog import tuning
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.sharded.driver import Driver, counts_of, whole_tally, within
from tidelog.engines.spark.sharded.nodes import (
    CountsOf,
    DriverSet,
    DriverTally,
    OfPredicate,
    PositiveFacts,
    SetNode,
    SetOperation,
    StoredSet,
    TallyNode,
    TallySum,
)
from tidelog.engines.spark.sharded.set_expressions import EVERYTHING, OPERATORS, part_of
from tidelog.model.terms import TRIPLE, Fact
from tidelog.rules.syntax import Atom


class SparkFacts:
    """An immutable set of facts."""

    def __init__(self, driver: Driver, node: SetNode) -> None:
        self.driver = driver
        self.node = node
        self.searched_here: bool | None = None  # where the engine's `supports` began

    def __or__(self, other: SparkFacts) -> SparkFacts:
        return SparkFacts(self.driver, operate(self.driver, "|", self.node, other.node))

    def __sub__(self, other: SparkFacts) -> SparkFacts:
        return SparkFacts(self.driver, operate(self.driver, "-", self.node, other.node))

    def __and__(self, other: SparkFacts) -> SparkFacts:
        return SparkFacts(self.driver, operate(self.driver, "&", self.node, other.node))

    def _known(self) -> SetNode:
        """The node, evaluated if its size is not exact."""
        node = self.node.resolved()
        return node if node.exact else self.driver.force(node)

    def __len__(self) -> int:
        return self._known().total()

    def __bool__(self) -> bool:
        return is_nonempty(self.driver, self.node)

    def __iter__(self) -> Iterator[Fact]:
        node = self.node.resolved()
        if isinstance(node, DriverSet):
            yield from node.facts
        else:
            for shard in range(self.driver.shards):
                yield from self.driver.reader.facts(node.id, 0, EVERYTHING, shard)

    def predicates(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for (predicate, _), stat in self._known().stats.items():
            sizes[predicate] = sizes.get(predicate, 0) + stat.rows
        return sizes

    def count_of(self, predicate: str) -> int:
        return self.predicates().get(predicate, 0)

    def arities(self) -> dict[str, int]:
        return {name: 3 if name == TRIPLE else stat.arity for (name, _), stat in self._known().stats.items()}

    def of_predicate(self, predicate: str) -> SparkFacts:
        node = self.node.resolved()
        if isinstance(node, DriverSet):
            return SparkFacts(self.driver, self.driver.hold(node.facts.of_predicate(predicate)))
        return SparkFacts(self.driver, OfPredicate(node, predicate))

    def may_match(self, atom: Atom) -> bool:
        node = self.node.resolved()
        if isinstance(node, DriverSet):
            return node.facts.may_match(atom)
        return node.rows(part_of(atom, self.driver.dictionary.encode)) > 0

    def to_local(self) -> LocalFacts:
        """All facts, in this process."""
        node = self.node.resolved()
        return node.facts if isinstance(node, DriverSet) else self.driver.reader.whole(node.id, EVERYTHING)

    def shard_files(self) -> list[str | None]:
        """The file of each shard that has facts, else None. The files exist as long as this set."""
        node = self.driver.force(self.node)
        if isinstance(node, DriverSet):
            node = self.node = self.driver.write(node.facts)
        assert isinstance(node, StoredSet)
        return list(node.copies[0].paths)


def is_nonempty(driver: Driver, node: SetNode) -> bool:
    """Whether the set has a fact. This runs a job only if the statistics do not tell."""
    node = node.resolved()
    if node.exact or node.total() == 0:
        return node.total() > 0
    if isinstance(node, SetOperation):
        left, right = node.left.resolved(), node.right.resolved()
        if node.op == "|":
            return is_nonempty(driver, left) or is_nonempty(driver, right)
        if node.op == "-" and left.exact and left.total() > right.total():
            return True
    return driver.force(node).total() > 0


def operate(driver: Driver, op: str, one: SetNode, other: SetNode) -> SetNode:
    """The node of an operation. The driver computes it now if that is little work."""
    left, right = one.resolved(), other.resolved()
    if op == "-":
        for known in (one, left):
            for id_ in (other.id, right.id):
                if id_ in known.differences:
                    return known.differences[id_]
    simple = _simplified(driver, op, left, right)
    if simple is not None:
        return simple
    if isinstance(left, DriverSet) and isinstance(right, DriverSet):
        return driver.hold(OPERATORS[op](left.facts, right.facts))
    if isinstance(left, DriverSet) and op != "|":
        found = within(driver.reader, right, left.facts)
        rest = driver.hold(found if op == "&" else left.facts - found)
        rest.disjoint_with |= {other.id, right.id} if op == "-" else set()
        return rest
    if op == "&" and isinstance(right, DriverSet):
        return driver.hold(within(driver.reader, left, right.facts))
    if op == "|" and isinstance(left, DriverSet):
        one, other, left, right = other, one, right, left
    return _compacted(driver, op, one, other)


def _simplified(driver: Driver, op: str, left: SetNode, right: SetNode) -> SetNode | None:
    """The result if it is empty or one of the two sets, else None."""
    nothing = LocalFacts(driver.dictionary, {})
    if left is right:
        return driver.hold(nothing) if op == "-" else left
    if not left.total():
        return right if op == "|" else left
    if not right.total():
        return right if op == "&" else left
    if op != "|" and left.is_disjoint(right):
        return left if op == "-" else driver.hold(nothing)
    return None


def _compacted(driver: Driver, op: str, one: SetNode, other: SetNode) -> SetNode:
    """A `SetOperation`. It merges earlier small changes of the same set by the same operation, like runs of a table."""
    if one.resolved().depth > tuning.EXPRESSION_DEPTH:
        driver.force(one)
    made = SetOperation(op, one, other)
    if op == "&":
        return made
    changes, base = _spine(made)
    last = changes[-2:]
    if len(last) > 1 and all(isinstance(c, DriverSet) for c in last) and last[0].total() < 2 * last[1].total():
        together = driver.hold(reduce(or_, (c.facts for c in last if isinstance(c, DriverSet))))
        left = made.left
        assert isinstance(left, SetOperation)
        compact = _compacted(driver, op, left.left, together)
    elif len(changes) >= tuning.UNMERGED_SETS:
        start = _start(changes)
        together = reduce(lambda a, b: SetOperation("|", a, b), changes[start:])
        driver.force(together)
        compact = reduce(lambda a, b: SetOperation(op, a, b), [base, *changes[:start], together])
    else:
        return made
    compact.exact = compact.exact or made.exact
    compact.disjoint_with |= made.disjoint_with
    return compact


def _spine(node: SetOperation) -> tuple[list[SetNode], SetNode]:
    """The sets that the same operation has added to a base set, or removed from it; and the base set."""
    changes: list[SetNode] = []
    base: SetNode = node
    while isinstance(base, SetOperation) and base.op == node.op and not isinstance(base.right, SetOperation):
        changes.append(base.right)
        base = base.left.resolved()
    return changes[::-1], base


def _start(changes: Sequence[SetNode]) -> int:
    """The first change to merge: the last few are merged, and those before them that are not much larger."""
    start = len(changes) - tuning.UNMERGED_SETS // 4
    tail = sum(c.total() for c in changes[start:])
    while start > 0 and changes[start - 1].total() < 2 * tail:
        start -= 1
        tail += changes[start].total()
    return start


class SparkTally:
    """Facts and their counts."""

    def __init__(self, driver: Driver, node: TallyNode) -> None:
        self.driver = driver
        self.node = node

    def __len__(self) -> int:
        node = self.node.resolved()
        return (node if node.exact else self.driver.force_tally(node)).total()

    def __iter__(self) -> Iterator[tuple[Fact, int]]:
        return iter(whole_tally(self.driver.reader, self.node))

    def __add__(self, other: SparkTally) -> SparkTally:
        return self._sum("+", other)

    def __sub__(self, other: SparkTally) -> SparkTally:
        return self._sum("-", other)

    def _sum(self, op: str, other: SparkTally) -> SparkTally:
        driver, left, right = self.driver, self.node.resolved(), other.node.resolved()
        if isinstance(left, DriverTally) and isinstance(right, DriverTally):
            return SparkTally(driver, driver.hold_tally(OPERATORS[op](left.tally, right.tally)))
        if not right.total():
            return self
        if op == "+" and not left.total():
            return other
        made = TallySum(op, left, right)
        if made.depth > tuning.TALLY_DEPTH:
            driver.force_tally(made)
        return SparkTally(driver, made)

    def counts_of(self, facts: SparkFacts) -> SparkTally:
        driver, node = self.driver, facts.node.resolved()
        if isinstance(node, DriverSet):
            return SparkTally(driver, driver.hold_tally(counts_of(driver.reader, self.node, node.facts)))
        return SparkTally(driver, CountsOf(self.node, node))

    def facts(self) -> SparkFacts:
        node = self.node.resolved()
        if isinstance(node, DriverTally):
            return SparkFacts(self.driver, self.driver.hold(node.tally.facts()))
        return SparkFacts(self.driver, PositiveFacts(node))
