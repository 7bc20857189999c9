"""What tasks read and cache: `Job`, the file in which the driver describes a job; `SetReader`, which evaluates
expressions for a shard; `WorkerCache`, which a worker process keeps between tasks. No result depends on a cache.

The reader evaluates only the part of a set that a rule reads. It keeps results by the id of the expression, as long as
the driver lists the id as alive. So if a worker has read I before, reading `I | N` costs only as much as reading N.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from pathlib import Path
from typing import cast
from uuid import uuid4

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.plan import ALL, PlanStep, RulePlan
from tidelog.engines.spark.sharded.set_expressions import (
    EVERYTHING,
    OPERATORS,
    CountsOfSpec,
    DriverFileSpec,
    OfPredicateSpec,
    OnesSpec,
    OperationSpec,
    PositiveFactsSpec,
    SetPart,
    Spec,
    StoredSetSpec,
    StoredTallySpec,
    atoms_of,
    part_of,
)
from tidelog.engines.spark.sharded.shard_files import RelationRows, RowBlock, has_argument, rows_of, split_by_shard
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot, WorkerDictionary
from tidelog.kernel.run import Run
from tidelog.kernel.table import Table
from tidelog.model.terms import Term
from tidelog.rules.syntax import Rule
from tidelog.settings import Settings

CacheKey = tuple[int, SetPart, int]  # key, part, shard
StoredRows = RelationRows | tuple[Relation, Run]  # a few rows, or a mapped run of many


class SetReader:
    """Reads sets and tallies for one dictionary. `nodes` maps the ids of nodes to their expressions."""

    def __init__(self, dictionary: Dictionary, shards: int) -> None:
        self.dictionary = dictionary
        self.shards = shards
        self.nodes: Mapping[int, Spec] = {}
        self.rows_read = 0  # rows of files
        self._nothing = LocalFacts(dictionary, {})
        self._facts: dict[int, dict[CacheKey, LocalFacts]] = {}  # by the id of the node
        self._tallies: dict[int, dict[CacheKey, LocalTally]] = {}
        self._blocks: dict[int, dict[str, RowBlock]] = {}
        self._flat: dict[int, dict[tuple[Relation, int], Table | None]] = {}

    def refresh(self, nodes: Mapping[int, Spec], alive: Collection[int]) -> None:
        """Read these nodes from now on, and drop the cached results of nodes that are not alive."""
        self.nodes = nodes
        for cache in (self._facts, self._tallies, self._blocks, self._flat):
            for id_ in [i for i in cache if i not in alive]:
                del cache[id_]

    def facts(self, id_: int, key: int, part: SetPart, shard: int) -> LocalFacts:
        """The part of a set that is in a shard, if the set is partitioned by the key argument."""
        known = self._facts.setdefault(id_, {})
        found = known.get((key, part, shard))
        if found is None:
            found = known[key, part, shard] = self._evaluated(id_, key, part, shard)
        return found

    def whole(self, id_: int, part: SetPart) -> LocalFacts:
        """The part of a set, of all shards."""
        known = self._facts.setdefault(id_, {})
        found = known.get((-1, part, -1))
        if found is None:
            spec = self.nodes[id_]
            if isinstance(spec, DriverFileSpec):
                found = self.of_rows(self._selected(self._block(id_, spec.path), part))
            else:
                found = reduce(operator.or_, (self.facts(id_, 0, part, shard) for shard in range(self.shards)))
            known[-1, part, -1] = found
        return found

    def in_order(self, id_: int, relation: Relation, shard: int) -> Table | None:
        """A relation of a set at a shard as one sorted run, so that the order depends only on the facts."""
        known = self._flat.setdefault(id_, {})
        if (relation, shard) not in known:
            table = self.facts(id_, 0, SetPart.of(relation), shard).table(relation)
            known[relation, shard] = None if table is None else Table((table.flat,))
        return known[relation, shard]

    def _evaluated(self, id_: int, key: int, part: SetPart, shard: int) -> LocalFacts:
        spec = self.nodes[id_]
        if isinstance(spec, StoredSetSpec):
            return self.of_rows(self._stored(id_, spec, key, part, shard))
        if isinstance(spec, DriverFileSpec):
            return self._partitioned(id_, key, part, shard)
        if isinstance(spec, OperationSpec):
            left, right = (self.facts(id_, key, part, shard) for id_ in (spec.left, spec.right))
            return cast(LocalFacts, OPERATORS[spec.op](left, right))
        if isinstance(spec, OfPredicateSpec):
            within = part.predicate in (None, spec.predicate)
            inside = part._replace(predicate=spec.predicate)
            return self.facts(spec.source, key, inside, shard) if within else self._nothing
        assert isinstance(spec, PositiveFactsSpec) and key == 0
        return self.tally(spec.tally, part, shard).facts()

    def _partitioned(self, id_: int, key: int, part: SetPart, shard: int) -> LocalFacts:
        """Partition a small set for all shards at once, and return the facts of one shard."""
        by_shard: list[list[RelationRows]] = [[] for _ in range(self.shards)]
        for rows in rows_of(self.whole(id_, part)):
            if has_argument(rows.relation, rows.layout.arity, key):
                for number, some in split_by_shard(rows, key, self.shards):
                    by_shard[number].append(some)
        for number, parts in enumerate(by_shard):
            self._facts[id_][key, part, number] = self.of_rows(parts)
        return self._facts[id_][key, part, shard]

    def _stored(self, id_: int, spec: StoredSetSpec, key: int, part: SetPart, shard: int) -> Iterator[StoredRows]:
        for copy in spec.copies:
            path = copy.paths[shard]
            if copy.key == key and path is not None:
                yield from self._selected(self._block(id_, path), part)

    def _block(self, id_: int, path: str) -> RowBlock:
        known = self._blocks.setdefault(id_, {})
        found = known.get(path)
        if found is None:
            found = known[path] = shard_files.read(path)
        return found

    def _selected(self, block: RowBlock, part: SetPart) -> Iterator[StoredRows]:
        """The rows of a file that belong to a part: a mapped run for a whole large relation, else copied rows."""
        for relation in part.among(block.relations()):
            count = block.count(relation)
            self.rows_read += count
            if part.value is not None:
                yield block.having(relation, part.value)
            elif count <= tuning.WORKER_COPIED_ROWS:
                yield block.rows(relation)
            else:
                yield relation, block.run(relation)

    def of_rows(self, parts: Iterator[StoredRows] | list[RelationRows]) -> LocalFacts:
        """Facts of sorted rows. If there are few rows, they are copied into one array."""
        found = list(parts)
        rows = [p for p in found if isinstance(p, RelationRows) and len(p)]
        tables = {p[0]: Table((p[1],)) for p in found if not isinstance(p, RelationRows)}
        if sum(map(len, rows)) <= tuning.WORKER_COPIED_ROWS and not tables:
            few = LocalFacts.of_rows(self.dictionary, [(r.relation, r.layout.arity, r.rows) for r in rows])
            if few is not None:
                return few
        tables |= {r.relation: Table((Run(r.layout, r.rows),)) for r in rows}
        return LocalFacts(self.dictionary, tables)

    def tally(self, id_: int, part: SetPart, shard: int) -> LocalTally:
        """The part of a tally at a shard."""
        known = self._tallies.setdefault(id_, {})
        found = known.get((0, part, shard))
        if found is None:
            found = known[0, part, shard] = self._counted(id_, part, shard)
        return found

    def _counted(self, id_: int, part: SetPart, shard: int) -> LocalTally:
        spec = self.nodes[id_]
        if isinstance(spec, StoredTallySpec):
            path = spec.paths[shard]
            return self._of_weights(() if path is None else self._block(id_, path).all_rows(), part)
        if isinstance(spec, DriverFileSpec):
            cut = (dict(split_by_shard(rows, 0, self.shards)) for rows in self._block(id_, spec.path).all_rows())
            return self._of_weights((by_shard[shard] for by_shard in cut if shard in by_shard), part)
        if isinstance(spec, OperationSpec):
            left, right = (self.tally(id_, part, shard) for id_ in (spec.left, spec.right))
            return cast(LocalTally, OPERATORS[spec.op](left, right))
        if isinstance(spec, CountsOfSpec):
            return self.tally(spec.tally, part, shard).counts_of(self.facts(spec.facts, 0, part, shard))
        assert isinstance(spec, OnesSpec)
        return LocalTally.once(self.facts(spec.facts, 0, part, shard))

    def _of_weights(self, parts: Collection[RelationRows] | Iterator[RelationRows], part: SetPart) -> LocalTally:
        counts = {}
        for rows in parts:
            if part.has(rows.relation):
                self.rows_read += len(rows)
                counts[rows.relation] = rows.counts()
        return LocalTally(self.dictionary, counts)


@dataclass
class PartitionKeys:
    """The arguments by which parts of sets are partitioned, besides the first: those that plans have used so far."""

    by_part: dict[SetPart, frozenset[int]] = field(default_factory=dict)

    def add(self, part: SetPart, key: int) -> None:
        self.by_part[part] = self.by_part.get(part, frozenset()) | {key}

    def parts(self, key: int) -> list[SetPart]:
        """The parts that are partitioned by an argument. Everything is partitioned by the first."""
        return [part for part, keys in self.by_part.items() if key in keys] if key else [EVERYTHING]

    def every_key(self) -> set[int]:
        return {0}.union(*self.by_part.values())

    def keys(self, relation: Relation, arity: int) -> frozenset[int]:
        """The arguments by which the facts of a relation are partitioned."""
        wanted = (keys for part, keys in self.by_part.items() if part.has(relation))
        return frozenset(k for k in {0}.union(*wanted) if has_argument(relation, arity, k))

    def near(self, part: SetPart) -> list[tuple[SetPart, int]]:
        """The pairs (part, key) of copies that may share relations with a part."""
        splits = (None, part.split)
        both = [p for p in self.by_part if p.predicate == part.predicate and (part.split is None or p.split in splits)]
        return [(p, key) for p in both for key in self.by_part[p]]


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A rule to run: its plan, and the set that each atom reads."""

    plan: int
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SupportWindow:
    """Rules of a guard and one atom. The atom reads its candidates from `start` up to `stop`."""

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
    entries: tuple[PlanEntry, ...]
    window: SupportWindow | None = None
    tallied: bool = False
    right: int | None = None  # divide the results into those in this set and the others


