"""Jobs: stages of tasks that send messages of bytes to each other, on Spark or one after the other in this process.

    partition 0  stage 0 ──┐  ┌── stage 1 ──┐  ┌── …  ──> the messages of the last stage go to the driver
    partition 1  stage 0 ──┴──┴── stage 1 ──┴──┴──

A task is a function of its partition and of the messages that were sent to it, and of nothing else: Spark may run it
again after a failure, or twice at the same time, and it must send the same bytes. Jobs use only the DataFrame API, so
that they run on Spark Connect too. They change no setting of the session.
"""

from __future__ import annotations

import gc
import os
import pickle
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa

from tidelog import tuning
from tidelog.errors import TidelogError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "target int, tag string, payload binary"
_ARROW = pa.schema([("target", pa.int32()), ("tag", pa.string()), ("payload", pa.binary())])
_FAILED = "(failed)"
_PRESENT = "(present)"


class Message(NamedTuple):
    """Bytes for a partition of the next stage. After the last stage `target` is any number that the sender chooses."""

    target: int
    tag: str
    payload: bytes | memoryview


TaskFunction = Callable[[int, Iterator[Message]], Iterable[Message]]


@dataclass(frozen=True, slots=True)
class Stage:
    """A task function and the number of partitions. `run` is pickled: a function of a module, or a `partial` of one."""

    run: TaskFunction
    partitions: int


@dataclass(frozen=True, slots=True)
class FrameInput:
    """A DataFrame that the first stage reads: `run` is called with the number and the rows of each partition.

    The numbers continue those of the first stage. They only tell partitions apart.
    """

    frame: DataFrame
    run: Callable[[int, Iterator[pa.RecordBatch]], Iterable[Message]]


class Cluster(Protocol):
    @property
    def spark(self) -> SparkSession | None:
        """The session, if there is one."""
        ...

    @property
    def cores(self) -> int:
        """The number of tasks that run at the same time."""
        ...

    def run(self, stages: Sequence[Stage], inputs: Sequence[FrameInput] = ()) -> list[Message]:
        """Run the stages and return the messages of the last one. A `TidelogError` of a task is raised here."""
        ...


class InProcess:
    """Runs the tasks in this process, one after the other: for tests, and to measure the overhead of Spark."""

    spark = None

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
    """Runs the tasks on a Spark session, and leaves its settings as they are."""

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
        try:
            messages = list(_messages(sent.toArrow().to_batches()))
        except Exception as error:  # its class depends on the kind of session
            raise _explained(error) from error
        for message in messages:
            if message.tag == _FAILED:
                raise pickle.loads(message.payload)
        return messages


def _explained(error: Exception) -> Exception:
    """The error to raise for one of Spark: a sentence if the workers miss a package, else the same error."""
    missing = re.search(r"No module named '(tidelog|numpy|pyarrow|pyoxigraph)\b", str(error))
    if missing is None:
        return error
    return UsageError(
        f"the Python of the Spark workers has no package {missing[1]}: install tidelog in the Python that runs there "
        "(PYSPARK_PYTHON), or send an environment with the job (--archives env.tar.gz#env and "
        "spark.pyspark.python=./env/bin/python); see docs/deploy.md"
    )


class _InputTask:
    """A function for `mapInArrow`: the task of a first stage that reads a DataFrame."""

    def __init__(self, run: Callable[[int, Iterator[pa.RecordBatch]], Iterable[Message]]) -> None:
        self.run = run

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        try:
            for message in self.sent(context.partitionId(), batches):
                yield _batch(message)
        except TidelogError as error:  # sent to the driver, because Spark would only run the task again
            yield _batch(Message(0, _FAILED, pickle.dumps(error)))
        for _ in batches:  # Spark waits until all input was read
            pass
        _GARBAGE.release_memory()

    def sent(self, partition: int, batches: Iterator[pa.RecordBatch]) -> Iterable[Message]:
        return self.run(partition, batches)


class _StageTask(_InputTask):
    """A function for `mapInArrow`: the task of a stage."""

    def __init__(self, run: TaskFunction, targets: int, is_first: bool) -> None:
        self.task, self.targets, self.is_first = run, targets, is_first

    def sent(self, partition: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Message]:
        if partition == 0:  # Spark does not run a partition without rows
            yield from (Message(target, _PRESENT, b"") for target in range(self.targets))
        yield from self.task(partition, iter(()) if self.is_first else _checked(_messages(batches)))


class _GarbageCollector:
    """Replaces the garbage collection that PySpark's worker runs after each task.

    That collection visits all modules and caches, which takes much longer than a small task. So `gc.freeze` hides them,
    and a full collection runs now and then.
    """

    def __init__(self) -> None:
        self.due = 0.0

    def release_memory(self) -> None:
        """Called at the end of a task."""
        start = monotonic()
        if start >= self.due:
            gc.unfreeze()
            gc.collect()
            end = monotonic()
            self.due = end + tuning.CLEANUP_INTERVAL * (end - start)
        gc.freeze()


_GARBAGE = _GarbageCollector()


def _run_inputs(inputs: Sequence[FrameInput], partitions: int) -> Iterator[Message]:
    """The messages of the input DataFrames in this process: each batch of rows counts as a partition."""
    parts = [(input_, batch) for input_ in inputs for batch in input_.frame.toArrow().to_batches()]
    for partition, (input_, batch) in enumerate(parts, partitions):
        yield from (Message(p.target, p.tag, bytes(p.payload)) for p in input_.run(partition, iter((batch,))))


def _checked(arrived: Iterator[Message]) -> Iterator[Message]:
    """Yield the messages for a stage, and raise the error of an earlier stage."""
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
    """The number of tasks that the session runs at the same time; with Spark Connect, from the server's settings."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # PySparkAttributeError, which older versions do not have
        return int(spark.conf.get("spark.default.parallelism", None) or 2)


def delete_with(owner: object, paths: list[str]) -> None:
    """Delete files when `owner` is deleted. The caller may add paths to the list later."""
    weakref.finalize(owner, delete_files, paths)


def delete_files(paths: Sequence[str]) -> None:
    """Delete files. Missing files are no error."""
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
