"""Stages of tasks that send parcels of bytes to each other: on Spark, or one after the other in this process.

    place 0  stage 0 ──┐  ┌── stage 1 ──┐  ┌── …  ──> what the last stage sends goes to the driver
    place 1  stage 0 ──┴──┴── stage 1 ──┴──┴──

A stage is a function of its place and of the parcels that were sent there. It must depend on nothing else: a task may
be run again after it was lost, or twice at the same time, and has to send the same bytes. Everything here is the
DataFrame API, so that Spark Connect will do; nothing of the session's settings is changed.

Scratch files that go when the set they belong to goes.
"""

from __future__ import annotations

import gc
import os
import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa

from tidelog import tuning
from tidelog.errors import TidelogError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "target int, tag string, payload binary"
_ARROW = pa.schema([("target", pa.int32()), ("tag", pa.string()), ("payload", pa.binary())])
_FAILED = "(failed)"
_PRESENT = "(present)"


class Message(NamedTuple):
    """Bytes for a place of the next stage; after the last stage the target says what the sender wants it to say."""

    target: int
    tag: str
    payload: bytes | memoryview


TaskFunction = Callable[[int, Iterator[Message]], Iterable[Message]]


@dataclass(frozen=True, slots=True)
class Stage:
    """What is run, and at how many places. `run` is pickled: a function of a module, or a `partial` of one."""

    run: TaskFunction
    partitions: int


@dataclass(frozen=True, slots=True)
class FrameInput:
    """A DataFrame that takes part in the first stage: `run` is given its rows, one partition after the other.

    Places are counted on from those of the first stage; they tell partitions apart, and nothing else.
    """

    frame: DataFrame
    run: Callable[[int, Iterator[pa.RecordBatch]], Iterable[Message]]


class Cluster(Protocol):
    @property
    def cores(self) -> int:
        """How many tasks can run at a time."""
        ...

    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        """What the last stage sends. The first stage receives nothing. Raises what a task raises, if it is ours."""
        ...


class InProcess:
    """Every task in this process, one after the other: for tests, and to see what Spark itself costs."""

    def __init__(self, cores: int = 1) -> None:
        self.cores = cores

    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        messages: list[Message] = []
        for stage in stages:
            run: TaskFunction = pickle.loads(pickle.dumps(stage.run))
            arrived: list[list[Message]] = [[] for _ in range(stage.partitions)]
            for message in messages:
                arrived[message.target].append(message)
            messages = [
                Message(p.target, p.tag, bytes(p.payload))
                for partition in range(stage.partitions)
                for p in run(partition, iter(arrived[partition]))
            ]
            if stage is stages[0]:
                messages += _run_inputs(inputs, stage.partitions)
        return messages


class SparkCluster:
    """Tasks on a Spark session, which is used as it is."""

    def __init__(self, spark: SparkSession, cores: int | None = None) -> None:
        self.spark = spark
        self.cores = cores or _cores(spark)

    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        from pyspark.sql import functions

        first, *others = stages
        sent: DataFrame = self.spark.range(0, first.partitions, 1, first.partitions)
        for before, stage in zip(stages, [*others, None], strict=True):
            targets = stage.partitions if stage else 0
            sent = sent.mapInArrow(_StageTask(before.run, targets, before is first), _SCHEMA)
            for input_ in inputs if before is first else ():
                sent = sent.union(input_.frame.mapInArrow(_InputTask(input_.run), _SCHEMA))
            if stage is not None:
                sent = sent.repartitionById(stage.partitions, functions.col("target"))
        messages = list(_messages(sent.toArrow().to_batches()))
        for message in messages:
            if message.tag == _FAILED:
                raise pickle.loads(message.payload)
        return messages


