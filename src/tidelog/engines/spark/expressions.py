"""What sets and tallies in shards have in common: an expression that is evaluated when somebody needs to know."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from tidelog.engines.local.relations import Relation
from tidelog.engines.spark.pieces import Stat
from tidelog.engines.spark.specs import Spec

if TYPE_CHECKING:
    from tidelog.engines.spark.counts import TallyNode
    from tidelog.engines.spark.nodes import Node

N = TypeVar("N", bound="Lazy[Any]")

_NUMBERS = itertools.count()
ALIVE: weakref.WeakValueDictionary[int, Node | TallyNode] = weakref.WeakValueDictionary()


class Lazy(Generic[N]):
    """A node of an expression of kind N. `exact`: `stats` is what there is, not only what there may be at most."""

    exact = False
    depth = 0

    def __init__(self) -> None:
        self.id = next(_NUMBERS)
        ALIVE[self.id] = cast("Node | TallyNode", self)
        self._result: N | None = None

    def now(self) -> N:
        """The node to use for this one: itself, or what it was found to be."""
        return cast(N, self) if self._result is None else cast(N, self._result.now())

    def become(self, result: N) -> None:
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
    def children(self) -> tuple[Node | TallyNode, ...]:
        return ()

    def spec(self) -> Spec:
        raise NotImplementedError
