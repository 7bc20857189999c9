"""Changes on Spark: the same steps as a change in this process, over facts in shards.

    ingest      files and DataFrames are parsed, encoded and sharded by tasks; the rest is read here and handed over
    maintain    the algorithm, unchanged, on the Spark engine
    commit      executors write the files of the version, the driver names them in one transaction

The shards of the newest version are kept for the next change.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from tidelog.algebra.engine import Work
from tidelog.algorithms.equality.policy import OFF
from tidelog.changes.apply import Attempt, Maintained, as_update, check_columns, maintained, read_batches, with_rules
from tidelog.changes.commit import Counted, describe
from tidelog.changes.inputs import Input
from tidelog.changes.request import ChangeOptions, ChangeRequest, no_progress
from tidelog.changes.result import Change, only_in
from tidelog.changes.state import State
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.spark.cluster.cluster import Cluster, FrameInput, Message, SparkCluster, Stage
from tidelog.engines.spark.cluster.session import session
from tidelog.engines.spark.ingest.ingest import IngestSource, append_terms, ingest
from tidelog.engines.spark.ingest.write_version import write_base, write_change
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.engines.spark.sharded.facts import SparkFacts
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot, take_snapshot
from tidelog.errors import StoreError, UsageError
from tidelog.queries.answers import FactAnswers
from tidelog.store import dictionary_files, durable_files
from tidelog.store.delta import Delta
from tidelog.store.durable_files import WriterLock
from tidelog.store.records import Commit, Segment, Sums
from tidelog.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRATCH, SESSION = "scratch", "session"
_GATHERED = 2_000_000  # facts of a change up to which the driver writes it


@dataclass(frozen=True, slots=True)
class Tried:
    """A change carried out in shards, not yet made durable."""

    before: State
    ruled: State  # with the rules after the change
    done: Maintained[SparkFacts]
    work: Work
    seconds: float
    backend: SparkBackend
    reason: str
    bad_lines: int

    @property
    def version(self) -> int:
        return self.before.version + 1

    def sets(self) -> tuple[SparkFacts, SparkFacts, SparkFacts, SparkFacts]:
        """Explicit facts gained and lost, facts gained and lost."""
        return self.done.update.added, self.done.update.removed, self.done.outcome.added, self.done.outcome.removed

    def change(self, added: FactAnswers, removed: FactAnswers) -> Change:
        choice = self.done.choice
        reason = f"{choice.reason}; spark: {self.reason}"
        return Change(
            self.version,
            added,
            removed,
            choice.algorithm,
            "spark",
            reason,
            self.work,
            self.seconds,
            added_rules=only_in(self.ruled.program.after, self.before.program.after),
            removed_rules=only_in(self.before.program.after, self.ruled.program.after),
            bad_lines=self.bad_lines,
        )

    def gathered(self) -> Attempt:
        """The same in this process."""
        delta = Delta(*(facts.to_local() for facts in self.sets()))
        E, I = delta.apply(self.before.E, self.before.I)
        after = replace(self.ruled, E=E, I=I, version=self.version, algorithm_state=None)
        added, removed = FactAnswers(delta.I_added, delta.E_added), FactAnswers(delta.I_removed, delta.E_removed)
        return Attempt(after, self.change(added, removed), delta)

    def is_written_by_executors(self, store: Store) -> bool:
        """A small change is gathered and committed like any other."""
        outcome = self.done.outcome
        return store.needs_full_snapshot or len(outcome.added) + len(outcome.removed) > _GATHERED

    def commit(self, store: Store, message: str, options: Mapping[str, object]) -> tuple[State, Change]:
        """Make it durable by files that executors write. The state has all but the facts, which are to be read."""
        ruled = replace(self.ruled, options={**self.ruled.options, **options})
        return self.backend.commit(replace(self, ruled=ruled), store, message)


class ProgressCluster:
    """A cluster that reports its progress: `report` is called before each job."""

    def __init__(self, cluster: Cluster) -> None:
        self.cores = cluster.cores
        self.jobs = 0
        self.report: Callable[[], None] = _no_report
        self._cluster = cluster

    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        self.jobs += 1
        self.report()
        return self._cluster.run(stages, inputs)


def _no_report() -> None:
    """Default job callback: does nothing."""


class SparkBackend:
    """Spark for one knowledge base: a session, an engine, and the facts of a version in shards."""

    def __init__(
        self,
        local: LocalEngine,
        store: Store | None = None,
        *,
        spark: SparkSession | None = None,
        master: str | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self.master = master
        self.seconds: dict[str, float] = {}  # of the stages of the last change, and of the start of Spark
        self._stack = ExitStack()
        self._local = local
        self._progress: Callable[[str], None] = no_progress
        self._scratch = _new_scratch(store, self._stack)
        self._session: SparkSession | None = None
        if cluster is None:
            with self._timed(SESSION):
                self._session = self._stack.enter_context(session(spark, master))
            cluster = SparkCluster(self._session)
        self._cluster = ProgressCluster(cluster)
        self._engine = SparkEngine(self._cluster, local.dictionary, self._scratch)
        self._stack.callback(self._engine.close)
        self._sharded: tuple[int, SparkFacts, SparkFacts] | None = None
        self._terms = DictionarySnapshot()
        self._read: list[object] = []

    def is_on(self, master: str | None, spark: SparkSession | None = None) -> bool:
        """Whether this uses the session, or the master, that the caller asks for."""
        return self.master == master if spark is None else self._session in (None, spark)

    def sharded(self, state: State) -> tuple[SparkEngine, SparkFacts, SparkFacts]:
        """The engine, and the facts of a version: explicit ones and all."""
        self._progress, self._cluster.report = no_progress, _no_report
        return self._engine, *self._shards(state)

    def terms(self) -> DictionarySnapshot:
        """The dictionary for tasks, as it is now."""
        self._terms = take_snapshot(self._local.dictionary, self._scratch, self._terms)
        return self._terms

    def keep(self, read: object) -> None:
        """Keep sets whose files DataFrames read, until this is closed."""
        self._read.append(read)

    def close(self) -> None:
        """Remove the shards, and stop the session if it was made for this."""
        self._stack.close()

    def attempt(self, before: State, request: ChangeRequest, reason: str) -> Tried:
        """Carry out a change in shards; nothing is committed."""
        if before.options.get("equality", OFF) != OFF:
            raise UsageError(
                'a knowledge base with equality="rewriting" is changed by the local engine: engine="local"'
            )
        start, work = time.perf_counter(), Work()
        ruled, options = with_rules(before, request), request.options
        arities = {**before.E.arities(), **ruled.arities}
        self._progress = options.progress
        added, bad = self._facts(request.add, arities, options)
        removed, _ = self._facts(request.remove, arities, options)
        E, I = self._shards(before)
        self._cluster.report = lambda: self._progress(f"materialise, round {work.rounds}, job {self._cluster.jobs}")
        with self._timed("materialise"):
            start_state = replace(before, algorithm_state=None)
            update = as_update(self._engine, start_state, ruled, (E, I), (removed, added), work)
            done = maintained(before, ruled, update, len(E), options)
        return Tried(before, ruled, done, work, time.perf_counter() - start, self, reason, bad)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        self._progress(stage)
        start = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - start

    def _shards(self, state: State) -> tuple[SparkFacts, SparkFacts]:
        """The facts of a version; the one that was made last is still there."""
        if self._sharded is None or self._sharded[0] != state.version:
            with self._timed("shard what is there"):
                self._sharded = state.version, self._engine.adopt(state.E), self._engine.adopt(state.I)
        return self._sharded[1:]

    def _facts(self, source: Input, arities: dict[str, int], options: ChangeOptions) -> tuple[SparkFacts, int]:
        """The facts of an input, and how many lines were left out: files and DataFrames by many tasks, else here."""
        there = [s for s in source.batches if isinstance(s, IngestSource)]
        here = [s for s in source.batches if not isinstance(s, IngestSource)]
        facts = self._engine.adopt(read_batches(self._local, source.facts, here, arities))
        if not there:
            return facts, 0
        dictionary = self._local.dictionary
        found = ingest(
            self._cluster, there, dictionary, self._scratch, self._engine.driver.shards,
            bad_lines=options.bad_lines, quarantine=options.quarantine, progress=self._progress,
        )  # fmt: skip
        _check_arities(found.arities(), arities)
        append_terms(dictionary, found)
        self.seconds |= found.seconds
        found.close()
        return facts | self._engine.of_shard_files(found.shard_files), found.bad

    def commit(self, tried: Tried, store: Store, message: str) -> tuple[State, Change]:
        """Make a change durable by files that executors write; what the store then has is to be read anew."""
        self._cluster.report = _no_report
        with self._timed("commit"):
            return self._commit(tried, store, message)

    def _commit(self, tried: Tried, store: Store, message: str) -> tuple[State, Change]:
        done, version = tried.done, tried.version
        terms_ = take_snapshot(self._local.dictionary, self._scratch)
        before = tried.before.stored().sums
        if store.needs_full_snapshot:
            E, I = done.update.E.shard_files(), done.outcome.I.shard_files()
            written = write_base(self._cluster, store.root, version, E, I, terms_)
            sums = Sums(*written.sums)
        else:
            sets = [facts.shard_files() for facts in tried.sets()]
            written = write_change(self._cluster, store.root, version - 1, version, sets, terms_)
            more, less, gained, lost = written.sums
            sums = Sums(before.explicit.plus(more).minus(less), before.facts.plus(gained).minus(lost))
        after = replace(tried.ruled, version=version, sums=sums).settle(tried.before)
        counts = Counted(
            len(done.outcome.added),
            len(done.outcome.removed),
            len(done.outcome.I),
            len(done.update.E),
            len(after.program.after),
        )
        change = tried.change(
            self._answers(store, version, True, counts.added), self._answers(store, version, False, counts.removed)
        )
        settled = None if after.settled is tried.before.settled else after.settled
        record = Commit(describe(change, counts, message, after.digest()), settled, sums, 0)
        store.commit_written(record, written.run, self._segments(store), after.settled, sums)
        self._sharded = version, done.update.E, done.outcome.I
        return after, change

    def _segments(self, store: Store) -> list[Segment]:
        """The terms that no file has yet."""
        dictionary, start = self._local.dictionary, store.manifest.terms
        if start == len(dictionary):
            return []
        return [dictionary_files.write(store.root, store.fresh_name(start), dictionary, start, len(dictionary))]

    def _answers(self, store: Store, version: int, gained: bool, length: int) -> FactAnswers:
        """The facts a version gained or lost, read from its files on first use.

        Those that became explicit, or ceased to be, are marked as explicit.
        """

        def change() -> Delta:
            return store.between(version - 1, version, self._local.dictionary)

        if gained:
            return FactAnswers(lambda: change().I_added, lambda: change().E_added, length)
        return FactAnswers(lambda: change().I_removed, lambda: change().E_removed, length)


def _check_arities(found: Mapping[str, int], arities: dict[str, int]) -> None:
    for predicate, arity in found.items():
        check_columns(predicate, arity, arities)


def _new_scratch(store: Store | None, stack: ExitStack) -> Path:
    """A directory that driver and executors see: inside a knowledge base on disk, else a temporary one.

    It is locked while it is used; what a process that is gone has left is removed.
    """
    if store is None:
        scratch = Path(tempfile.mkdtemp(prefix="tidelog-"))
    else:
        folder = store.root / SCRATCH
        with durable_files.explained(folder):
            folder.mkdir(exist_ok=True)
            _remove_abandoned(folder)
            scratch = folder / uuid4().hex
            scratch.mkdir()
        lock = WriterLock(scratch)
        lock.acquire()
        stack.callback(lock.release)
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    return scratch


def _remove_abandoned(folder: Path) -> None:
    for other in folder.iterdir():
        lock = WriterLock(other)
        with suppress(StoreError):  # another process uses it
            lock.acquire()
            shutil.rmtree(other, ignore_errors=True)
        lock.release()
