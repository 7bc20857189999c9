"""The driver's side of jobs: writes the job file, runs the stages, and reads the results as sets and tallies.

A result is a set of shard files, or a few rows that stay in the driver. `within` and `counts_of` look up a few facts in
a large expression without a job.
"""

from __future__ import annotations

import pickle
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import cast
from uuid import uuid4

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import Cluster, Message, Stage, TaskFunction, delete_files
from tidelog.engines.spark.sharded import shard_files, tasks, worker_cache
from tidelog.engines.spark.sharded.nodes import (
    LIVE_NODES,
    CountsOf,
    DriverSet,
    DriverTally,
    OfPredicate,
    Ones,
    PositiveFacts,
    SetNode,
    SetOperation,
    StoredSet,
    StoredTally,
    TallyNode,
    TallySum,
    specs,
    walk,
)
from tidelog.engines.spark.sharded.set_expressions import EVERYTHING, OPERATORS, SetPart, Spec
from tidelog.engines.spark.sharded.shard_files import (
    RelationRows,
    RowBlock,
    ShardFile,
    rows_of,
    split_by_shard,
    weighted_rows,
)
from tidelog.engines.spark.sharded.tasks import (
    REPORT,
    Repartition,
    ShardResult,
    TaskReport,
    collect_heads,
    gather,
    run_step,
)
from tidelog.engines.spark.sharded.worker_cache import Evaluation, Job, PartitionKeys, SetReader
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot, sized, take_snapshot
from tidelog.model.terms import Term

ShardResults = list[tuple[int, ShardResult]]  # (shard, its result)


def unpack_results(messages: Iterable[Message]) -> tuple[ShardResults, TaskReport]:
    """The results of the shards, and the sum of all reports."""
    found: ShardResults = []
    reports = [TaskReport()]
    for message in messages:
        content = pickle.loads(message.payload)
        if message.tag == REPORT:
            reports.append(content)
        else:
            found.append((message.target, content))
    created = tuple(dict.fromkeys(term for report in reports for term in report.created))
    return found, TaskReport(sum(n.derivations for n in reports), created, sum(n.rows_read for n in reports))


def facts_of(driver: Driver, found: ShardResults, number: int, kind: str = "all") -> SetNode:
    """The set with this number and kind among the results."""
    mine = [(shard, r) for shard, r in found if (r.result, r.kind) == (number, kind)]
    if all(r.written is None for _, r in mine if r.key == 0):
        gathered = FactBuilder(driver.dictionary, driver.local.budget)
        for _, r in mine:
            if r.key == 0:
                gather(gathered, r.rows)
        facts = gathered.facts()
        if len(facts) <= driver.small:
            delete_files([r.written.path for _, r in mine if r.written is not None])
            return driver.hold(facts)
    stored = StoredSet(by_shard(driver, mine, number, kind, 0))
    for key in sorted({r.key for _, r in mine} - {0}):
        written = by_shard(driver, mine, number, kind, key)
        kept = (r for r, stat in stored.stats.items() if key in driver.partition_keys.keys(r, stat.arity))
        stored.add(key, frozenset(kept), written)
    return stored


def tally_of(driver: Driver, found: ShardResults) -> TallyNode:
    """The tally among the results."""
    if all(r.written is None for _, r in found):
        rows = [rows for _, r in found for rows in RowBlock.of_bytes(r.rows).all_rows()]
        if sum(map(len, rows)) <= driver.small:
            tallies = (LocalTally(driver.dictionary, {r.relation: r.counts()}) for r in rows)
            return DriverTally(LocalTally.sum(driver.dictionary, tallies), driver.scratch)
    return StoredTally(by_shard(driver, found, 0, "all", 0))


def by_shard(driver: Driver, found: ShardResults, number: int, kind: str, key: int) -> list[ShardFile | None]:
    """The file of each shard for a result. The driver writes results that it received as rows."""
    files: list[ShardFile | None] = [None] * driver.shards
    for shard, r in found:
        if (r.result, r.kind, r.key) == (number, kind, key):
            rows = [] if r.written else [rows for rows in RowBlock.of_bytes(r.rows).all_rows() if len(rows)]
            files[shard] = r.written or (shard_files.write(driver.scratch, rows, key) if rows else None)
    return files


_NO_RULES = Evaluation({}, ())
_NO_CONSTANTS: Mapping[Term, int] = {}

Stages = Callable[[str], Sequence[Stage]]


