"""Printing: tables for people, JSON for machines, and progress on stderr while someone is watching."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their widest cell; numbers to the right, with separators.

    >>> print_table(("predicate", "facts"), [("parent", 3), ("ancestor", 1200)])
    predicate  facts
    parent         3
    ancestor   1,200
    """
    table = list(rows)
    numeric = [bool(table) and all(isinstance(row[i], int) for row in table) for i in range(len(header))]
    texts = [list(header), *([_cell(value) for value in row] for row in table)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(header))]
    for row in texts:
        cells = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, widths, numeric, strict=True))
        print("  ".join(cells).rstrip())


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)


class Progress:
    """One line on stderr that says what is being done; nothing at all when stderr is not a terminal."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def __call__(self, doing: str) -> None:
        if self._live:
            print(f"\r\x1b[K{doing}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        self("")


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress line that is gone when the work is done, or has failed."""
    line = Progress()
    try:
        yield line
    finally:
        line.clear()
