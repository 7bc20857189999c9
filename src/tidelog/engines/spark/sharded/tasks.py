"""What runs at a shard: the steps of rules, and what becomes of their heads where these are at home.

    step 0  --bindings, heads-->  step 1  --…-->  settle  --pieces or few rows-->  driver

Parcels: `b3` bindings of entry 3; `h0.2` heads of result 0 by argument 2; `n` notes for the driver, which wait at the
first shard. Heads that have arrived stay where they are until the last stage.

Tasks that derive nothing: evaluate an expression and keep it, or keep a set by another argument.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import Message
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.set_expressions import EVERYTHING, SetPart
from tidelog.engines.spark.sharded.shard_files import (
    RelationRows,
    RowBlock,
    in_messages,
    rows_of,
    split_by_shard,
    to_bytes,
)
from tidelog.engines.spark.sharded.tally_nodes import weighted_rows
from tidelog.engines.spark.sharded.worker_cache import Job, WorkerCache, load, worker_cache_of
from tidelog.kernel.counts import RowCounts, WeightedRun
from tidelog.kernel.run import Run

REPORT = "n"


class TaskReport(NamedTuple):
    """What a task has to say to the driver besides its results."""

    derivations: int = 0
    created: tuple[str, ...] = ()
    rows_read: int = 0


class ShardResult(NamedTuple):
    """Part of a result: which set it belongs to, by which argument, at which shard; a file, or few rows."""

    result: int
    kind: str  # "all", or "fresh" and "stale": not in the set `right`, and in it
    key: int
    written: shard_files.ShardFile | None
    rows: bytes = b""


def run_step(path: str, number: int, shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """One step of every rule that has so many."""
    job = load(path)
    return _StepTask(job, worker_cache_of(job), number, shard).run(messages)


class _StepTask:
    def __init__(self, job: Job, worker: WorkerCache, number: int, shard: int) -> None:
        self.job, self.worker = job, worker
        self.number, self.shard = number, shard
        self.work = Work()
        self.sent: list[Message] = []
        self.bindings: dict[int, FactBuilder] = {}

    def run(self, messages: Iterator[Message]) -> Iterable[Message]:
        read = self.worker.reader.rows_read
        for message in messages:
            if message.tag.startswith("b"):
                self._gather(int(message.tag[1:]), message)
            else:
                self.sent.append(Message(self.shard, message.tag, message.payload))
        self._run_rules()
        if self.number == 0 and self.job.rules.window is not None:
            self._run_window()
        created = self.worker.take_created()
        if created:
            self.sent = []
        report = TaskReport(self.work.derivations, tuple(created), self.worker.reader.rows_read - read)
        return [*self.sent, Message(0, REPORT, pickle.dumps(report))]

    def _gather(self, entry: int, message: Message) -> None:
        if entry not in self.bindings:
            self.bindings[entry] = FactBuilder(self.worker.dictionary, self.worker.engine.budget)
        gather(self.bindings[entry], message.payload)

    def _run_rules(self) -> None:
        last: list[SourcedRule[LocalFacts]] = []
        for number, entry in enumerate(self.job.rules.entries):
            steps = self.worker.plan(entry.plan, self.job.rules.plans).steps
            arrived = self.bindings.get(number)
            if self.number >= len(steps) or (self.number and arrived is None):
                continue
            step = steps[self.number]
            if step.alone and self.shard:
                continue
            bindings = None if arrived is None else arrived.facts()
            sourced = SourcedRule(step.rule, tuple(self.worker.sources(step, entry, bindings, self.shard)))
            if step is steps[-1]:
                last.append(sourced)
            else:
                found = self.worker.engine.derive([sourced], Work())
                column = None if step.repartition_by is None else step.rule.heads[0].args.index(step.repartition_by)
                self._send(f"b{number}", found, column)
        if last and self.job.rules.tallied:
            tally = self.worker.engine.tally(last, self.work)
            self.sent += to_shards("h0.0", weighted_rows(tally), 0, self.job.shards)
        elif last:
            self._send_heads(0, self.worker.engine.derive(last, self.work))

    def _run_window(self) -> None:
        window = self.job.rules.window
        assert window is not None
        reader, rules = self.worker.reader, self.worker.rules(window)
        guards = reader.whole(window.guards, EVERYTHING)
        tables = {r: t for r in window.read if (t := reader.in_order(window.facts, r, self.shard)) is not None}
        facts = LocalFacts(self.worker.dictionary, tables)
        found = self.worker.engine.supports(rules, guards, facts, facts, window.start, window.stop, self.work)
        for result, heads in enumerate(found):
            self._send_heads(result, heads)

    def _send(self, tag: str, facts: LocalFacts, column: int | None) -> None:
        """Bindings to the home of one of their columns, or to the first shard."""
        if column is None:
            self.sent += [Message(0, tag, to_bytes([part])) for rows in rows_of(facts) for part in in_messages(rows)]
        else:
            self.sent += to_shards(tag, list(rows_of(facts)), column, self.job.shards)

    def _send_heads(self, result: int, facts: LocalFacts) -> None:
        rows = list(rows_of(facts))
        keys = {r.relation: self.job.partition_keys.keys(r.relation, r.layout.arity) for r in rows}
        for key in sorted({k for some in keys.values() for k in some}):
            kept = [r for r in rows if key in keys[r.relation]]
            self.sent += to_shards(f"h{result}.{key}", kept, key, self.job.shards)


def to_shards(tag: str, rows: list[RelationRows], key: int, shards: int) -> Iterator[Message]:
    """Rows on their way to where they are at home, several relations to a parcel where they are few."""
    by_shard: dict[int, list[RelationRows]] = {}
    for some in rows:
        for shard, there in split_by_shard(some, key, shards):
            by_shard.setdefault(shard, []).extend(in_messages(there))
    for shard, parts in by_shard.items():
        waiting: list[RelationRows] = []
        for part in parts:
            is_full = sum(map(len, waiting)) + len(part) > tuning.MESSAGE_ROWS
            if waiting and (is_full or waiting[-1].relation == part.relation):  # a piece has each relation once
                yield Message(shard, tag, to_bytes(waiting))
                waiting = []
            waiting.append(part)
        yield Message(shard, tag, to_bytes(waiting))


def gather(gathered: FactBuilder, payload: bytes | memoryview) -> None:
    """Rows that were packed, on their way to a fact set."""
    for rows in RowBlock.of_bytes(payload).all_rows():
        gathered.parts.setdefault((rows.relation, rows.layout), []).append(rows.rows)


def collect_heads(path: str, shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """The heads that are at home here: each once, told apart if the job says so, in files or handed back."""
    job = load(path)
    worker = worker_cache_of(job)
    heads: dict[str, FactBuilder] = {}
    weights: dict[str, list[LocalTally]] = {}
    reports = []
    for message in messages:
        if message.tag == REPORT:
            reports.append(Message(shard, REPORT, message.payload))
        elif job.rules.tallied:
            weights.setdefault(message.tag, []).append(_tally(worker, message))
        else:
            gather(heads.setdefault(message.tag, FactBuilder(worker.dictionary, worker.engine.budget)), message.payload)
    found = []
    for tag, gathered in heads.items():
        result, key = map(int, tag[1:].split("."))
        for kind, facts in _divide_by_known(job, worker, gathered.facts(), key, shard):
            found.append(result_message(job, shard, result, kind, key, list(rows_of(facts))))
    for tag, tallies in weights.items():
        tally = LocalTally.sum(worker.dictionary, tallies)
        found.append(result_message(job, shard, int(tag[1:].split(".")[0]), "all", 0, weighted_rows(tally)))
    return [*reports, *found]


def _tally(worker: WorkerCache, message: Message) -> LocalTally:
    """The rows of a parcel. Each relation is in it once."""
    counts = {}
    for rows in RowBlock.of_bytes(message.payload).all_rows():
        assert rows.weight is not None
        counts[rows.relation] = RowCounts.of_run(WeightedRun(Run(rows.layout, rows.rows), rows.weight))
    return LocalTally(worker.dictionary, counts)


def _divide_by_known(
    job: Job, worker: WorkerCache, facts: LocalFacts, key: int, shard: int
) -> Iterator[tuple[str, LocalFacts]]:
    if job.rules.right is None:
        yield "all", facts
        return
    known = {}
    for relation in facts.tables:
        table = worker.reader.facts(job.rules.right, key, SetPart.of(relation), shard).table(relation)
        if table is not None:
            known[relation] = table
    right = LocalFacts(worker.dictionary, known)
    yield "fresh", facts - right
    yield "stale", facts & right


def result_message(job: Job, shard: int, result: int, kind: str, key: int, rows: list[RelationRows]) -> Message:
    """A part of a result for the driver: rows if they are few, a file otherwise."""
    if sum(map(len, rows)) <= job.inline:
        return Message(shard, "r", pickle.dumps(ShardResult(result, kind, key, None, to_bytes(rows))))
    return Message(shard, "r", pickle.dumps(ShardResult(result, kind, key, shard_files.write(job.scratch, rows, key))))


def evaluate(path: str, node: int, keys: tuple[int, ...], shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """A set, written or handed back: by the first argument, and the relations that are wanted so by others."""
    job = load(path)
    reader = worker_cache_of(job).reader
    read = reader.rows_read
    found = []
    for key in keys:
        parts = job.partition_keys.parts(key)
        rows = {r.relation: r for part in parts for r in rows_of(reader.facts(node, key, part, shard))}
        found.append(result_message(job, shard, 0, "all", key, list(rows.values())))
    return [*found, Message(0, REPORT, pickle.dumps(TaskReport(rows_read=reader.rows_read - read)))]


def evaluate_tally(path: str, node: int, shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """A tally, written or handed back."""
    job = load(path)
    tally = worker_cache_of(job).reader.tally(node, EVERYTHING, shard)
    return [result_message(job, shard, 0, "all", 0, weighted_rows(tally))]


class Repartition(NamedTuple):
    """Relations of a leaf that are to be kept by another argument too."""

    leaf: int
    key: int
    relations: frozenset[Relation]


def send_repartitioned(
    path: str, repartitions: tuple[Repartition, ...], shard: int, messages: Iterator[Message]
) -> Iterable[Message]:
    """The facts of a shard on their way to their other homes."""
    job = load(path)
    reader = worker_cache_of(job).reader
    for number, repartition in enumerate(repartitions):
        for relation in sorted(repartition.relations):
            facts = reader.facts(repartition.leaf, 0, SetPart.of(relation), shard)
            yield from to_shards(f"m{number}", list(rows_of(facts)), repartition.key, job.shards)


def write_repartitioned(
    path: str, repartitions: tuple[Repartition, ...], shard: int, messages: Iterator[Message]
) -> Iterable[Message]:
    """The facts that have arrived, written."""
    job = load(path)
    worker = worker_cache_of(job)
    arrived: dict[int, FactBuilder] = {}
    for message in messages:
        number = int(message.tag[1:])
        gather(arrived.setdefault(number, FactBuilder(worker.dictionary, worker.engine.budget)), message.payload)
    for number, gathered in arrived.items():
        key = repartitions[number].key
        written = shard_files.write(job.scratch, list(rows_of(gathered.facts())), key)
        yield Message(shard, "r", pickle.dumps(ShardResult(number, "all", key, written)))
