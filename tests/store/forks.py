"""Run a piece of work in a forked process, so that it can be killed, crash or hang without harm to the caller."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

PATIENCE = 60.0  # seconds; generous, since a hang is a failure of the test and not a measurement

PR_SET_PDEATHSIG = 1  # of linux/prctl.h

Say = Callable[[Any], None]


@dataclass(frozen=True)
class Ended:
    """What a forked process said (JSON values, in order) and how it ended."""

    said: list[Any]
    signal: int = 0  # that ended it
    error: str = ""  # the traceback of an exception that left the work

    @property
    def whole(self) -> bool:
        """It came to its end by itself."""
        return not self.signal and not self.error


@dataclass(frozen=True)
class Running:
    """A forked process at work."""

    pid: int
    reader: int

    def wait(self, patience: float = PATIENCE) -> Ended:
        """Hear it out until it ends; one that does not end in time is killed."""
        lines = _read(self.reader, self.pid, time.monotonic() + patience)
        _, status = os.waitpid(self.pid, 0)
        said = [json.loads(line) for line in lines]
        error = said.pop()["traceback"] if said and _is_traceback(said[-1]) else ""
        return Ended(said, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, error)


def start(work: Callable[[Say], object]) -> Running:
    """Call `work(say)` in a forked process; what it says arrives even if it is killed afterwards."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads: none of them is needed in the fork
        pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(work, writer)
    os.close(writer)
    return Running(pid, reader)


def in_fork(work: Callable[[Say], object]) -> Ended:
    return start(work).wait()


class Servant:
    """A forked process that does one piece of work after the other: what a fork for each would pay, it pays once.

    It has nothing in common with processes forked for other work; when it dies of a request, the next has a new one.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._running: Running | None = None
        self._requests = -1

    def ask(self, request: object) -> Ended:
        """What the work says to the request, as if a process of its own had done it."""
        if self._running is None:
            self._start()
        os.write(self._requests, json.dumps(request).encode() + b"\n")
        assert self._running
        line = _line(self._running.reader, PATIENCE)
        if line:
            answer = json.loads(line)
            return Ended([], error=answer["traceback"]) if _is_traceback(answer) else Ended([answer["value"]])
        running, self._running = self._running, None
        os.close(self._requests)
        os.kill(running.pid, signal.SIGKILL)
        return running.wait()

    def _start(self) -> None:
        requests, self._requests = os.pipe()
        self._running = start(lambda say: self._serve(requests, say))
        os.close(requests)

    def _serve(self, requests: int, say: Say) -> None:
        os.close(self._requests)
        with os.fdopen(requests) as lines:
            for line in lines:
                try:
                    say({"value": self._work(json.loads(line))})
                except Exception:
                    say({"traceback": traceback.format_exc()})


def _line(reader: int, patience: float) -> bytes:
    """The next line, or nothing when none comes."""
    text = b""
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([reader], [], [], patience)
        piece = os.read(reader, 1 << 16) if ready else b""
        if not piece:
            return b""
        text += piece
    return text


def _is_traceback(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"traceback"}


def _child(work: Callable[[Say], object], writer: int) -> NoReturn:
    def say(value: object) -> None:
        os.write(writer, json.dumps(value).encode() + b"\n")

    try:
        _die_with_parent()
        work(say)
    except BaseException:
        say({"traceback": traceback.format_exc()})
    finally:
        os._exit(0)


def _die_with_parent() -> None:
    """A test that is interrupted leaves nothing behind."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _read(reader: int, pid: int, deadline: float) -> list[bytes]:
    """All complete lines."""
    text = bytearray()
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + PATIENCE
            text += b'\n{"traceback": "did not end in time and was killed"}\n'
            continue
        piece = os.read(reader, 1 << 16)
        if not piece:
            break
        text += piece
    os.close(reader)
    return [line for line in bytes(text).split(b"\n")[:-1] if line]
