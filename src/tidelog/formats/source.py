"""Files as streams of bytes (plain or gzip, whole or a span), and the treatment of bad lines.

A span is a part of a plain file, from one byte up to another. A line belongs to the span in which it starts, so
adjacent spans have every line exactly once.

A reader calls `OnBadLine` for each bad line and continues; without a callback it raises the first error.
`BadLineCollector` counts bad lines, keeps a few as examples, and can write all to a file of JSON lines: the file, the
line number, the reason and the text.
"""

from __future__ import annotations

import codecs
import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from tidelog.dictionary.batch import Batch
from tidelog.errors import InputError, Location, UsageError
from tidelog.model.addresses import scheme_of

CHUNK = 16 << 20
LONGEST_LINE = 64 << 20
SCOPE_SAMPLE = 1 << 16
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Span = tuple[int, int]


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed if the name ends in `.gz` or the content starts like gzip.

    Raises an error at the end if the file has changed meanwhile.
    """
    with _os_errors(path), _opened_file(path) as raw:
        if raw.peek(4).startswith(_ZIP):
            raise InputError(f"{path}: this is a zip archive; unpack it and load the files in it")
        if path.suffix.lower() == ".gz" or raw.peek(2)[:2] == _GZIP:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            yield raw


@contextmanager
def _opened_file(path: Path) -> Iterator[BufferedReader]:
    if path.exists() and not path.is_file() and not path.is_dir():  # opening a pipe might wait for ever
        raise InputError(f"{path}: is a pipe or a device, which can be read only once; copy it to a file, or use -")
    with open(path, "rb") as raw:
        before = os.fstat(raw.fileno())
        yield raw
        after = os.fstat(raw.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise InputError(f"{path}: changed while it was read; load it when it is complete")


@contextmanager
def opened_text(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a UTF-8 file after its byte order mark, if it has one. Other Unicode encodings are refused."""
    with opened(path) as stream:
        start = cast(BufferedReader, stream).peek(4)
        if start.startswith(_UTF_16):
            raise InputError(f"{path}: is UTF-16 text; convert the file to UTF-8")
        if start.startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        yield stream


def line_at(path: Path, number: int) -> str:
    """One line of a file, cut if it is long, for messages."""
    with opened(path) as stream:
        left = number - 1
        while left and (part := stream.readline(1 << 20)):
            left -= part.endswith(b"\n")
        return stream.readline(4096).decode(errors="replace").rstrip("\r\n")


def file_size(path: Path) -> int:
    with _os_errors(path):
        if path.is_dir():
            raise IsADirectoryError
        return path.stat().st_size


def is_zipped(path: Path) -> bool:
    """Whether a file is compressed, so that it must be read from its beginning."""
    with _os_errors(path), open(path, "rb") as raw:
        return path.suffix.lower() == ".gz" or raw.read(2) == _GZIP


@contextmanager
def opened_span(path: Path, span: Span) -> Iterator[IO[bytes]]:
    """A stream of the lines of a plain file that start in a span."""
    with _os_errors(path), open(path, "rb") as raw:
        start, stop = (_line_start(raw, at) for at in span)
        raw.seek(start)
        yield cast(IO[bytes], _StreamSpan(raw, stop - start))


def _line_start(raw: IO[bytes], at: int) -> int:
    """The offset of the first line that starts at or after the byte `at`."""
    if at == 0:
        return 0
    raw.seek(at - 1)
    while piece := raw.readline(CHUNK):
        if piece.endswith(b"\n"):
            break
    return raw.tell()


class _StreamSpan:
    """The next `size` bytes of a stream."""

    def __init__(self, raw: IO[bytes], size: int) -> None:
        self.raw, self.left = raw, size

    def read(self, size: int) -> bytes:
        piece = self.raw.read(min(size, self.left))
        self.left -= len(piece)
        return piece


def lines_before(path: Path, at: int) -> int:
    """The number of lines before the first line that starts at or after the byte `at`."""
    with opened_span(path, (0, at)) as stream:
        return sum(piece.count(b"\n") for piece in iter(lambda: stream.read(CHUNK), b""))


@contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: not a complete gzip file: {error}") from error
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: is a directory; name the files in it") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def whole_lines(
    stream: IO[bytes], file: str, size: int = CHUNK, *, before: Callable[[], int] = lambda: 0
) -> Iterator[bytes]:
    """The stream in pieces of about `size` bytes that end at line ends (except perhaps the last).

    `before` returns the number of lines before the stream; it is called only for an error.
    """
    rest = b""
    lines = 0
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            if len(rest) > LONGEST_LINE:
                where = Location(file, before() + lines + 1)
                raise InputError(f"a line is longer than {LONGEST_LINE >> 20} MB; is this a text file?", where)
            continue
        piece = rest + block[:cut]
        lines += piece.count(b"\n")
        yield piece
        rest = block[cut:]
    if rest:
        yield rest


def blank_scope(path: Path) -> str:
    """Ten digits for the labels of the blank nodes of a file: a hash of its name and its first 64 KB.

    The same file has the same blank nodes on every machine and on every load.
    """
    with opened(path) as stream:
        return scope_of(path.name, stream.read(SCOPE_SAMPLE))


def scope_of(name: str, sample: bytes) -> str:
    """The `blank_scope` of a file with this name and first bytes."""
    return blake2b(name.removesuffix(".gz").encode() + b"\0" + sample, digest_size=5).hexdigest()


FAIL, SKIP, QUARANTINE = BAD_LINES = ("fail", "skip", "quarantine")

OnBadLine = Callable[[InputError], None]


@dataclass
class BadLineCollector:
    """Counts bad lines, and writes them to `stream` if it is not None."""

    stream: IO[bytes] | None = None
    count: int = 0

    def __call__(self, error: InputError) -> None:
        self.count += 1
        if self.stream is not None:
            self.stream.write(_record(error))


def _record(error: InputError) -> bytes:
    where = error.location
    assert where is not None, "a bad line has a location"
    record = {"file": where.file, "line": where.line, "reason": error.message, "text": where.text}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """Files that only Spark can read, by a URL or a pattern of URLs: `hdfs://host/data/*.nt`."""

    url: str
    relation: str | None = None

    def __iter__(self) -> Iterator[Batch]:
        raise UsageError(
            f"{self.url}: only Spark reads {scheme_of(self.url)}://; "
            'use engine="spark" on a cluster that has access, or copy the file here and give its path'
        )
