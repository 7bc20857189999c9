"""One writer, and readers that hold on to a generation of files. Both are locks of the operating system: they end with
the process that holds them, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from tidelog.errors import LockedError, StoreError


class WriterLock:
    """Held by the one process that may commit."""

    def __init__(self, root: Path) -> None:
        self._path = root / "lock"
        self._descriptor: int | None = None

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
        with suppress(OSError):  # only for the message another process may have to print
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Pin:
    """A reader's hold on one generation of files: none of them is removed while it lasts."""

    def __init__(self, root: Path, generation: int) -> None:
        self._descriptor: int | None = None
        folder = root / "pins"
        try:
            self._hold(folder / str(generation))
        except OSError:  # a directory that may only be read: nobody removes files there through us
            return

    def _hold(self, path: Path) -> None:
        for _ in range(100):
            path.parent.mkdir(exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _is_at(descriptor, path):
                self._descriptor = descriptor
                return
            os.close(descriptor)  # it was swept away in between

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def oldest_pinned(root: Path, generation: int) -> int:
    """The oldest generation before this one that a reader holds, or this one; pins that nobody holds are swept away."""
    folder = root / "pins"
    names = sorted(int(n) for n in os.listdir(folder) if n.isdecimal()) if folder.is_dir() else []
    for older in (n for n in names if n < generation):
        if not _sweep(folder / str(older)):
            return older
    return generation


def _sweep(path: Path) -> bool:
    """Whether nobody held the pin; it is gone then."""
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
