"""Files as streams of bytes: plain or gzip, cut at line ends, with the errors of the operating system made ours."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import IO, cast

from tidelog.errors import InputError, Location

CHUNK = 16 << 20
LONGEST_LINE = 64 << 20
_SCOPE_SAMPLE = 1 << 16


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed if its name ends in `.gz` or it begins like gzip."""
    with _os_errors(path), open(path, "rb") as raw:
        if path.suffix.lower() == ".gz" or raw.peek(2)[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            yield raw


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


def whole_lines(stream: IO[bytes], file: str, size: int = CHUNK) -> Iterator[bytes]:
    """The stream in pieces of about `size` bytes, each ending at a line end (the last one perhaps not)."""
    rest = b""
    lines = 0
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            if len(rest) > LONGEST_LINE:
                where = Location(file, lines + 1)
                raise InputError(f"a line is longer than {LONGEST_LINE >> 20} MB; is this a text file?", where)
            continue
        piece = rest + block[:cut]
        lines += piece.count(b"\n")
        yield piece
        rest = block[cut:]
    if rest:
        yield rest


def blank_scope(path: Path) -> str:
    """What sets the blank nodes of one file apart from those of others: ten digits from its name and its first 64 KB.

    The same file gives the same blank nodes on any machine and on every load.
    """
    name = path.name.removesuffix(".gz")
    with opened(path) as stream:
        sample = stream.read(_SCOPE_SAMPLE)
    return blake2b(name.encode() + b"\0" + sample, digest_size=5).hexdigest()
