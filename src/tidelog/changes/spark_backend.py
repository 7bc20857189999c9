"""Changes on Spark: the same steps as a change in this process, over facts in shards.

    read        tasks parse, encode and shard files and DataFrames; the driver reads the rest and distributes it
    maintain    the algorithm, unchanged, on the Spark engine
    write       executors write the files of the version; the driver names them in one transaction

The shards of the newest version are kept for the next change.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from tidelog import tuning
from tidelog.algebra.fact_set import shown_count
from tidelog.algorithms.equality.policy import PlainChange
from tidelog.algorithms.update import Algorithm, Outcome, Update
from tidelog.changes.backend import AppliedChange
from tidelog.changes.inputs import Input
from tidelog.changes.local_backend import GatheredChange, check_columns, read_batches
from tidelog.changes.progress import Progress, no_progress
from tidelog.changes.request import ChangeOptions
from tidelog.changes.state import State, StateOnDisk
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.spark.cluster.cluster import Cluster, FrameInput, Message, SparkCluster, Stage
from tidelog.engines.spark.cluster.session import session
from tidelog.engines.spark.ingest.ingest import IngestOptions, IngestSource, append_terms, ingest
from tidelog.engines.spark.ingest.write_version import WrittenVersion, write_version
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.engines.spark.sharded.facts import SparkFacts
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot, take_snapshot
from tidelog.errors import StoreError
from tidelog.queries.answers import FactAnswers
from tidelog.store import durable_files, runs
from tidelog.store.delta import Delta
from tidelog.store.durable_files import WriterLock
from tidelog.store.records import Commit, Segment, Sums
from tidelog.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRATCH, SESSION = "scratch", "session"


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """A change whose facts executors wrote to files. The driver commits the files, and reads them on first use."""

    backend: SparkBackend
    store: Store
    applied: AppliedChange[SparkFacts]
    files: WrittenVersion
    segments: list[Segment]

    def answers(self) -> tuple[FactAnswers, FactAnswers]:
        """A gained fact is marked as explicit if it became explicit; a lost fact, if it was explicit."""

        def delta() -> Delta:
            state = self.applied.after
            return self.store.between(state.version - 1, state.version, state.E.dictionary)

        outcome = self.applied.outcome
        return (
            FactAnswers(lambda: delta().I_added, lambda: delta().E_added, shown_count(outcome.added)),
            FactAnswers(lambda: delta().I_removed, lambda: delta().E_removed, shown_count(outcome.removed)),
        )

    def sums(self, before: Sums) -> Sums:
        if self.files.run.start is None:
            return Sums(*self.files.sums)
        E_added, E_removed, I_added, I_removed = self.files.sums
        return Sums(before.explicit.plus(E_added).minus(E_removed), before.facts.plus(I_added).minus(I_removed))

    def commit(self, store: Store, record: Commit, after: State) -> StateOnDisk:
        store.commit_written(record, self.files.run, self.segments, after.metadata, record.sums)
        self.backend.keep_shards(after.version, self.applied.update.E, self.applied.outcome.I)
        return StateOnDisk(after, store)


class ProgressCluster:
    """A cluster that reports its progress: `report` is called before each job."""

    def __init__(self, cluster: Cluster) -> None:
        self.cores, self.spark = cluster.cores, cluster.spark
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

    name = "spark"

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
        self._progress: Progress = no_progress
        self._scratch = _new_scratch(store, self._stack)
        self._session: SparkSession | None = None
        if cluster is None:
            with self._timed(SESSION):
                self._session = self._stack.enter_context(session(spark, master))
            cluster = SparkCluster(self._session)
        self._cluster = ProgressCluster(cluster)
        self.engine = SparkEngine(self._cluster, local.dictionary, self._scratch)
        self._stack.callback(self.engine.close)
        self._sharded: tuple[int, SparkFacts, SparkFacts] | None = None
        self._terms = DictionarySnapshot()
        self._read: list[object] = []

    def is_on(self, master: str | None, spark: SparkSession | None = None) -> bool:
        """Whether this backend uses the given session, or the given master."""
        return self.master == master if spark is None else self._session in (None, spark)

    def is_for(self, local: LocalEngine) -> bool:
        """Whether this uses the dictionary of an engine."""
        return self._local is local

    def sharded(self, state: State) -> tuple[SparkEngine, SparkFacts, SparkFacts]:
        """The engine, and the facts of a version: explicit ones and all."""
        self._progress, self._cluster.report = no_progress, _no_report
        E, I, _ = self.facts(state)
        return self.engine, E, I

    def terms(self) -> DictionarySnapshot:
        """A snapshot of the dictionary for tasks."""
        self._terms = take_snapshot(self._local.dictionary, self._scratch, self._terms)
        return self._terms

    def keep(self, read: object) -> None:
        """Keep sets alive, whose files DataFrames read, until this backend is closed."""
        self._read.append(read)

    def close(self) -> None:
        """Remove the shards, and stop the session if this backend has started it."""
        self._stack.close()

    def read(self, source: Input, arities: dict[str, int], options: ChangeOptions) -> tuple[SparkFacts, int]:
        """Tasks read files and DataFrames; the driver reads the rest."""
        self._progress = options.progress
        by_tasks = [s for s in source.batches if isinstance(s, IngestSource)]
        by_driver = [s for s in source.batches if not isinstance(s, IngestSource)]
        facts = self.engine.adopt(read_batches(self._local, source.facts, by_driver, arities))
        if not by_tasks:
            return facts, 0
        dictionary = self._local.dictionary
        how = IngestOptions(options.bad_lines, options.quarantine, self._progress)
        found = ingest(self._cluster, by_tasks, dictionary, self._scratch, self.engine.driver.shards, how)
        for predicate, columns in found.arities.items():
            check_columns(predicate, columns, arities)
        append_terms(dictionary, found)
        self.seconds |= found.seconds
        found.close()
        return facts | self.engine.of_shard_files(found.shard_files), found.bad

    def facts(self, state: State) -> tuple[SparkFacts, SparkFacts, None]:
        """The facts in shards. The shards of the version that was written last are reused."""
        if self._sharded is None or self._sharded[0] != state.version:
            with self._timed("shard the stored facts"):
                self.keep_shards(state.version, self.engine.adopt(state.E), self.engine.adopt(state.I))
        assert self._sharded is not None
        return *self._sharded[1:], None

    def keep_shards(self, version: int, E: SparkFacts, I: SparkFacts) -> None:
        """Keep the facts of a version for the next change."""
        self._sharded = version, E, I

    def maintain(self, update: Update[SparkFacts], algorithm: Algorithm) -> Outcome[SparkFacts]:
        """Run the algorithm; progress is reported before each job."""
        work, cluster = update.work, self._cluster
        cluster.report = lambda: self._progress(f"materialise, round {work.rounds}, job {cluster.jobs}")
        with self._timed("materialise"):
            return algorithm(update)

    def gather(self, applied: AppliedChange[SparkFacts]) -> GatheredChange:
        delta = Delta(*(facts.to_local() for facts in applied.delta))
        E, I = delta.apply(applied.before.E, applied.before.I)
        return GatheredChange(delta, E, I, PlainChange(delta.I_added, delta.I_removed))

    def write(self, store: Store, applied: AppliedChange[SparkFacts]) -> WrittenChange | None:
        """Executors write the files of a large change, and of all facts if the store is empty."""
        outcome, version = applied.outcome, applied.after.version
        if not store.needs_full_snapshot and len(outcome.added) + len(outcome.removed) <= tuning.GATHERED_FACTS:
            return None
        self._cluster.report = _no_report
        with self._timed("commit"):
            terms = take_snapshot(self._local.dictionary, self._scratch)
            whole = store.needs_full_snapshot
            sets = [s.shard_files() for s in ((applied.update.E, outcome.I) if whole else applied.delta)]
            start = None if whole else version - 1
            files = write_version(self._cluster, store.root, start, version, sets, terms)
            return WrittenChange(self, store, applied, files, self._segments(store))

    def _segments(self, store: Store) -> list[Segment]:
        """Write the terms that no file has yet."""
        dictionary, start = self._local.dictionary, store.manifest.terms
        if start == len(dictionary):
            return []
        return [runs.write_terms(store.root, store.fresh_name(start), dictionary, start, len(dictionary))]

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        self._progress(stage)
        start = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - start


def _new_scratch(store: Store | None, stack: ExitStack) -> Path:
    """A directory for driver and executors: inside a knowledge base on disk, else a temporary one.

    It is locked while it is used. Directories that ended processes have left behind are removed.
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
