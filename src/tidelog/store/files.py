"""Files that are written once: aside, synced, named, and never changed; read with their size and checksum checked."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tidelog.errors import CorruptionError, StoreError

_UNFINISHED = ".part"
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as the catalog knows it."""

    name: str  # relative to the knowledge base
    size: int
    checksum: int


class Sink:
    """A binary stream that counts and checks what passes through it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.size = 0
        self.checksum = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        view = memoryview(data).cast("B")
        self._stream.write(view)
        self.size += len(view)
        self.checksum = zlib.crc32(view, self.checksum)
        return len(view)

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        """Nothing is kept back here."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


def write(root: Path, name: str, fill: Callable[[Sink], object]) -> Entry:
    """Write a file aside and name it when it is whole, also after power loss; once `sync` was called it stays.

    Two processes may write the same cache at the same time, so each has a name of its own until then.
    """
    target = root / name
    aside = target.with_name(f"{target.name}-{os.getpid()}{_UNFINISHED}")
    with explained(target), aside.open("wb") as stream:
        sink = Sink(stream)
        fill(sink)
        stream.flush()
        os.fsync(stream.fileno())
    with explained(target):
        aside.rename(target)
    return Entry(name, sink.size, sink.checksum)


def sync(folder: Path) -> None:
    """Make the names in a folder durable."""
    with explained(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """A failure of the system as an error that names the file and says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror or error}. Nothing was changed; make room or mend the disk, then try again"
        ) from error


def mapped(root: Path, entry: Entry) -> memoryview:
    """The bytes of a file that must be exactly as it was written."""
    view = map_file(root / entry.name)
    if len(view) != entry.size:
        raise CorruptionError(f"{root / entry.name} is {len(view)} bytes long, not {entry.size}{ADVICE}")
    if checksum(view) != entry.checksum:
        raise CorruptionError(f"{root / entry.name} is damaged: its checksum is wrong{ADVICE}")
    return view


ADVICE = ". Restore the knowledge base from a copy; `tidelog verify` lists all damage"


def map_file(path: Path) -> memoryview:
    try:
        with path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise CorruptionError(f"{path} is missing{ADVICE}") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}. Mend the disk, then try again") from error


def checksum(view: memoryview) -> int:
    value = 0
    for start in range(0, len(view), _BLOCK):
        value = zlib.crc32(view[start : start + _BLOCK], value)
    return value


def remove(path: Path) -> None:
    """Remove a file nobody needs; if that fails, it is tried again by a later writer."""
    try:
        path.unlink()
    except OSError:
        return
