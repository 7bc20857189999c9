"""Immutable files, and the locks of the writer and the readers.

A file is written under a temporary name, synced, renamed, and never changed. Reading checks its size and checksum.
There is one writer; a reader locks a generation of files. Both locks belong to the operating system and end with their
process.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from weakref import WeakSet

from tidelog import tuning
from tidelog.errors import CorruptionError, LockedError, StoreError

_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as the catalog records it."""

    name: str  # relative to the knowledge base
    size: int
    checksum: int


class Sink:
    """A binary stream that counts the bytes written to it and computes their checksum."""

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
        """Do nothing: the sink has no buffer."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


def write(root: Path, name: str, fill: Callable[[Sink], object]) -> StoredFile:
    """Write a file under a temporary name and rename it when it is complete. After `sync` it survives a power failure.

    The temporary name contains the process id, because two processes may write the same cache at the same time.
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
    return StoredFile(name, sink.size, sink.checksum)


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
    """Turn an error of the system into a StoreError that names the file and says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror or error}. Nothing was changed; make room or mend the disk, then try again"
        ) from error


def mapped(root: Path, entry: StoredFile) -> memoryview:
    """The bytes of a file, after its size and checksum were checked."""
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
    for start in range(0, len(view), tuning.FILE_BLOCK_BYTES):
        value = zlib.crc32(view[start : start + tuning.FILE_BLOCK_BYTES], value)
    return value


def remove(path: Path) -> None:
    """Remove a file. If this fails, a later writer tries again."""
    try:
        path.unlink()
    except OSError:
        return


def write_number(path: Path, number: int) -> None:
    """Write a number with a checksum to a small file. The file is not synced, and errors are ignored."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.pwrite(descriptor, _number_bytes(number), 0)
        finally:
            os.close(descriptor)
    except OSError:
        return


def read_number(path: Path) -> int:
    """The number that `write_number` wrote, or 0 if the file is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return 0
    number = int.from_bytes(data[:8], "little")
    return number if data == _number_bytes(number) else 0


def _number_bytes(number: int) -> bytes:
    data = number.to_bytes(8, "little")
    return data + zlib.crc32(data).to_bytes(4, "little")


class WriterLock:
    """The lock of the one process that may commit."""

    def __init__(self, root: Path) -> None:
        self._path = root / "lock"
        self._descriptor: int | None = None
        _LOCKS.add(self)

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def acquire(self) -> None:
        if self.held:
            return
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(
                f"{self._path.parent} cannot be changed: {error.strerror}. Queries work; to change it, get write "
                "permission for the directory, or copy it"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 64, 0).decode(errors="replace").strip() or "another process"
            os.close(descriptor)
            raise LockedError(
                f"{self._path.parent} is being changed by {holder}, and there can be one writer at a time. Close it "
                "there first; reading is possible all the time"
            ) from None
        self._descriptor = descriptor
        with suppress(OSError):  # only used in the error message of another process
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_LOCKS: WeakSet[WriterLock] = WeakSet()


def _leave_locks_to_parent() -> None:
    """In a forked process: close its copies of the locks. Otherwise it holds them when its parent has released them."""
    for lock in _LOCKS:
        lock.release()


os.register_at_fork(after_in_child=_leave_locks_to_parent)


class Pin:
    """A reader's lock on one generation of files. No file of a locked generation is removed."""

    def __init__(self, root: Path, generation: int) -> None:
        self._descriptor: int | None = None
        folder = root / "pins"
        try:
            self._hold(folder / str(generation))
        except OSError:  # a read-only directory: this process cannot remove its files
            return

    def _hold(self, path: Path) -> None:
        for _ in range(100):
            path.parent.mkdir(exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _is_at(descriptor, path):
                self._descriptor = descriptor
                return
            os.close(descriptor)  # it was removed in between

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def oldest_pinned(root: Path, generation: int) -> int:
    """The oldest generation that a reader has locked, at most `generation`. Removes the pins of ended readers."""
    folder = root / "pins"
    names = sorted(int(n) for n in os.listdir(folder) if n.isdecimal()) if folder.is_dir() else []
    for older in (n for n in names if n < generation):
        if not _sweep(folder / str(older)):
            return older
    return generation


def _sweep(path: Path) -> bool:
    """Remove the pin and return True, unless a reader holds it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
