"""The functions that tasks run at a shard.

    step 0  --bindings, heads-->  step 1  --…-->  collect_heads  --shard files or few rows-->  driver

The tags of messages: `b3` bindings of entry 3; `h0.2` heads of result 0, partitioned by argument 2; `n` reports for the
driver, which wait at the first shard. Heads stay at the shard where they arrive until the last stage.

Other tasks evaluate an expression, or repartition a set by another argument.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
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
    weighted_rows,
)
from tidelog.engines.spark.sharded.worker_cache import Job, WorkerCache, load, worker_cache_of

REPORT = "n"


class TaskReport(NamedTuple):
    """What a task reports to the driver besides its results."""

    derivations: int = 0
    created: tuple[str, ...] = ()
    rows_read: int = 0


class ShardResult(NamedTuple):
    """The part of a result at one shard, partitioned by the argument `key`: a file, or a few rows."""

    result: int
    kind: str  # "all", or "fresh" (not in the set `right`) and "stale" (in it)
    key: int
    written: shard_files.ShardFile | None
    rows: bytes = b""


def run_step(path: str, number: int, shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """Run step `number` of every rule whose plan has that many steps."""
    job = load(path)
    return _StepTask(job, worker_cache_of(job), number, shard).run(messages)


class _StepTask:
    def __init__(self, job: Job, worker: WorkerCache, number: int, shard: int) -> None:
        self.job, self.worker = job, worker
        self.number, self.shard = number, shard
        self.work = Work()
        self.sent: list[Message] = []
        self.bindings: defaultdict[int, FactBuilder] = defaultdict(worker.builder)

    def run(self, messages: Iterator[Message]) -> Iterable[Message]:
        read = self.worker.reader.rows_read
        for message in messages:
            if message.tag.startswith("b"):
                gather(self.bindings[int(message.tag[1:])], message.payload)
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
        """Send bindings to the shards of one of their columns, or to the first shard."""
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
    """Yield messages that send rows to their shards. A message contains several relations if they are small."""
    by_shard: dict[int, list[RelationRows]] = {}
    for some in rows:
        for shard, part in split_by_shard(some, key, shards):
            by_shard.setdefault(shard, []).extend(in_messages(part))
    for shard, parts in by_shard.items():
        waiting: list[RelationRows] = []
        for part in parts:
            is_full = sum(map(len, waiting)) + len(part) > tuning.MESSAGE_ROWS
            if waiting and (is_full or waiting[-1].relation == part.relation):  # a message has each relation once
                yield Message(shard, tag, to_bytes(waiting))
                waiting = []
            waiting.append(part)
        yield Message(shard, tag, to_bytes(waiting))


def gather(gathered: FactBuilder, payload: bytes | memoryview) -> None:
    """Add the rows of a message to a builder."""
    for rows in RowBlock.of_bytes(payload).all_rows():
        gathered.parts.setdefault((rows.relation, rows.layout), []).append(rows.rows)


def collect_heads(path: str, shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """Collect the heads of one shard without duplicates, and return them as files or rows."""
    job = load(path)
    worker = worker_cache_of(job)
    heads: defaultdict[str, FactBuilder] = defaultdict(worker.builder)
    weights: defaultdict[str, list[LocalTally]] = defaultdict(list)
    reports = []
    for message in messages:
        if message.tag == REPORT:
            reports.append(Message(shard, REPORT, message.payload))
        elif job.rules.tallied:
            counts = {rows.relation: rows.counts() for rows in RowBlock.of_bytes(message.payload).all_rows()}
            weights[message.tag].append(LocalTally(worker.dictionary, counts))
        else:
            gather(heads[message.tag], message.payload)
    found = []
    for tag, gathered in heads.items():
        result, key = map(int, tag[1:].split("."))
        for kind, facts in _divide_by_known(job, worker, gathered.facts(), key, shard):
            found.append(result_message(job, shard, result, kind, key, list(rows_of(facts))))
    for tag, tallies in weights.items():
        tally = LocalTally.sum(worker.dictionary, tallies)
        found.append(result_message(job, shard, int(tag[1:].split(".")[0]), "all", 0, weighted_rows(tally)))
    return [*reports, *found]


def _divide_by_known(
    job: Job, worker: WorkerCache, facts: LocalFacts, key: int, shard: int
) -> Iterator[tuple[str, LocalFacts]]:
    """Yield (kind, facts): all, or divided into those that are in the set `right` and the others."""
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
    """A part of a result for the driver: the rows if they are few, else a file."""
    if sum(map(len, rows)) <= job.inline:
        return Message(shard, "r", pickle.dumps(ShardResult(result, kind, key, None, to_bytes(rows))))
    return Message(shard, "r", pickle.dumps(ShardResult(result, kind, key, shard_files.write(job.scratch, rows, key))))


def evaluate(path: str, node: int, keys: tuple[int, ...], shard: int, messages: Iterator[Message]) -> Iterable[Message]:
    """Evaluate a set: partitioned by its first argument, and by other keys the parts that plans read that way."""
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
    """Evaluate a tally."""
    job = load(path)
    tally = worker_cache_of(job).reader.tally(node, EVERYTHING, shard)
    return [result_message(job, shard, 0, "all", 0, weighted_rows(tally))]


class Repartition(NamedTuple):
    """Relations of a stored set that need a copy partitioned by another argument."""

    node: int
    key: int
    relations: frozenset[Relation]


def send_repartitioned(
    path: str, repartitions: tuple[Repartition, ...], shard: int, messages: Iterator[Message]
) -> Iterable[Message]:
    """Send the facts of a shard to their shards by another argument."""
    job = load(path)
    reader = worker_cache_of(job).reader
    for number, repartition in enumerate(repartitions):
        for relation in sorted(repartition.relations):
            facts = reader.facts(repartition.node, 0, SetPart.of(relation), shard)
            yield from to_shards(f"m{number}", list(rows_of(facts)), repartition.key, job.shards)


def write_repartitioned(
    path: str, repartitions: tuple[Repartition, ...], shard: int, messages: Iterator[Message]
) -> Iterable[Message]:
    """Write the facts that have arrived."""
    job = load(path)
    arrived: defaultdict[int, FactBuilder] = defaultdict(worker_cache_of(job).builder)
    for message in messages:
        gather(arrived[int(message.tag[1:])], message.payload)
    for number, gathered in arrived.items():
        key = repartitions[number].key
        written = shard_files.write(job.scratch, list(rows_of(gathered.facts())), key)
        yield Message(shard, "r", pickle.dumps(ShardResult(number, "all", key, written)))
