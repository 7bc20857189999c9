"""Builds tests/store/shim.c and speaks to it from inside a process that was started with it preloaded."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from enum import IntEnum, IntFlag
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")


class Kind(IntFlag):
    """What a call does to the watched folder; the numbers are those of shim.c."""

    READ = 1
    CREATE = 2
    WRITE = 4
    SYNC = 8
    TRUNCATE = 16
    RENAME = 32
    UNLINK = 64
    LINK = 128
    MKDIR = 256
    RMDIR = 512
    MARK = 1024
    SYNC_FOLDER = 2048  # in the log both are SYNC


CHANGES = ~Kind.READ
GROWING = Kind.CREATE | Kind.WRITE | Kind.SYNC | Kind.SYNC_FOLDER | Kind.TRUNCATE | Kind.RENAME | Kind.LINK | Kind.MKDIR


class Action(IntEnum):
    """What happens at the nth call of a kind; the numbers are those of shim.c."""

    NOTHING = 0
    KILL = 1  # the process dies before the call
    TEAR = 2  # half of the write is done, then the process dies
    FAIL = 3  # this call fails
    FAIL_FROM = 4  # this call and all after it fail


def missing() -> str:
    """Why the shim cannot be used here, or nothing."""
    if not sys.platform.startswith("linux"):
        return "faults are injected through LD_PRELOAD and /proc, which this system does not have"
    return "" if compiler() else "no C compiler (cc, gcc or clang) to build the fault injector with"


def compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def build(folder: Path) -> Path:
    """The shim as a library that can be preloaded."""
    library = folder / "shim.so"
    command = [str(compiler()), "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-lpthread"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return library


class Shim:
    """The preloaded shim of this process, watching one folder."""

    def __init__(self, folder: Path) -> None:
        self._library = ctypes.CDLL(None)
        self._library.faults_seen.restype = self._library.faults_hits.restype = ctypes.c_long
        self._library.faults_watch(os.fsencode(folder.resolve()))

    def arm(self, action: Action, kinds: Kind, nth: int, error: int = 0) -> None:
        self._library.faults_arm(int(action), int(kinds), ctypes.c_long(nth), error)

    def disarm(self) -> None:
        self._library.faults_arm(int(Action.NOTHING), 0, ctypes.c_long(0), 0)

    @property
    def hits(self) -> int:
        """How many calls a fault has met since it was armed."""
        return int(self._library.faults_hits())

    @property
    def seen(self) -> int:
        """How many calls of the kinds it was armed for were made since."""
        return int(self._library.faults_seen())

    def record(self, log: Path) -> None:
        """Append every change from now on, with its data, to a file outside the watched folder."""
        self._library.faults_record(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600))

    def mark(self, number: int) -> None:
        """A number in the log: what the program was told at this moment, such as a version that is committed."""
        self._library.faults_mark(ctypes.c_long(number))
