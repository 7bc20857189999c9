"""What the command line says when a command fails, as text on stderr or, with `--json`, as JSON on stdout.

    {"error": {"type": "ParseError", "message": "expected `)`", "file": "a.rls", "line": 1, "column": 4, "hint": null}}

Exit codes: 1 a problem in the data, 2 wrong use, 70 an error inside tidelog, 130 interrupted.
"""

from __future__ import annotations

import os
import select
import sys
import traceback
from contextlib import suppress

from tidelog.cli.output import print_json, styled
from tidelog.errors import LocatedError, TidelogError

INTERNAL = 70
INTERRUPTED = 130
_NO_MEMORY = "out of memory; set TIDELOG_MEMORY to less than the machine has, or use a larger machine"
_REPORT = "This is a mistake in tidelog. Please report it with the command, the version of tidelog and what this adds"


class ArgumentsError(TidelogError):
    """The arguments of a command are wrong. `usage` says which there are."""

    exit_code = 2

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


def report(error: BaseException, *, as_json: bool, with_traceback: bool) -> int:
    """Print what is wrong and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    message, code = _described(error)
    if with_traceback:
        traceback.print_exception(error)
    if as_json:
        with suppress(OSError):  # a full disk; the text below says so
            print_json({"error": _fields(error, message)})
            return code
    usage = error.usage if isinstance(error, ArgumentsError) else ""
    print(f"{usage}{styled('error:', 'red', sys.stderr)} {message}", file=sys.stderr)
    return code


def _described(error: BaseException) -> tuple[str, int]:
    """The message and the exit code."""
    if isinstance(error, TidelogError):
        return str(error), error.exit_code
    if isinstance(error, MemoryError):
        return _NO_MEMORY, 1
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror, 1
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{what}. {_REPORT}: --traceback", INTERNAL


def _fields(error: BaseException, message: str) -> dict[str, object]:
    """The fields of an error for JSON; null for one that is not known. `hint` is the part of the message after `; `."""
    place = error.location if isinstance(error, LocatedError) else None
    text = error.message if isinstance(error, LocatedError) else message
    file = error.filename if isinstance(error, OSError) else place and place.file
    return {
        "type": "UsageError" if isinstance(error, ArgumentsError) else type(error).__name__,
        "message": text,
        "file": None if file is None else str(file),
        "line": place and place.line,
        "column": (place and place.column) or None,
        "hint": text.partition("; ")[2] or None,
    }


def stdout_is_closed() -> bool:
    """Whether stdout takes no more text (`| head`, a full disk). Then redirect it, so that Python does not flush it."""
    try:
        number = sys.stdout.fileno()
    except OSError:  # not a file, for example in a notebook
        return False
    try:
        sys.stdout.flush()
        closed = _has_no_reader(number)
    except OSError:
        closed = True
    if closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    return closed


def _has_no_reader(pipe: int) -> bool:
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