class Driver:
    """One engine's scratch directory, and the jobs it runs."""

    def __init__(self, cluster: Cluster, local: LocalEngine, scratch: Path, shards: int, small: int) -> None:
        self.name = uuid4().hex
        self.cluster = cluster
        self.local = local
        self.shards, self.small = shards, small
        self.scratch = Path(scratch) / f"engine-{self.name}"
        self.scratch.mkdir(parents=True)
        self.reader = SetReader(local.dictionary, shards)
        self.reader.nodes = _LiveSpecs()
        self.jobs = 0
        self.rows_read = 0  # by all tasks
        self.partition_keys = PartitionKeys()
        self._snapshot = DictionarySnapshot()
        self.close = weakref.finalize(self, _close, self.scratch, self.name, self._snapshot)

    @property
    def dictionary(self) -> Dictionary:
        return self.local.dictionary

    def hold(self, facts: LocalFacts) -> SetNode:
        """A node for a set in memory. A small set stays in memory; a larger one is written to files."""
        return DriverSet(facts, self.scratch) if len(facts) <= self.small else self.write(facts)

    def write(self, facts: LocalFacts) -> StoredSet:
        """Write a set in memory to shard files."""
        return StoredSet(self._written(rows_of(facts), 0))

    def _written(self, rows: Iterable[RelationRows], key: int) -> list[ShardFile | None]:
        by_shard: list[list[RelationRows]] = [[] for _ in range(self.shards)]
        for some in rows:
            for shard, part in split_by_shard(some, key, self.shards):
                by_shard[shard].append(part)
        return [shard_files.write(self.scratch, parts, key) if parts else None for parts in by_shard]

    def hold_tally(self, tally: LocalTally) -> TallyNode:
        if len(tally) <= self.small:
            return DriverTally(tally, self.scratch)
        return StoredTally(self._written(weighted_rows(tally), 0))

    def require_key(self, node: SetNode, key: int, part: SetPart) -> Iterator[Repartition]:
        """Remember that a part is read by an argument, and yield the repartitions that this needs."""
        if key == 0:
            return
        self.partition_keys.add(part, key)
        for _, inner in list(walk((node,))):
            if isinstance(inner, PositiveFacts):
                self.force(inner)
        for _, inner in walk((node,)):
            if isinstance(inner, StoredSet) and (lacking := inner.lacks(key, part)):
                yield Repartition(inner.id, key, frozenset(lacking))

    def require_keys(self, node: SetNode, part: SetPart) -> Iterator[Repartition]:
        """Yield the repartitions for all arguments by which facts of these relations are partitioned."""
        for kept, key in self.partition_keys.near(part):
            yield from self.require_key(node, key, kept)

    def repartition(self, wanted: Iterable[Repartition]) -> None:
        """Run a job that adds copies of stored sets, partitioned by other arguments."""
        together: dict[tuple[int, int], frozenset[Relation]] = {}
        for repartition in wanted:
            before = together.get((repartition.node, repartition.key), frozenset())
            together[repartition.node, repartition.key] = before | repartition.relations
        todo = tuple(Repartition(node, key, relations) for (node, key), relations in together.items())
        if not todo:
            return
        nodes = [LIVE_NODES[r.node] for r in todo]

        def stages(path: str) -> list[Stage]:
            run = partial(tasks.send_repartitioned, path, todo), partial(tasks.write_repartitioned, path, todo)
            return [Stage(r, self.shards) for r in run]

        found, _ = self.run(stages, nodes)
        for number, (repartition, node) in enumerate(zip(todo, nodes, strict=True)):
            assert isinstance(node, StoredSet)
            node.add(repartition.key, repartition.relations, by_shard(self, found, number, "all", repartition.key))

    def force(self, node: SetNode) -> SetNode:
        """Evaluate a node. The result is in files or in memory, and its size is exact."""
        node = node.resolved()
        if isinstance(node, StoredSet | DriverSet):
            return node
        if node.reading(EVERYTHING) <= self.small:
            result = self.hold(self.reader.whole(node.id, EVERYTHING))
        else:
            keys = tuple(sorted(self._keys(node)))
            found = self._run_one(node, lambda path: partial(tasks.evaluate, path, node.id, keys))
            result = facts_of(self, found, 0)
        node.replace_with(result)
        return result

    def _keys(self, node: SetNode) -> set[int]:
        """The keys for which every stored set below a node has all copies that plans read."""
        keys = self.partition_keys.every_key()
        for _, inner in walk((node,)):
            if isinstance(inner, PositiveFacts):
                return {0}
            if isinstance(inner, StoredSet):
                keys -= {k for part, ks in self.partition_keys.by_part.items() for k in ks if inner.lacks(k, part)}
        return keys

    def force_tally(self, node: TallyNode) -> TallyNode:
        node = node.resolved()
        if isinstance(node, StoredTally | DriverTally):
            return node
        result = tally_of(self, self._run_one(node, lambda path: partial(tasks.evaluate_tally, path, node.id)))
        node.replace_with(result)
        return result

    def _run_one(self, node: SetNode | TallyNode, task: Callable[[str], TaskFunction]) -> ShardResults:
        """Run a job of one stage. `task` is called with the path of the job file."""
        return self.run(lambda path: [Stage(task(path), self.shards)], (node,))[0]

    def derive(
        self, rules: Evaluation, roots: Sequence[SetNode], constants: Mapping[Term, int], texts: bool, steps: int
    ) -> tuple[ShardResults, TaskReport]:
        """Run rules by their plans. The results are the heads of each shard."""

        def stages(path: str) -> list[Stage]:
            run = [partial(run_step, path, number) for number in range(steps)]
            return [Stage(r, self.shards) for r in (*run, partial(collect_heads, path))]

        return self.run(stages, roots, rules, constants, texts)

    def run(
        self,
        stages: Stages,
        roots: Sequence[SetNode | TallyNode],
        rules: Evaluation = _NO_RULES,
        constants: Mapping[Term, int] = _NO_CONSTANTS,
        texts: bool = False,
    ) -> tuple[ShardResults, TaskReport]:
        """Run a job. If its tasks create terms, the driver adds them to the dictionary and runs the job again."""
        while True:
            if texts:
                self._snapshot = take_snapshot(self.dictionary, self.scratch, self._snapshot)
            else:
                self._snapshot = sized(self.dictionary, self._snapshot)
            job = Job(
                self.name,
                str(self.scratch),
                self.shards,
                self.local.settings.memory_budget // max(1, self.cluster.cores),
                self._snapshot,
                constants,
                frozenset(LIVE_NODES.keys()),
                specs(roots),
                self.partition_keys,
                self.small * min(tuning.FULL_RESULT_SHARDS, self.shards) // self.shards,
                rules,
            )
            path = job.write()
            try:
                messages = self.cluster.run(stages(str(path)))
            finally:
                path.unlink()
            self.jobs += 1
            self.reader.refresh(self.reader.nodes, job.alive)
            found, report = unpack_results(messages)
            self.rows_read += report.rows_read
            if not report.created:
                return found, report
            for term in sorted(report.created):
                self.dictionary.encode(Term(term))


