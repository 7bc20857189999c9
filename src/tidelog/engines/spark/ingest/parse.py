"""The first stage: a task reads its splits, and sends the terms of each section to the tasks that number them.

A bad line is an error, or left out and counted, or left out and written down (`bad_lines`). An error goes to the driver
as a parcel and is raised there: of several it is the first in the order of the files, as if they were read one by one.

What each task reads: files cut into spans, small files and spans put together.

How the work is cut never shows in the result: ids come from the terms alone (`encode`), and a fact's home from its ids.

How long a stage took, told by its tasks: from the first start to the last end.
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
    """The splits of each task, at least of one, in the order of the files."""
    size = largest or _split_size(sum(r.size for r in readings), cores)
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


def _split_size(total: int, cores: int) -> int:
    return max(tuning.SPLIT_FEWEST_BYTES, min(tuning.SPLIT_MOST_BYTES, total // (cores * tuning.SPLITS_PER_CORE)))


Interval = tuple[float, float]


class Clock:
    def __init__(self) -> None:
        self.start = time.time()

    def interval(self) -> Interval:
        """From the beginning to now."""
        return self.start, time.time()


def elapsed(intervals: Iterable[Interval]) -> float:
    all_ = list(intervals)
    return max(0.0, max(end for _, end in all_) - min(start for start, _ in all_))


TERMS, REPORT, FAILED = "terms", "report", "failed"


@dataclass(frozen=True, slots=True)
class ParseTask:
    """What all tasks of the stage are told."""

    directory: str
    id_tasks: int  # tasks of the next stage
    bad_lines: str

    def buckets(self, id_task: int) -> tuple[int, int]:
        """The buckets of a task of the next stage, from one up to another."""
        return id_task * BUCKETS // self.id_tasks, (id_task + 1) * BUCKETS // self.id_tasks


class CodesFile(NamedTuple):
    """A section that waits for its ids: its file of codes, and its relations: (predicate, arguments, rows)."""

    key: str
    path: str
    relations: list[tuple[str, int, int]]


class BadLines(NamedTuple):
    """The bad lines of a task: how many, a few of them as errors, and the file that has all, if that is wanted."""

    lines: int
    examples: list[str]
    path: str


class ParseReport(NamedTuple):
    """What a task tells the driver. Its origin is the input it has read and its place among those who read it."""

    origin: tuple[int, int]
    chunks: list[CodesFile]
    bad: BadLines
    interval: Interval


def parse_splits(
    parsing: ParseTask, tasks: list[list[InputSplit]], partition: int, _: Iterable[Message]
) -> Iterator[Message]:
    def batches(on_bad_line: OnBadLine | None) -> Iterator[Batch]:
        return (batch for split in tasks[partition] for batch in split.batches(on_bad_line))

    return parse_batches(parsing, (0, partition), batches)


class FrameRelation(NamedTuple):
    """A DataFrame: the relation it is, which of its columns hold texts of terms, and its number among the inputs."""

    predicate: str
    marked: list[int]
    number: int


def parse_rows(
    parsing: ParseTask, frame: FrameRelation, partition: int, rows: Iterable[pa.RecordBatch]
) -> Iterator[Message]:
    """The stage for a DataFrame."""

    def batches(_: OnBadLine | None) -> Iterator[Batch]:
        return (from_arrow(frame.predicate, part, frame.marked) for part in rows)

    return parse_batches(parsing, (frame.number, partition), batches)


def parse_batches(
    parsing: ParseTask, origin: tuple[int, int], batches: Callable[[OnBadLine | None], Iterator[Batch]]
) -> Iterator[Message]:
    """What a task sends that reads these batches; they are told whom to tell of bad lines."""
    clock, done = Clock(), []
    try:
        with _refused(parsing) as (refused, path):
            for number, chunk in enumerate(chunks(batches(None if parsing.bad_lines == FAIL else refused))):
                key = ".".join(map(str, (*origin, number)))
                done.append(CodesFile(key, chunk.write(parsing.directory), chunk.rows()))
                yield from _terms(parsing, key, chunk)
    except InputError as error:
        for id_task in range(parsing.id_tasks):
            yield Message(id_task, FAILED, pickle.dumps((origin, error)))
        return
    report = ParseReport(origin, done, BadLines(refused.count, refused.examples, path), clock.interval())
    yield Message(origin[1] % parsing.id_tasks, REPORT, pickle.dumps(report))


@contextmanager
def _refused(parsing: ParseTask) -> Iterator[tuple[BadLineCollector, str]]:
    """What bad lines are told to, and the file where it writes them down, if it does."""
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
