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

from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.engines.local.fact_builder import FactBuilder
from tidelog.engines.local.facts import LocalFacts, Relation
from tidelog.engines.local.tally import LocalTally
from tidelog.engines.spark.cluster.cluster import Parcel
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.set_expressions import EVERYTHING, Part
from tidelog.engines.spark.sharded.shard_files import PARCEL_ROWS, Piece, Rows, in_parcels, rows_of, split, to_bytes
from tidelog.engines.spark.sharded.tally_nodes import weighted_rows
from tidelog.engines.spark.sharded.worker_cache import Job, Site, load, site_of
from tidelog.kernel.counts import RowCounts, WeightedRun
from tidelog.kernel.run import Run

NOTE = "n"


class Note(NamedTuple):
    """What a task has to say to the driver besides its results."""

    derivations: int = 0
    created: tuple[str, ...] = ()
    rows_read: int = 0


class Result(NamedTuple):
    """Part of a result: which set it belongs to, by which argument, at which shard; a file, or few rows."""

    result: int
    kind: str  # "all", or "fresh" and "stale": not in the set `right`, and in it
    key: int
    written: shard_files.Written | None
    rows: bytes = b""


def run_step(path: str, number: int, shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """One step of every rule that has so many."""
    job = load(path)
    return _Stage(job, site_of(job), number, shard).run(parcels)


class _Stage:
    def __init__(self, job: Job, site: Site, number: int, shard: int) -> None:
        self.job, self.site = job, site
        self.number, self.shard = number, shard
        self.work = Work()
        self.sent: list[Parcel] = []
        self.bindings: dict[int, FactBuilder] = {}

    def run(self, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
        read = self.site.reader.rows_read
        for parcel in parcels:
            if parcel.tag.startswith("b"):
                self._gather(int(parcel.tag[1:]), parcel)
            else:
                self.sent.append(Parcel(self.shard, parcel.tag, parcel.payload))
        self._run_rules()
        if self.number == 0 and self.job.rules.window is not None:
            self._run_window()
        created = self.site.take_created()
        if created:
            self.sent = []
        note = Note(self.work.derivations, tuple(created), self.site.reader.rows_read - read)
        return [*self.sent, Parcel(0, NOTE, pickle.dumps(note))]

    def _gather(self, entry: int, parcel: Parcel) -> None:
        if entry not in self.bindings:
            self.bindings[entry] = FactBuilder(self.site.dictionary, self.site.engine.budget)
        gather(self.bindings[entry], parcel.payload)

    def _run_rules(self) -> None:
        last: list[SourcedRule[LocalFacts]] = []
        for number, entry in enumerate(self.job.rules.entries):
            steps = self.site.plan(entry.plan, self.job.rules.plans).steps
            arrived = self.bindings.get(number)
            if self.number >= len(steps) or (self.number and arrived is None):
                continue
            step = steps[self.number]
            if step.alone and self.shard:
                continue
            bindings = None if arrived is None else arrived.facts()
            extended = SourcedRule(step.rule, tuple(self.site.sources(step, entry, bindings, self.shard)))
            if step is steps[-1]:
                last.append(extended)
            else:
                found = self.site.engine.derive([extended], Work())
                column = None if step.sent is None else step.rule.heads[0].args.index(step.sent)
                self._send(f"b{number}", found, column)
        if last and self.job.rules.tallied:
            tally = self.site.engine.tally(last, self.work)
            self.sent += scattered("h0.0", weighted_rows(tally), 0, self.job.shards)
        elif last:
            self._send_heads(0, self.site.engine.derive(last, self.work))

    def _run_window(self) -> None:
        window = self.job.rules.window
        assert window is not None
        reader, rules = self.site.reader, self.site.rules(window)
        guards = reader.whole(window.guards, EVERYTHING)
        tables = {r: t for r in window.read if (t := reader.in_order(window.facts, r, self.shard)) is not None}
        facts = LocalFacts(self.site.dictionary, tables)
        found = self.site.engine.supports(rules, guards, facts, facts, window.start, window.stop, self.work)
        for result, heads in enumerate(found):
            self._send_heads(result, heads)

    def _send(self, tag: str, facts: LocalFacts, column: int | None) -> None:
        """Bindings to the home of one of their columns, or to the first shard."""
        if column is None:
            self.sent += [Parcel(0, tag, to_bytes([part])) for rows in rows_of(facts) for part in in_parcels(rows)]
        else:
            self.sent += scattered(tag, list(rows_of(facts)), column, self.job.shards)

    def _send_heads(self, result: int, facts: LocalFacts) -> None:
        rows = list(rows_of(facts))
        keys = {r.relation: self.job.wanted.keys(r.relation, r.layout.arity) for r in rows}
        for key in sorted({k for some in keys.values() for k in some}):
            kept = [r for r in rows if key in keys[r.relation]]
            self.sent += scattered(f"h{result}.{key}", kept, key, self.job.shards)


def scattered(tag: str, rows: list[Rows], key: int, shards: int) -> Iterator[Parcel]:
    """Rows on their way to where they are at home, several relations to a parcel where they are few."""
    homes: dict[int, list[Rows]] = {}
    for some in rows:
        for shard, there in split(some, key, shards):
            homes.setdefault(shard, []).extend(in_parcels(there))
    for shard, parts in homes.items():
        waiting: list[Rows] = []
        for part in parts:
            is_full = sum(map(len, waiting)) + len(part) > PARCEL_ROWS
            if waiting and (is_full or waiting[-1].relation == part.relation):  # a piece has each relation once
                yield Parcel(shard, tag, to_bytes(waiting))
                waiting = []
            waiting.append(part)
        yield Parcel(shard, tag, to_bytes(waiting))


def gather(gathered: FactBuilder, payload: bytes | memoryview) -> None:
    """Rows that were packed, on their way to a fact set."""
    for rows in Piece.of_bytes(payload).all_rows():
        gathered.parts.setdefault((rows.relation, rows.layout), []).append(rows.rows)


def settle(path: str, shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """The heads that are at home here: each once, told apart if the job says so, in files or handed back."""
    job = load(path)
    site = site_of(job)
    heads: dict[str, FactBuilder] = {}
    weights: dict[str, list[LocalTally]] = {}
    notes = []
    for parcel in parcels:
        if parcel.tag == NOTE:
            notes.append(Parcel(shard, NOTE, parcel.payload))
        elif job.rules.tallied:
            weights.setdefault(parcel.tag, []).append(_tally(site, parcel))
        else:
            gather(heads.setdefault(parcel.tag, FactBuilder(site.dictionary, site.engine.budget)), parcel.payload)
    found = []
    for tag, gathered in heads.items():
        result, key = map(int, tag[1:].split("."))
        for kind, facts in _told_apart(job, site, gathered.facts(), key, shard):
            found.append(handed(job, shard, result, kind, key, list(rows_of(facts))))
    for tag, tallies in weights.items():
        tally = LocalTally.sum(site.dictionary, tallies)
        found.append(handed(job, shard, int(tag[1:].split(".")[0]), "all", 0, weighted_rows(tally)))
    return [*notes, *found]


def _tally(site: Site, parcel: Parcel) -> LocalTally:
    """The rows of a parcel. Each relation is in it once."""
    counts = {}
    for rows in Piece.of_bytes(parcel.payload).all_rows():
        assert rows.weight is not None
        counts[rows.relation] = RowCounts.of_run(WeightedRun(Run(rows.layout, rows.rows), rows.weight))
    return LocalTally(site.dictionary, counts)


def _told_apart(job: Job, site: Site, facts: LocalFacts, key: int, shard: int) -> Iterator[tuple[str, LocalFacts]]:
    if job.rules.right is None:
        yield "all", facts
        return
    known = {}
    for relation in facts.tables:
        table = site.reader.facts(job.rules.right, key, Part.of(relation), shard).table(relation)
        if table is not None:
            known[relation] = table
    right = LocalFacts(site.dictionary, known)
    yield "fresh", facts - right
    yield "stale", facts & right


def handed(job: Job, shard: int, result: int, kind: str, key: int, rows: list[Rows]) -> Parcel:
    """A part of a result for the driver: rows if they are few, a file otherwise."""
    if sum(map(len, rows)) <= job.inline:
        return Parcel(shard, "r", pickle.dumps(Result(result, kind, key, None, to_bytes(rows))))
    return Parcel(shard, "r", pickle.dumps(Result(result, kind, key, shard_files.write(job.scratch, rows, key))))


def evaluate(path: str, node: int, keys: tuple[int, ...], shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """A set, written or handed back: by the first argument, and the relations that are wanted so by others."""
    job = load(path)
    reader = site_of(job).reader
    read = reader.rows_read
    found = []
    for key in keys:
        parts = job.wanted.parts(key)
        rows = {r.relation: r for part in parts for r in rows_of(reader.facts(node, key, part, shard))}
        found.append(handed(job, shard, 0, "all", key, list(rows.values())))
    return [*found, Parcel(0, NOTE, pickle.dumps(Note(rows_read=reader.rows_read - read)))]


def evaluate_tally(path: str, node: int, shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """A tally, written or handed back."""
    job = load(path)
    tally = site_of(job).reader.tally(node, EVERYTHING, shard)
    return [handed(job, shard, 0, "all", 0, weighted_rows(tally))]


class Move(NamedTuple):
    """Relations of a leaf that are to be kept by another argument too."""

    leaf: int
    key: int
    relations: frozenset[Relation]


def scatter(path: str, moves: tuple[Move, ...], shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """The facts of a shard on their way to their other homes."""
    job = load(path)
    reader = site_of(job).reader
    for number, move in enumerate(moves):
        for relation in sorted(move.relations):
            facts = reader.facts(move.leaf, 0, Part.of(relation), shard)
            yield from scattered(f"m{number}", list(rows_of(facts)), move.key, job.shards)


def keep(path: str, moves: tuple[Move, ...], shard: int, parcels: Iterator[Parcel]) -> Iterable[Parcel]:
    """The facts that have arrived, written."""
    job = load(path)
    site = site_of(job)
    arrived: dict[int, FactBuilder] = {}
    for parcel in parcels:
        number = int(parcel.tag[1:])
        gather(arrived.setdefault(number, FactBuilder(site.dictionary, site.engine.budget)), parcel.payload)
    for number, gathered in arrived.items():
        key = moves[number].key
        written = shard_files.write(job.scratch, list(rows_of(gathered.facts())), key)
        yield Parcel(shard, "r", pickle.dumps(Result(number, "all", key, written)))