class _StageTask:
    """A stage as `mapInArrow` wants it."""

    def __init__(self, run: TaskFunction, targets: int, is_first: bool) -> None:
        self.run, self.targets, self.is_first = run, targets, is_first

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        partition = context.partitionId()
        arrived = iter(()) if self.is_first else _messages(batches)
        for message in self._sent(partition, arrived):
            yield _batch(message)
        for _ in batches:  # Spark waits until everything was read
            pass
        _GARBAGE.release_memory()

    def _sent(self, partition: int, arrived: Iterator[Message]) -> Iterator[Message]:
        """What the stage sends. An error of ours travels to the driver, where Spark would only run the task again."""
        if partition == 0:  # a stage that nothing was sent to would not be run at all
            yield from (Message(target, _PRESENT, b"") for target in range(self.targets))
        try:
            yield from self.run(partition, _checked(arrived))
        except TidelogError as error:
            yield Message(0, _FAILED, pickle.dumps(error))


class _InputTask:
    """The part of a first stage that reads a DataFrame, as `mapInArrow` wants it."""

    def __init__(self, run: Callable[[int, Iterator[pa.RecordBatch]], Iterable[Message]]) -> None:
        self.run = run

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        try:
            for message in self.run(context.partitionId(), batches):
                yield _batch(message)
        except TidelogError as error:
            yield _batch(Message(0, _FAILED, pickle.dumps(error)))
        for _ in batches:
            pass
        _GARBAGE.release_memory()


class _GarbageCollector:
    """What PySpark's worker looks for after every task, through all modules and all that tasks keep for the next ones.

    That takes far longer than a small task. So what is there is put out of its sight, and looked through now and then.
    """

    def __init__(self) -> None:
        self.due = 0.0

    def release_memory(self) -> None:
        """At the end of a task."""
        start = monotonic()
        if start >= self.due:
            gc.unfreeze()
            gc.collect()
            end = monotonic()
            self.due = end + tuning.CLEANUP_INTERVAL * (end - start)
        gc.freeze()


_GARBAGE = _GarbageCollector()


def _run_inputs(inputs: Sequence[FrameInput], partitions: int) -> Iterator[Message]:
    """What feeds send when everything is in this process: every batch of rows is a place."""
    parts = [(input_, batch) for input_ in inputs for batch in input_.frame.toArrow().to_batches()]
    for partition, (input_, batch) in enumerate(parts, partitions):
        yield from (Message(p.target, p.tag, bytes(p.payload)) for p in input_.run(partition, iter((batch,))))


def _checked(arrived: Iterator[Message]) -> Iterator[Message]:
    """The parcels for a stage; an error of an earlier one ends it."""
    for message in arrived:
        if message.tag == _FAILED:
            raise pickle.loads(message.payload)
        if message.tag != _PRESENT:
            yield message


def _batch(message: Message) -> pa.RecordBatch:
    payload = pa.py_buffer(message.payload)
    offsets = pa.py_buffer(len(payload).to_bytes(8, "little")[:4].rjust(8, b"\0"))
    binary = pa.Array.from_buffers(pa.binary(), 1, [None, offsets, payload])
    return pa.record_batch([pa.array([message.target], pa.int32()), pa.array([message.tag]), binary], schema=_ARROW)


def _messages(batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
    for batch in batches:
        targets, tags, payloads = batch.columns
        for target, tag, payload in zip(targets.to_pylist(), tags.to_pylist(), payloads, strict=True):
            yield Message(target, tag, memoryview(payload.as_buffer()))


def _cores(spark: SparkSession) -> int:
    """How many tasks the session runs at a time. A Connect client is not told; it asks the server's settings."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # PySparkAttributeError, of which older versions know nothing
        return int(spark.conf.get("spark.default.parallelism", None) or 2)


class ScratchFiles:
    """Files of one node, deleted when nobody can read it any more."""

    def __init__(self, owner: object, paths: Iterable[str] = ()) -> None:
        self._paths = list(paths)
        self.delete = weakref.finalize(owner, delete_files, self._paths)

    def add(self, *paths: str) -> None:
        self._paths.extend(paths)


def delete_files(paths: Sequence[str]) -> None:
    """Files that nobody needs; those that are gone already do not matter."""
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
