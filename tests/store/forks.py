"""Run a piece of work in a forked process, so that it can be killed, crash or hang without harm to the caller."""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

PATIENCE = 60.0  # seconds; generous, since a hang is a failure of the test and not a measurement

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
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(work, writer)
    os.close(writer)
    return Running(pid, reader)


def in_fork(work: Callable[[Say], object]) -> Ended:
    return start(work).wait()


def _is_traceback(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"traceback"}


def _child(work: Callable[[Say], object], writer: int) -> NoReturn:
    def say(value: object) -> None:
        os.write(writer, json.dumps(value).encode() + b"\n")

    try:
        work(say)
    except BaseException:
        say({"traceback": traceback.format_exc()})
    finally:
        os._exit(0)


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
