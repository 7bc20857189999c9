"""Files that only Spark can read (`hdfs:`, `s3a:`, `abfss:`): Spark sends their lines, or whole files, to the tasks.

Tasks read N-Triples and N-Quads as lines, block by block. A task knows where its block begins, but not the number of
lines before it. So if there is a bad line, the job counts the lines and runs again with these numbers.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog import formats
from tidelog.dictionary.batch import Batch
from tidelog.engines.spark.cluster.cluster import FrameInput, Message
from tidelog.engines.spark.cluster.session import first_reason
from tidelog.engines.spark.ingest.parse import ParseTask, parse_batches
from tidelog.errors import InputError
from tidelog.formats import OnBadLine, RemoteSource
from tidelog.formats.ntriples import Dialect, parse_chunk
from tidelog.formats.source import SCOPE_SAMPLE, scope_of
from tidelog.model.addresses import scheme_of
from tidelog.model.terms import TRIPLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Block = tuple[str, int]  # a file, and the position at which the block begins


class UncountedError(InputError):
    """There is a bad line, and its number is not known."""


@dataclass(frozen=True)
class _Lines:
    """A source that tasks read line by line."""

    number: int  # among the inputs
    relation: str
    quads: bool
    scopes: dict[str, str]  # of blank nodes, by file
    before: dict[Block, int] | None  # the number of lines before each block, if they are counted

    def dialect(self, file: str) -> Dialect:
        return Dialect(self.relation, self.quads, scope=self.scopes[_plain(file)])


def remote_input(
    spark: SparkSession, parsing: ParseTask, source: RemoteSource, number: int, counted: bool
) -> FrameInput:
    """A source in the first stage of ingest. `counted`: count the lines, because there are bad lines."""
    try:
        return _input(spark, parsing, source, number, counted)
    except Exception as error:  # its class depends on the kind of session and on the file system
        raise _unreadable(source.url, error) from None


def _unreadable(url: str, error: Exception) -> InputError:
    """The error for an address that Spark cannot read. `error` is its exception."""
    if "No FileSystem for scheme" in str(error) or "ClassNotFoundException" in str(error):
        return InputError(
            f"{url}: this Spark cannot read {scheme_of(url)}://; add the package of this file system to its session, "
            "for s3a:// --conf spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION; see docs/deploy.md"
        )
    return InputError(f"{url}: Spark cannot read it: {first_reason(error)}")


def _input(spark: SparkSession, parsing: ParseTask, source: RemoteSource, number: int, counted: bool) -> FrameInput:
    name = formats.format_name(Path(source.url), None)
    if name not in ("ntriples", "nquads"):
        frame = spark.read.format("binaryFile").load(source.url).select("path", "content")
        return FrameInput(frame, partial(_parse_files, parsing, number, source.relation))
    frame = _lines(spark, source.url)
    scopes = {_plain(file): _scope(spark, file) for file in frame.inputFiles()}
    before = _lines_before(frame) if counted else None
    lines = _Lines(number, source.relation or TRIPLE, name == "nquads", scopes, before)
    return FrameInput(frame, partial(_parse_lines, parsing, lines))


def _lines(spark: SparkSession, url: str) -> DataFrame:
    text = spark.read.option("lineSep", "\n").text(url)
    return text.selectExpr("value", "_metadata.file_path as file", "_metadata.file_block_start as block")


def _plain(file: str) -> str:
    """The name of a file; Spark writes those of local files in two ways, and this returns one of them."""
    return re.sub("^file:/+", "file:/", file)


def _scope(spark: SparkSession, file: str) -> str:
    """The scope of the blank nodes of a file, equal to that of the local loader.

    One exception: Spark does not say whether the last line of a compressed file of less than 64 KB ends.
    """
    start = spark.read.option("lineSep", "\n").text(file).where("_metadata.file_block_start = 0")
    rows = start.selectExpr("value", "_metadata.file_size as size").limit(SCOPE_SAMPLE).toArrow()
    sample = _joined(rows["value"].combine_chunks()) if len(rows) else b""
    ends = len(rows) and (file.endswith(".gz") or len(sample) < rows["size"][0].as_py())
    return scope_of(unquote(file).rpartition("/")[2], (sample + b"\n" * bool(ends))[:SCOPE_SAMPLE])


def _joined(lines: pa.Array) -> bytes:
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines.cast(pa.binary()))
    joined: bytes = pc.binary_join(whole, b"\n")[0].as_py()
    return joined


def _lines_before(frame: DataFrame) -> dict[Block, int]:
    counts = sorted(
        (row["file"], row["block"], row["count"]) for row in frame.groupBy("file", "block").count().collect()
    )
    before: dict[Block, int] = {}
    lines, last = 0, ""
    for file, block, count in counts:
        lines = lines if file == last else 0
        before[file, block] = lines
        lines, last = lines + count, file
    return before


def _parse_lines(
    parsing: ParseTask, lines: _Lines, partition: int, rows: Iterable[pa.RecordBatch]
) -> Iterator[Message]:
    def batches(on_bad_line: OnBadLine | None) -> Iterator[Batch]:
        done: dict[Block, int] = {}
        for (file, start), texts in _blocks(rows):
            parsed = parse_chunk(_joined(texts), lines.dialect(file), goes_on=on_bad_line is not None)
            for at, error in parsed.errors:
                if lines.before is None:
                    raise UncountedError("a bad line")
                line = lines.before[file, start] + done.get((file, start), 0) + at + 1
                located = error.located(file, line)
                if on_bad_line is None:
                    raise located
                on_bad_line(located)
            yield from parsed.batches
            done[file, start] = done.get((file, start), 0) + len(texts)

    return parse_batches(parsing, (lines.number, partition), batches)


def _blocks(rows: Iterable[pa.RecordBatch]) -> Iterator[tuple[Block, pa.Array]]:
    """Yield (block, lines)."""
    for part in rows:
        texts, files, starts = part.columns
        codes, blocks = files.dictionary_encode().indices.to_numpy(), starts.to_numpy()
        changes = np.flatnonzero((np.diff(codes) != 0) | (np.diff(blocks) != 0)) + 1
        for first, end in zip([0, *changes.tolist()], [*changes.tolist(), len(part)], strict=True):
            if first < end:
                yield (files[first].as_py(), starts[first].as_py()), texts.slice(first, end - first)


def _parse_files(
    parsing: ParseTask, number: int, relation: str | None, partition: int, rows: Iterable[pa.RecordBatch]
) -> Iterator[Message]:
    def batches(on_bad_line: OnBadLine | None) -> Iterator[Batch]:
        for part in rows:
            for path, content in zip(*part.columns, strict=True):
                yield from _file(path.as_py(), content.as_buffer(), relation, on_bad_line)

    return parse_batches(parsing, (number, partition), batches)


def _file(url: str, content: pa.Buffer, relation: str | None, on_bad_line: OnBadLine | None) -> Iterator[Batch]:
    """Copy a file to a temporary one with the same name, and yield its batches."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / unquote(url).rpartition("/")[2]
        path.write_bytes(content)

        def named(error: InputError) -> InputError:
            where = error.location and replace(error.location, file=url)
            return InputError(error.message.replace(str(path), url), where)

        reading = formats.read(path, predicate=relation)
        try:
            yield from reading.skipping_bad_lines(on_bad_line and (lambda error: on_bad_line(named(error))))
        except InputError as error:
            raise named(error) from None
