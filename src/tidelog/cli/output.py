"""Printing: tables, JSON, rows of answers, and progress on stderr if that is a terminal.

Formats of answers:

    table                  aligned columns of terms as in rules
    csv, tsv, json, xml    as the W3C defines them (`tidelog.formats.results`)

The answer to a query without variables is `true` or `false`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from tidelog.changes.progress import ProgressLine

if TYPE_CHECKING:
    from tidelog.queries.answers import Answers

    Prefixes = Mapping[str, str] | None

_BLOCK = 10_000  # rows that decide how wide the columns are
_TICK = 0.3  # seconds
_UNITS = ("kB", "MB", "GB", "TB")

Cell = Callable[[object], str]


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, cell: Cell | None = None) -> None:
    """Print columns as wide as their widest cell (of the first rows, if there are many). Numbers are right-aligned.

    `cell` returns the text of a value. By default numbers are counts and get separators.

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


def visible(text: str) -> str:
    """`text` on one line. Characters that cannot be printed are escaped as in N-Triples, which rules can read."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(ord(c)) for c in text)


def _escaped(code: int) -> str:
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def file_size(count: int) -> str:
    """A number of bytes in a readable unit.

    >>> file_size(532), file_size(20_480), file_size(3_500_000)
    ('532 bytes', '20.5 kB', '3.5 MB')
    """
    if count < 1000:
        return f"{count} bytes"
    power = min((len(str(count)) - 1) // 3, len(_UNITS))
    return f"{count / 1000**power:.1f} {_UNITS[power - 1]}"


def warn(message: str) -> None:
    print(f"{styled('warning:', 'yellow', sys.stderr)} {message}", file=sys.stderr)


@contextmanager
def progress() -> Iterator[ProgressLine]:
    """Yield a progress line; it is erased when the block ends, also after an error."""
    line = ProgressLine()
    try:
        yield line
    finally:
        line.clear()


@contextmanager
def working(doing: str) -> Iterator[Callable[[str], None]]:
    """Show `doing` and the seconds so far, unless the block ends quickly. Yields a function that adds a detail."""
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


def _tick(line: ProgressLine, now: Sequence[str], done: Event) -> None:
    start = time.monotonic()
    while not done.wait(_TICK):
        line(f"{now[0]} … {time.monotonic() - start:.0f} s")


TEXT_FORMATS = ("table", "csv", "tsv", "json", "xml")
IN_TERMINAL = 500  # rows of a table that are shown in a terminal


def print_rows(answers: Answers, format: str, limit: int | None = None, prefixes: Prefixes = None) -> None:
    """Print at most `limit` rows."""
    from tidelog.queries.answers import value_text
    from tidelog.queries.sparql.solutions import write_text

    if format != "table" or answers.is_boolean:
        write_text(answers[:limit], format, sys.stdout)
        return
    header = [f"?{name}" for name in answers.names]
    shown = shown_rows(len(answers), limit)
    print_table(header, islice(answers, shown), cell=lambda value: visible(value_text(value, prefixes)))
    print_rest(len(answers), shown, limit)


def shown_rows(total: int, limit: int | None) -> int:
    """How many rows of a table to print. Without a limit all, but at most `IN_TERMINAL` in a terminal."""
    if limit is None:
        return min(total, IN_TERMINAL) if sys.stdout.isatty() else total
    return min(total, limit)


def print_rest(total: int, shown: int, limit: int | None = None) -> None:
    """Print how many rows of a table were left out, and without a limit how to see them."""
    if total > shown:
        print(f"… {total - shown:,} more{f'; --limit {total} prints all' if limit is None else ''}")


_STYLES = {"red": 31, "green": 32, "yellow": 33, "bold": 1}


def styled(text: str, style: str, stream: TextIO) -> str:
    """The text in a style, if the stream shows styles.

    Only terminals do. NO_COLOR and TERM=dumb turn styles off, FORCE_COLOR turns them on; NO_COLOR is the stronger one.
    """
    from os import environ

    forced = bool(environ.get("FORCE_COLOR"))
    shown = not environ.get("NO_COLOR") and (forced or (environ.get("TERM") != "dumb" and stream.isatty()))
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if shown else text
