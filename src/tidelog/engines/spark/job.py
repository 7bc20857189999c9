"""A job as its tasks read it: one file, written by the driver, in which everything is said."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from tidelog.engines.local.relations import Relation
from tidelog.engines.spark.specs import Spec
from tidelog.engines.spark.terms import Shipped
from tidelog.model.terms import Term
from tidelog.model.vocabulary import TRIPLE

Wanted = Mapping[tuple[str, int | None], frozenset[int]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule to run: its plan, the set that each atom reads, and which of the results its heads belong to."""

    plan: int
    sources: tuple[int, ...]
    result: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """Rules of a guard and one atom, whose candidates are shown from `start` up to `stop`."""

    rules: bytes  # pickled
    guards: int
    facts: int
    start: int
    stop: int | None


@dataclass(frozen=True)
class Job:
    """All that tasks have to know."""

    engine: str
    scratch: str
    shards: int
    memory: int
    shipped: Shipped
    constants: Mapping[Term, int]
    alive: frozenset[int]
    nodes: Mapping[int, Spec]
    wanted: Wanted  # by which arguments, besides the first, the facts of a relation are to be kept
    inline: int  # rows that a shard hands back to the driver instead of writing a file
    plans: Mapping[int, bytes] = field(default_factory=dict)  # pickled, so that a process reads each once
    entries: tuple[Entry, ...] = ()
    window: Window | None = None
    tallied: bool = False
    behind: int | None = None  # results are told apart: those in this set, and those not

    @property
    def stages(self) -> int:
        """The steps of the longest plan."""
        return max((len(pickle.loads(blob).steps) for blob in self.plans.values()), default=1)

    def keys(self, relation: Relation) -> frozenset[int]:
        """By which arguments the facts of a relation are kept."""
        found = frozenset((0,)) | self.wanted.get(relation, frozenset())
        return found | self.wanted.get((TRIPLE, None), frozenset()) if relation[0] == TRIPLE else found

    def write(self) -> Path:
        path = Path(self.scratch) / f"{uuid4().hex}.job"
        path.write_bytes(pickle.dumps(self))
        return path
