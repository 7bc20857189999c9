"""The progress of a change: a callback, or one line on stderr in a terminal or a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str], None]


def no_progress(_: str) -> None:
    """Default progress callback: ignores the message."""


class ProgressLine:
    """One line on stderr that shows the current step. Prints nothing unless stderr is a terminal or a notebook."""

    def __init__(self) -> None:
        self._is_notebook = _is_notebook()
        self._live = sys.stderr.isatty() or self._is_notebook
        self._width = 0

    def __call__(self, doing: str) -> None:
        if self._live and self._is_notebook:  # no escape sequences: spaces cover the line before
            print(f"\r{doing.ljust(self._width)}", end="", file=sys.stderr, flush=True)
            self._width = len(doing)
        elif self._live:
            print(f"\r\x1b[K{doing}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        self("")


def _is_notebook() -> bool:
    """Whether this process is the kernel of a notebook, whose stderr is shown in the browser."""
    return type(sys.stderr).__module__.startswith("ipykernel.")


@contextmanager
def shown(progress: Progress | bool) -> Iterator[Progress]:
    """Yield the callback to use: `progress` itself, a line for True, or nothing for False."""
    if not isinstance(progress, bool):
        yield progress
    elif progress:
        line = ProgressLine()
        try:
            yield line
        finally:
            line.clear()
    else:
        yield no_progress
