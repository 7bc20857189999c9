"""From files and DataFrames to encoded, sorted shards, in two jobs of two stages each.

    parse   splits          ──terms by bucket──>  assign ids   new terms get ids
    route   codes to ids    ──rows──>             sort         each shard is sorted, without duplicates, and written

Between the jobs the driver computes the first id of each bucket. Tasks write files with unique names and report them at
the end. Files of failed attempts are removed with the other temporary files.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import numpy as np
import pyarrow as pa

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.dictionary.dictionary import MAX_TERMS
from tidelog.engines.spark.cluster.cluster import Cluster, FrameInput, Message, Stage
from tidelog.engines.spark.ingest.assign_ids import (
    IdAssignment,
    Routing,
    SortedShard,
    assign_ids,
    new_terms,
    route,
    sort_shard,
)
from tidelog.engines.spark.ingest.chunks import BUCKETS
from tidelog.engines.spark.ingest.parse import (
    FAILED,
    CodesFile,
    FrameRelation,
    ParseTask,
    elapsed,
    parse_rows,
    parse_splits,
    plan,
)
from tidelog.engines.spark.ingest.remote import UncountedError, remote_input
from tidelog.engines.spark.sharded.shard_files import ShardFile
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot, take_snapshot
from tidelog.errors import InputError, LimitError
from tidelog.formats import FAIL, FactFile, FrameSource, RemoteSource, marked_columns, written_aside
from tidelog.model.terms import TRIPLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IngestSource = FactFile | FrameSource | RemoteSource


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to read an input. For `bad_lines`, `quarantine` and `progress` see `ChangeOptions`.

    `split_size` is the largest number of bytes that one task reads; None: chosen by the size of the input.
    """

    bad_lines: str = FAIL
    quarantine: Path | None = None
    progress: Callable[[str], None] = lambda _: None
    split_size: int | None = None