@dataclass(frozen=True)
class Job:
    """Everything that the tasks of a job read. The driver writes it to a file."""

    engine: str
    scratch: str
    shards: int
    memory: int
    snapshot: DictionarySnapshot
    constants: Mapping[Term, int]
    alive: frozenset[int]
    nodes: Mapping[int, Spec]
    partition_keys: PartitionKeys
    inline: int  # rows that a shard sends to the driver instead of writing a file
    rules: Evaluation

    def write(self) -> Path:
        path = Path(self.scratch) / f"{uuid4().hex}.job"
        path.write_bytes(pickle.dumps(self))
        return path


_WORKERS: dict[str, WorkerCache] = {}


class WorkerCache:
    """What a worker process keeps for one engine."""

    def __init__(self, dictionary: WorkerDictionary, shards: int, memory: int) -> None:
        self.dictionary = dictionary
        self.settings = Settings(memory_budget=memory, threads=1)
        self.engine = self._new_engine()
        self.reader = SetReader(dictionary, shards)
        self._plans: dict[int, RulePlan] = {}
        self._windows: dict[bytes, list[Rule]] = {}

    def _new_engine(self) -> LocalEngine:
        return LocalEngine(self.settings, self.dictionary, stable_windows=True)  # another worker may run the next one

    def builder(self) -> FactBuilder:
        return FactBuilder(self.dictionary, self.engine.budget)

    def plan(self, number: int, pickled: Mapping[int, bytes]) -> RulePlan:
        """The plan with a number. It is unpickled once, so that the caches of the local engine know its rules."""
        if number not in self._plans:
            if len(self._plans) >= tuning.WORKER_PLANS:
                self._plans.clear()
            self._plans[number] = pickle.loads(pickled[number])
        return self._plans[number]

    def rules(self, window: SupportWindow) -> list[Rule]:
        if window.rules not in self._windows:
            if len(self._windows) >= tuning.WORKER_RULE_SETS:
                self._windows.clear()
            self._windows[window.rules] = pickle.loads(window.rules)
        return self._windows[window.rules]

    def sources(self, step: PlanStep, entry: PlanEntry, bindings: LocalFacts | None, shard: int) -> list[LocalFacts]:
        """The facts that each atom of a step reads at a shard."""
        found = []
        for atom, read in zip(atoms_of(step.rule), step.reads, strict=True):
            if read.source is None:
                assert bindings is not None
                found.append(bindings)
                continue
            node, part = entry.sources[read.source], part_of(atom, self.dictionary.encode)
            if read.key == ALL:
                found.append(self.reader.whole(node, part))
            else:
                found.append(self.reader.facts(node, read.key, part._replace(value=None), shard))
        return found

    def take_created(self) -> Sequence[str]:
        """Return the terms that the task created, and drop them together with all that may contain them."""
        created = self.dictionary.created()
        if created:
            self.dictionary.discard_new()
            self.engine = self._new_engine()
        return created


@lru_cache(maxsize=4)
def load(path: str) -> Job:
    """Read a job file. The stages of a job that run in one process read it once."""
    job = pickle.loads(Path(path).read_bytes())
    assert isinstance(job, Job)
    return job


def worker_cache_of(job: Job) -> WorkerCache:
    """The caches for the engine of a job, ready to read the sets of the job."""
    dictionary = job.snapshot.open()
    dictionary.preload(job.constants)
    worker = _WORKERS.get(job.engine)
    if worker is None:
        while len(_WORKERS) >= tuning.WORKER_ENGINES:
            _WORKERS.pop(next(iter(_WORKERS)))
        worker = _WORKERS[job.engine] = WorkerCache(dictionary, job.shards, job.memory)
    if worker.reader.nodes is not job.nodes:
        worker.reader.refresh(job.nodes, job.alive)
    return worker


def close(engine: str) -> None:
    """Drop the caches of an engine."""
    _WORKERS.pop(engine, None)
