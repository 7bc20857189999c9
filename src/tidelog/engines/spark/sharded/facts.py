"""Fact sets in shards; see `tidelog.algebra.fact_set`.

`| - &` of two sets that the driver holds are done at once. So is `small - large`: the driver looks a few facts up in
the files. Anything else becomes an expression, which tasks evaluate where they read it.

Tallies in shards; see `tidelog.algebra.fact_set`. As with sets, what is small is done by the driver at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.sharded.driver import Driver, counts_of, whole_tally, within
from tidelog.engines.spark.sharded.nodes import Held, Leaf, Node, Only, Op, Positive
from tidelog.engines.spark.sharded.set_expressions import EVERYTHING, part_of
from tidelog.engines.spark.sharded.tally_nodes import Of, Once, Sum, TallyHeld, TallyNode
from tidelog.model.facts import Fact
from tidelog.model.terms import TRIPLE
from tidelog.rules.syntax import Atom

_SPINE = 16  # sets in files added one after the other, or taken away, before they are made one
_DEEPEST = 48  # operations in an expression before it is written


class SparkFacts:
    """An immutable set of facts."""

    def __init__(self, driver: Driver, node: Node) -> None:
        self.driver = driver
        self.node = node
        self.searched_here: bool | None = None  # where the engine's `supports` began

    def __or__(self, other: SparkFacts) -> SparkFacts:
        return SparkFacts(self.driver, operate(self.driver, "|", self.node, other.node))

    def __sub__(self, other: SparkFacts) -> SparkFacts:
        return SparkFacts(self.driver, operate(self.driver, "-", self.node, other.node))

    def __and__(self, other: SparkFacts) -> SparkFacts:
        return SparkFacts(self.driver, operate(self.driver, "&", self.node, other.node))

    def _known(self) -> Node:
        """The node, so that it is known exactly how much it has."""
        node = self.node.now()
        return node if node.exact else self.driver.force(node)

    def __len__(self) -> int:
        return self._known().total()

    def __bool__(self) -> bool:
        return is_some(self.driver, self.node)

    def __iter__(self) -> Iterator[Fact]:
        node = self.node.now()
        if isinstance(node, Held):
            yield from node.facts
        else:
            for shard in range(self.driver.shards):
                yield from self.driver.reader.facts(node.id, 0, EVERYTHING, shard)

    def predicates(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for (predicate, _), stat in self._known().stats.items():
            sizes[predicate] = sizes.get(predicate, 0) + stat.rows
        return sizes

    def arities(self) -> dict[str, int]:
        return {name: 3 if name == TRIPLE else stat.arity for (name, _), stat in self._known().stats.items()}

    def of_predicate(self, predicate: str) -> SparkFacts:
        node = self.node.now()
        if isinstance(node, Held):
            return SparkFacts(self.driver, self.driver.hold(node.facts.of_predicate(predicate)))
        return SparkFacts(self.driver, Only(node, predicate))

    def may_match(self, atom: Atom) -> bool:
        node = self.node.now()
        if isinstance(node, Held):
            return node.facts.may_match(atom)
        return node.rows(part_of(atom, self.driver.dictionary.encode)) > 0

    def to_local(self) -> LocalFacts:
        """All of it, in this process."""
        node = self.node.now()
        return node.facts if isinstance(node, Held) else self.driver.reader.whole(node.id, EVERYTHING)

    def pieces(self) -> list[str | None]:
        """The file of each shard that has facts; they last as long as this set does."""
        node = self.driver.force(self.node)
        if isinstance(node, Held):
            node = self.node = self.driver.write(node.facts)
        assert isinstance(node, Leaf)
        return list(node.copies[0].paths)


def is_some(driver: Driver, node: Node) -> bool:
    """Whether there is any fact; found out without a job where that can be seen."""
    node = node.now()
    if node.exact or node.total() == 0:
        return node.total() > 0
    if isinstance(node, Op):
        left, right = node.left.now(), node.right.now()
        if node.op == "|":
            return is_some(driver, left) or is_some(driver, right)
        if node.op == "-" and left.exact and left.total() > right.total():
            return True
    return driver.force(node).total() > 0


def operate(driver: Driver, op: str, one: Node, other: Node) -> Node:
    """The node of an operation; the work is done now if it is little."""
    left, right = one.now(), other.now()
    if op == "-":
        for known in (one, left):
            for id_ in (other.id, right.id):
                if id_ in known.less:
                    return known.less[id_]
    simple = _simplified(driver, op, left, right)
    if simple is not None:
        return simple
    if isinstance(left, Held) and isinstance(right, Held):
        return driver.hold(_apply(op, left.facts, right.facts))
    if isinstance(left, Held) and op != "|":
        found = within(driver.reader, right, left.facts)
        rest = driver.hold(found if op == "&" else left.facts - found)
        rest.apart |= {other.id, right.id} if op == "-" else set()
        return rest
    if op == "&" and isinstance(right, Held):
        return driver.hold(within(driver.reader, left, right.facts))
    if op == "|" and isinstance(left, Held):
        one, other, left, right = other, one, right, left
    return _settled(driver, op, one, other)


def _apply(op: str, left: LocalFacts, right: LocalFacts) -> LocalFacts:
    return left | right if op == "|" else left - right if op == "-" else left & right


def _simplified(driver: Driver, op: str, left: Node, right: Node) -> Node | None:
    """The result where it is one of the two, or nothing."""
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


def _settled(driver: Driver, op: str, one: Node, other: Node) -> Node:
    """An operation on a set that the same operation was done to before: small changes are made one, as runs are."""
    if one.now().depth > _DEEPEST:
        driver.force(one)
    made = Op(op, one, other)
    if op == "&":
        return made
    changes, base = _spine(made)
    last = changes[-2:]
    if len(last) > 1 and all(isinstance(c, Held) for c in last) and last[0].total() < 2 * last[1].total():
        together = driver.hold(reduce(or_, (c.facts for c in last if isinstance(c, Held))))
        left = made.left
        assert isinstance(left, Op)
        settled = _settled(driver, op, left.left, together)
    elif len(changes) >= _SPINE:
        start = _start(changes)
        together = reduce(lambda a, b: Op("|", a, b), changes[start:])
        driver.force(together)
        settled = reduce(lambda a, b: Op(op, a, b), [base, *changes[:start], together])
    else:
        return made
    settled.exact = settled.exact or made.exact
    settled.apart |= made.apart
    return settled


def _spine(node: Op) -> tuple[list[Node], Node]:
    """What was added to a set, or taken from it, by the same operation again and again; and the set."""
    changes: list[Node] = []
    base: Node = node
    while isinstance(base, Op) and base.op == node.op and not isinstance(base.right, Op):
        changes.append(base.right)
        base = base.left.now()
    return changes[::-1], base


def _start(changes: Sequence[Node]) -> int:
    """From which change on they are made one: the last few, and those before that are not much larger than these."""
    start = len(changes) - _SPINE // 4
    tail = sum(c.total() for c in changes[start:])
    while start > 0 and changes[start - 1].total() < 2 * tail:
        start -= 1
        tail += changes[start].total()
    return start


_DEEPEST_TALLY = 16  # operations in an expression before it is written


class SparkTally:
    """Facts and their counts."""

    def __init__(self, driver: Driver, node: TallyNode) -> None:
        self.driver = driver
        self.node = node

    @classmethod
    def once(cls, facts: SparkFacts) -> SparkTally:
        driver, node = facts.driver, facts.node.now()
        if isinstance(node, Held):
            return cls(driver, driver.hold_tally(driver.local.ones(node.facts)))
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
        if made.depth > _DEEPEST_TALLY:
            driver.force_tally(made)
        return SparkTally(driver, made)

    def counts_of(self, facts: SparkFacts) -> SparkTally:
        driver, node = self.driver, facts.node.now()
        if isinstance(node, Held):
            return SparkTally(driver, driver.hold_tally(counts_of(driver.reader, self.node, node.facts)))
        return SparkTally(driver, Of(self.node, node))

    def facts(self) -> SparkFacts:
        node = self.node.now()
        if isinstance(node, TallyHeld):
            return SparkFacts(self.driver, self.driver.hold(node.tally.facts()))
        return SparkFacts(self.driver, Positive(node))
