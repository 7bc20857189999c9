"""SQLite connections to one database. A connection is used by one thread at a time, and never by a forked process.

A thread borrows a connection for a block, such as a transaction; blocks inside it use the same connection. So readers
never wait for a writer of the same process, and no thread sees the transaction of another one.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, local
from weakref import WeakSet

from tidelog.errors import UsageError

_KEPT = 4  # idle connections


class _Borrowed(local):
    """The connection that this thread is using, and whether an error of SQLite was seen on it."""

    connection: sqlite3.Connection | None = None
    has_failed = False


class Connections:
    """Connections that `connect` makes. They are kept for the next block until `close`."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._idle: list[sqlite3.Connection] = []
        self._open: set[sqlite3.Connection] = set()
        self._borrowed = _Borrowed()
        self._lock = Lock()
        self._process = os.getpid()
        _ALL.add(self)

    @contextmanager
    def borrowed(self) -> Iterator[sqlite3.Connection]:
        """A connection for this block."""
        if self._process != os.getpid():
            raise UsageError(
                f"this knowledge base was opened by process {self._process}, which was forked later; "
                "open it again in this process"
            )
        mine = self._borrowed
        if mine.connection is not None:
            yield mine.connection
            return
        mine.connection, mine.has_failed = self._take(), False
        try:
            yield mine.connection
        finally:
            connection, mine.connection = mine.connection, None
            self._give_back(connection, is_usable=not mine.has_failed)

    def failed(self) -> None:
        """Called inside a block after an error of SQLite: the connection is not used again."""
        self._borrowed.has_failed = True

    def _take(self) -> sqlite3.Connection:
        with suppress(IndexError):
            return self._idle.pop()
        connection = self._connect()
        with self._lock:
            self._open.add(connection)
        return connection

    def _give_back(self, connection: sqlite3.Connection, *, is_usable: bool) -> None:
        with self._lock:
            if is_usable and connection in self._open and len(self._idle) < _KEPT:
                self._idle.append(connection)
                return
            self._open.discard(connection)
        connection.close()

    def close(self) -> None:
        """Close all connections; one that another thread is using is closed when that thread has finished its block."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._open.clear()
        for connection in idle:
            connection.close()

    def leave_to_parent(self) -> None:
        """Forget the connections in a forked process. SQLite forbids even to close them there, so they are leaked."""
        for connection in self._open:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        self._open, self._idle, self._lock = set(), [], Lock()


_ALL: WeakSet[Connections] = WeakSet()


def _after_fork() -> None:
    for connections in _ALL:
        connections.leave_to_parent()


os.register_at_fork(after_in_child=_after_fork)
