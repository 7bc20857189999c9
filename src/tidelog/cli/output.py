"""Printing: tables for people, JSON for machines, and progress on stderr while someone is watching."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from threading import Event, Thread

from tidelog.model.terms import plain_text

_BLOCK = 10_000  # rows that decide how wide the columns are
_TICK = 0.3  # seconds
_UNITS = ("kB", "MB", "GB", "TB")

Cell = Callable[[object], str]


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, cell: Cell | None = None) -> None:
    """Columns as wide as their widest cell (of the first rows, if there are many); numbers to the right.

    `cell` gives the text of a value; else numbers are counts, and get separators.

    >>> print_table(("predicate", "facts"), [("parent", 3), ("ancestor", 1200)])
    predicate  facts
    parent         3
    ancestor   1,200
    """
    text, remaining = cell or count_cell, iter(rows)
    first = list(islice(remaining, _BLOCK))
    numeric = [bool(first) and all(_is_number(row[i]) for row in first) for i in range(len(header))]
    texts = [list(header), *(list(map(text, row)) for row in first)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(header))]
    for row in chain(texts, (map(text, row) for row in remaining)):
        cells = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, widths, numeric, strict=True))
        print("  ".join(cells).rstrip())


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def count_cell(value: object) -> str:
    return f"{value:,}" if _is_number(value) else visible(str(value))


def value_cell(value: object) -> str:
    """A value of an answer."""
    return plain_text(value) if isinstance(value, bool | float) else visible(str(value))


def visible(text: str) -> str:
    """In one line, and without what a terminal would obey."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def file_size(count: int) -> str:
    """Bytes as people say them.

    >>> file_size(532), file_size(20_480), file_size(3_500_000)
    ('532 bytes', '20.5 kB', '3.5 MB')
    """
    if count < 1000:
        return f"{count} bytes"
    power = min((len(str(count)) - 1) // 3, len(_UNITS))
    return f"{count / 1000**power:.1f} {_UNITS[power - 1]}"


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


@contextmanager
def working(doing: str) -> Iterator[Callable[[str], None]]:
    """Says what is being done and for how many seconds already; nothing if it is quick. What it gives says more."""
    now = [doing]

    def say(more: str) -> None:
        now[0] = f"{doing}: {more}"

    if not sys.stderr.isatty():
        yield say
        return
    done = Event()
    with progress() as line:
        thread = Thread(target=_tick, args=(line, now, done), daemon=True)
        thread.start()
        try:
            yield say
        finally:
            done.set()
            thread.join()


def _tick(line: Progress, now: Sequence[str], done: Event) -> None:
    start = time.monotonic()
    while not done.wait(_TICK):
        line(f"{now[0]} … {time.monotonic() - start:.0f} s")
