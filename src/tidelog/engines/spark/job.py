"""A job as its tasks read it: one file, written by the driver, in which everything is said."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from tidelog.engines.local.relations import Relation
from tidelog.engines.spark.pieces import has_argument
from tidelog.engines.spark.specs import EVERYTHING, Part, Spec
from tidelog.engines.spark.terms import Shipped
from tidelog.model.terms import Term


@dataclass
class Wanted:
    """By which arguments, besides the first, facts are kept: those that plans have read them by so far."""

    by_part: dict[Part, frozenset[int]] = field(default_factory=dict)

    def add(self, part: Part, key: int) -> None:
        self.by_part[part] = self.by_part.get(part, frozenset()) | {key}

    def parts(self, key: int) -> list[Part]:
        """What is kept by an argument; everything is by the first."""
        return [part for part, keys in self.by_part.items() if key in keys] if key else [EVERYTHING]

    def every_key(self) -> set[int]:
        return {0}.union(*self.by_part.values())

    def keys(self, relation: Relation, arity: int) -> frozenset[int]:
        """By which arguments the facts of a relation are kept."""
        wanted = (keys for part, keys in self.by_part.items() if part.has(relation))
        return frozenset(k for k in {0}.union(*wanted) if has_argument(relation, arity, k))

    def near(self, part: Part) -> list[tuple[Part, int]]:
        """What is kept so of relations that may be in a part."""
        both = [w for w in self.by_part if w.predicate == part.predicate and _may_share(w.split, part.split)]
        return [(w, key) for w in both for key in self.by_part[w]]


def _may_share(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule to run: its plan, and the set that each atom reads."""

    plan: int
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Rules of a guard and one atom, whose candidates are shown from `start` up to `stop`."""

    rules: bytes  # pickled
    guards: int
    facts: int
    read: tuple[Relation, ...]  # the relations of `facts` that the atoms read
    start: int
    stop: int | None


@dataclass(frozen=True)
class Evaluation:
    """The rules that a job runs."""

    plans: Mapping[int, bytes]  # by number, pickled, so that a process reads each once
    entries: tuple[Entry, ...]
    window: Window | None = None
    tallied: bool = False
    behind: int | None = None  # results are told apart: those in this set, and those not


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
    wanted: Wanted
    inline: int  # rows that a shard hands back to the driver instead of writing a file
    rules: Evaluation

    def write(self) -> Path:
        path = Path(self.scratch) / f"{uuid4().hex}.job"
        path.write_bytes(pickle.dumps(self))
        return path