class _LiveSpecs(Mapping[int, Spec]):
    """The expressions of all live nodes, for the driver's own reader."""

    def __getitem__(self, id_: int) -> Spec:
        return LIVE_NODES[id_].resolved().spec()

    def __iter__(self) -> Iterator[int]:
        return iter(list(LIVE_NODES))

    def __len__(self) -> int:
        return len(LIVE_NODES)


def _close(scratch: Path, name: str, snapshot: DictionarySnapshot) -> None:
    shutil.rmtree(scratch, ignore_errors=True)
    worker_cache.close(name)
    snapshot.close()


def within(reader: SetReader, node: SetNode, facts: LocalFacts) -> LocalFacts:
    """The given facts that are in a set."""
    return _DriverLookup(reader, facts).within(node.resolved())


def counts_of(reader: SetReader, node: TallyNode, facts: LocalFacts) -> LocalTally:
    """The counts of the given facts."""
    return _DriverLookup(reader, facts).counts(node.resolved())


def whole_tally(reader: SetReader, node: TallyNode) -> LocalTally:
    """A tally of all shards, in this process."""
    node = node.resolved()
    if isinstance(node, DriverTally):
        return node.tally
    shards = (reader.tally(node.id, EVERYTHING, shard) for shard in range(reader.shards))
    return LocalTally.sum(reader.dictionary, shards)


class _DriverLookup:
    """Looks up the same facts in all nodes of an expression, in each node once."""

    def __init__(self, reader: SetReader, facts: LocalFacts) -> None:
        self.reader, self.facts = reader, facts
        self._within: dict[int, LocalFacts] = {}
        self._counts: dict[int, LocalTally] = {}

    def within(self, node: SetNode) -> LocalFacts:
        if node.id not in self._within:
            self._within[node.id] = self._find(node)
        return self._within[node.id]

    def _find(self, node: SetNode) -> LocalFacts:
        if isinstance(node, DriverSet):
            return self.facts & node.facts
        if isinstance(node, SetOperation):
            return cast(LocalFacts, OPERATORS[node.op](self.within(node.left), self.within(node.right)))
        if isinstance(node, OfPredicate):
            return self.within(node.source).of_predicate(node.predicate)
        if isinstance(node, PositiveFacts):
            return self.counts(node.tally).facts()
        assert isinstance(node, StoredSet)
        found = (here & self.reader.facts(node.id, 0, part, shard) for shard, part, here in self._by_shard(self.facts))
        return reduce(or_, found, LocalFacts(self.reader.dictionary, {}))

    def _by_shard(self, facts: LocalFacts) -> Iterator[tuple[int, SetPart, LocalFacts]]:
        """Yield (shard, relation, facts)."""
        for rows in rows_of(facts):
            for shard, some in split_by_shard(rows, 0, self.reader.shards):
                yield shard, SetPart.of(rows.relation), self.reader.of_rows([some])

    def counts(self, node: TallyNode) -> LocalTally:
        if node.id not in self._counts:
            self._counts[node.id] = self._count(node)
        return self._counts[node.id]

    def _count(self, node: TallyNode) -> LocalTally:
        if isinstance(node, DriverTally):
            return node.tally.counts_of(self.facts)
        if isinstance(node, TallySum):
            return cast(LocalTally, OPERATORS[node.op](self.counts(node.left), self.counts(node.right)))
        if isinstance(node, CountsOf):
            tally, some = node.operands
            return self.counts(tally).counts_of(self.within(some))
        if isinstance(node, Ones):
            return LocalTally.once(self.within(node.facts))
        assert isinstance(node, StoredTally)
        by_shard = self._by_shard(self.facts)
        parts = [self.reader.tally(node.id, part, shard).counts_of(here) for shard, part, here in by_shard]
        return LocalTally.sum(self.reader.dictionary, parts)
