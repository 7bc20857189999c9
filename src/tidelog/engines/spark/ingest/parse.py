"""The first stage of ingest: a task parses its splits, and sends the terms of each chunk to the tasks that assign ids.

A split is a file or a span of a file; a task may have several small splits. The splits never show in the result: ids
depend only on the terms (`assign_ids`), and the shard of a fact depends only on its ids.

A bad line is an error, or it is left out and counted, or also written to the quarantine file (`bad_lines`). The driver
raises the first error in the order of the files, as if it had read them one by one.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa

from tidelog import tuning
from tidelog.dictionary.batch import Batch
from tidelog.engines.spark.cluster.cluster import Message
from tidelog.engines.spark.ingest.chunks import BUCKETS, FactChunk, chunks
from tidelog.errors import InputError
from tidelog.formats import FAIL, QUARANTINE, BadLineCollector, FactFile, OnBadLine, Span, from_arrow
from tidelog.kernel.array_file import pack


@dataclass(frozen=True, slots=True)
class InputSplit:
    """A file, or a span of it."""

    reading: FactFile
    span: Span | None
    size: int

    def batches(self, on_bad_line: OnBadLine | None) -> Iterator[Batch]:
        return self.reading.skipping_bad_lines(on_bad_line).batches(self.span)


def plan(readings: Sequence[FactFile], cores: int, largest: int | None = None) -> list[list[InputSplit]]:
    """The splits of each task, in the order of the files. There is at least one task."""
    even = sum(r.size for r in readings) // (cores * tuning.SPLITS_PER_CORE)
    size = largest or max(tuning.SPLIT_FEWEST_BYTES, min(tuning.SPLIT_MOST_BYTES, even))
    tasks: list[list[InputSplit]] = [[]]
    room = size
    for reading in readings:
        for span, bytes_ in reading.spans(size):
            if bytes_ > room and tasks[-1]:
                tasks.append([])
                room = size
            tasks[-1].append(InputSplit(reading, span, bytes_))
            room -= bytes_
    return tasks


Interval = tuple[float, float]


class Clock:
    """Measures the working time of a task."""

    def __init__(self) -> None:
        self.start = time.time()

    def interval(self) -> Interval:
        """The time of creation, and the present time."""
        return self.start, time.time()


def elapsed(intervals: Iterable[Interval]) -> float:
    """The seconds from the first start to the last end."""
    known = list(intervals)
    return max(0.0, max(end for _, end in known) - min(start for start, _ in known))


TERMS, REPORT, FAILED = "terms", "report", "failed"


@dataclass(frozen=True, slots=True)
class ParseTask:
    """The arguments of all tasks of this stage."""

    directory: str
    id_tasks: int  # tasks of the next stage
    bad_lines: str

    def buckets(self, id_task: int) -> tuple[int, int]:
        """The range (low, high) of the buckets of a task of the next stage."""
        return id_task * BUCKETS // self.id_tasks, (id_task + 1) * BUCKETS // self.id_tasks


class CodesFile(NamedTuple):
    """A chunk that waits for its ids: its file of codes, and its relations as (predicate, arguments, rows)."""

    key: str
    path: str
    relations: list[tuple[str, int, int]]


class ParseReport(NamedTuple):
    """The report of a task. Its origin is (number of the input, number of the task), which gives the order."""

    origin: tuple[int, int]
    chunks: list[CodesFile]
    bad: int  # the number of bad lines
    quarantine: str  # the file with the bad lines; '' if none
    interval: Interval


def parse_splits(
    parsing: ParseTask, tasks: list[list[InputSplit]], partition: int, _: Iterable[Message]
) -> Iterator[Message]:
    def batches(on_bad_line: OnBadLine | None) -> Iterator[Batch]:
        return (batch for split in tasks[partition] for batch in split.batches(on_bad_line))

    return parse_batches(parsing, (0, partition), batches)


class FrameRelation(NamedTuple):
    """A DataFrame: its relation, the columns that hold texts of terms, and its number among the inputs."""

    predicate: str
    marked: list[int]
    number: int


def parse_rows(
    parsing: ParseTask, frame: FrameRelation, partition: int, rows: Iterable[pa.RecordBatch]
) -> Iterator[Message]:
    """The task of this stage that parses the rows of a DataFrame."""

    def batches(_: OnBadLine | None) -> Iterator[Batch]:
        return (from_arrow(frame.predicate, part, frame.marked) for part in rows)

    return parse_batches(parsing, (frame.number, partition), batches)


def parse_batches(
    parsing: ParseTask, origin: tuple[int, int], batches: Callable[[OnBadLine | None], Iterator[Batch]]
) -> Iterator[Message]:
    """Parse batches and yield the messages for the next stage.

    `batches` is called with the function that collects bad lines, or None to fail at the first.
    """
    clock, done = Clock(), []
    try:
        with _bad_line_collector(parsing) as (collector, path):
            for number, chunk in enumerate(chunks(batches(None if parsing.bad_lines == FAIL else collector))):
                key = ".".join(map(str, (*origin, number)))
                done.append(CodesFile(key, chunk.write(parsing.directory), chunk.rows()))
                yield from _terms(parsing, key, chunk)
    except InputError as error:
        for id_task in range(parsing.id_tasks):
            yield Message(id_task, FAILED, pickle.dumps((origin, error)))
        return
    report = ParseReport(origin, done, collector.count, path, clock.interval())
    yield Message(origin[1] % parsing.id_tasks, REPORT, pickle.dumps(report))


@contextmanager
def _bad_line_collector(parsing: ParseTask) -> Iterator[tuple[BadLineCollector, str]]:
    """A collector of bad lines, and the path of its quarantine file ('' if none)."""
    if parsing.bad_lines != QUARANTINE:
        yield BadLineCollector(), ""
        return
    path = Path(parsing.directory) / f"{uuid4().hex}.bad"
    with path.open("xb") as stream:
        yield BadLineCollector(stream), str(path)


def _terms(parsing: ParseTask, key: str, chunk: FactChunk) -> Iterator[Message]:
    for id_task in range(parsing.id_tasks):
        for low, texts in chunk.messages(*parsing.buckets(id_task)):
            yield Message(id_task, TERMS, pack([key, low], texts))