@dataclass(frozen=True, slots=True)
class NewTerms:
    """A file of new terms. Their ids are `start`, `start + 1`, …"""

    path: str
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of ingest: a file for each shard, the files of new terms, and statistics."""

    shard_files: list[ShardFile]
    terms: list[NewTerms]
    arities: dict[str, int]
    bad: int  # the number of lines that were left out
    seconds: dict[str, float]  # by stage
    directory: Path  # of the files of new terms

    def close(self) -> None:
        """Remove the files of new terms. The shard files stay."""
        shutil.rmtree(self.directory, ignore_errors=True)


def ingest(
    cluster: Cluster,
    sources: Sequence[IngestSource],
    dictionary: Dictionary,
    scratch: Path,
    shards: int,
    options: IngestOptions,
) -> Ingested:
    """Read files and DataFrames into shards. The dictionary is not changed: `append_terms` adds the new terms to it."""
    directory = scratch / f"ingest-{uuid4().hex}"
    directory.mkdir(parents=True)
    try:
        snapshot = take_snapshot(dictionary, directory) if len(dictionary) else None
        job = _IngestJob(cluster, directory, options)
        encoded = job.encode(sources, snapshot, len(dictionary))
        if options.quarantine is not None:
            encoded.quarantine(options.quarantine)
        return job.shard(encoded, scratch, shards)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def append_terms(dictionary: Dictionary, ingested: Ingested) -> None:
    """Add the new terms to the dictionary, which must be unchanged since ingest, and remove their files."""
    for terms in ingested.terms:
        assert len(dictionary) == terms.start, "the dictionary has changed"
        for texts in _joined(new_terms(terms.path)):
            dictionary.encode_many(texts)
    ingested.close()


def _joined(parts: Iterable[pa.Array]) -> Iterator[pa.Array]:
    """Yield the terms in larger arrays: the dictionary adds one large array faster than many small ones."""
    some: list[pa.Array] = []
    for part in parts:
        some.append(part)
        if sum(p.nbytes for p in some) > tuning.NEW_TERMS_BYTES:
            yield pa.concat_arrays(some)
            some.clear()
    if some:
        yield pa.concat_arrays(some)


class _Encoded:
    """The reports of the first job."""

    def __init__(self, numbered: list[IdAssignment], known: int) -> None:
        """`numbered`: the reports in the order of their buckets; `known`: the number of terms in the dictionary."""
        self.numbered = numbered
        counts = [count for n in numbered for count in n.counts]
        self.first_ids = known + np.cumsum([0, *counts])
        self.total = int(self.first_ids[-1])
        self.parsed = sorted(parsed for n in numbered for parsed in n.parsed)
        self.chunks = [chunk for parsed in self.parsed for chunk in parsed.chunks]
        self.arities = self._arities()

    def _arities(self) -> dict[str, int]:
        arities: dict[str, int] = {}
        for chunk in self.chunks:
            for predicate, found, _ in chunk.relations:
                expected = arities.setdefault(predicate, 3 if predicate == TRIPLE else found)
                if found != expected:
                    raise InputError(
                        f"{predicate} has {expected} arguments elsewhere, but this data gives it {found} columns"
                    )
        return arities

    def new_terms(self) -> list[NewTerms]:
        return [NewTerms(n.terms, int(self.first_ids[n.low]), sum(n.counts)) for n in self.numbered]

    def quarantine(self, path: Path) -> None:
        """Write all bad lines to one file, in the order of the input."""
        with written_aside(path) as target:
            for parsed in self.parsed:
                with open(parsed.quarantine, "rb") as lines:
                    shutil.copyfileobj(lines, target)

    def routing(self, shards: int) -> Routing:
        return Routing(tuple(n.answers for n in self.numbered), self.first_ids[:-1], self.total, shards)

    def tasks(self) -> list[list[CodesFile]]:
        """The chunks of each task that sends rows to their shards."""
        tasks: list[list[CodesFile]] = [[]]
        rows = 0
        for chunk in self.chunks:
            if rows >= tuning.ROUTE_ROWS:
                tasks.append([])
                rows = 0
            tasks[-1].append(chunk)
            rows += sum(count for _, _, count in chunk.relations)
        return tasks

    def seconds(self) -> dict[str, float]:
        return {"parse": elapsed(p.interval for p in self.parsed), "encode": elapsed(n.interval for n in self.numbered)}


class _IngestJob:
    """Runs the two jobs of ingest."""

    def __init__(self, cluster: Cluster, directory: Path, options: IngestOptions) -> None:
        self.cluster, self.directory, self.options = cluster, directory, options

    def encode(self, sources: Sequence[IngestSource], snapshot: DictionarySnapshot | None, known: int) -> _Encoded:
        files = [source for source in sources if isinstance(source, FactFile)]
        frames = [source for source in sources if not isinstance(source, FactFile)]
        tasks = plan(files, self.cluster.cores, self.options.split_size)
        id_tasks = self._id_tasks(sum(f.size for f in files), frames)
        parsing = ParseTask(str(self.directory), id_tasks, self.options.bad_lines)
        stages = [
            Stage(partial(parse_splits, parsing, tasks), len(tasks)),
            Stage(partial(assign_ids, parsing, snapshot), id_tasks),
        ]
        self.options.progress("parse")
        try:
            reports = _reports(self.cluster.run(stages, self._inputs(parsing, frames)))
        except UncountedError:
            reports = _reports(self.cluster.run(stages, self._inputs(parsing, frames, counted=True)))
        encoded = _Encoded(sorted(reports), known)
        if encoded.total > MAX_TERMS:
            raise LimitError(f"the dictionary is full: {encoded.total:,} terms, at most {MAX_TERMS:,} are possible")
        return encoded

    def _id_tasks(self, nbytes: int, frames: Sequence[IngestSource]) -> int:
        """The number of tasks that assign ids, from the size of the files; the size of DataFrames is not known."""
        unknown = tuning.ID_TASKS_PER_CORE * self.cluster.cores if frames else 0
        return min(BUCKETS, max(self.cluster.cores, nbytes // tuning.ID_TASK_BYTES, unknown))

    def _inputs(
        self, parsing: ParseTask, frames: Sequence[FrameSource | RemoteSource], counted: bool = False
    ) -> list[FrameInput]:
        """DataFrames in the first stage; all files together are input number 0."""
        return [self._input(parsing, source, i, counted) for i, source in enumerate(frames, 1)]

    def _input(self, parsing: ParseTask, source: FrameSource | RemoteSource, number: int, counted: bool) -> FrameInput:
        if isinstance(source, RemoteSource):
            assert self.cluster.spark is not None, "only Spark can read from URLs"
            return remote_input(self.cluster.spark, parsing, source, number, counted)
        frame = FrameRelation(source.predicate, marked_columns(source.frame.schema), number)
        return FrameInput(cast("DataFrame", source.frame), partial(parse_rows, parsing, frame))

    def shard(self, encoded: _Encoded, scratch: Path, shards: int) -> Ingested:
        tasks, terms = encoded.tasks(), encoded.new_terms()
        stages = [
            Stage(partial(route, encoded.routing(shards), tasks), len(tasks)),
            Stage(partial(sort_shard, str(scratch)), shards),
        ]
        self.options.progress("sort")
        messages = self.cluster.run(stages)
        gathered: list[SortedShard] = list(_reports(sorted(messages, key=lambda message: message.target)))
        kept = {t.path for t in terms}
        for path in self.directory.iterdir():
            if str(path) not in kept:
                path.unlink()
        seconds = {
            **encoded.seconds(),
            "route": elapsed(interval for g in gathered for interval in g.routed),
            "sort": elapsed(g.interval for g in gathered),
        }
        bad = sum(parsed.bad for parsed in encoded.parsed)
        shard_files = [g.shard_file for g in gathered]
        return Ingested(shard_files, terms, encoded.arities, bad, seconds, self.directory)


def _reports(messages: Sequence[Message]) -> Iterator[Any]:
    """The reports of the last stage of a job. Raises the first error in the order of the input."""
    failed = [pickle.loads(message.payload) for message in messages if message.tag == FAILED]
    if failed:
        raise min(failed, key=lambda f: f[0])[1]
    return (pickle.loads(message.payload) for message in messages)
