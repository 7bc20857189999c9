"""Printing: tables, JSON, rows of answers, and progress on stderr if that is a terminal.

Formats of answers:

    table            aligned columns
    json             {"variables": [...], "total": n, "rows": [...]}
    csv, tsv, xml    as the W3C defines them (`tidelog.formats.results`)

The answer to a query without variables is `true` or `false`.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from threading import Event, Thread
from typing import TYPE_CHECKING

from tidelog.model.terms import plain_text

if TYPE_CHECKING:
    from tidelog.model.terms import Value
    from tidelog.queries.answers import Answers
    from tidelog.queries.sparql import Solutions

    Rows = Iterable[Sequence[Value]]

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


def value_cell(value: object) -> str:
    """The text of a value in an answer."""
    return plain_text(value) if isinstance(value, bool | float) else visible(str(value))


def visible(text: str) -> str:
    """`text` on one line, with control characters escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


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
    print(f"warning: {message}", file=sys.stderr)


class ProgressLine:
    """One line on stderr that shows the current step. Prints nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def __call__(self, doing: str) -> None:
        if self._live:
            print(f"\r\x1b[K{doing}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        self("")


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


def print_rows(answers: Answers, format: str, limit: int | None = None) -> None:
    """Print at most `limit` rows."""
    from tidelog.formats import results

    rows = islice(answers, limit)
    if format == "json":
        _print_json(answers, rows)
    elif not answers.names:
        results.write_boolean(len(answers) > 0, format, sys.stdout)
    elif format == "table":
        print_table([f"?{name}" for name in answers.names], rows, cell=value_cell)
        _print_rest(len(answers), limit)
    else:
        results.write_rows(answers.names, rows, format, sys.stdout)


def print_solutions(solutions: Solutions, format: str, limit: int | None = None) -> None:
    """Print at most `limit` rows of a SPARQL query; its JSON is that of the W3C."""
    from tidelog.formats import results

    if format == "table":
        rows = islice(solutions, limit)
        print_table([f"?{name}" for name in solutions.names], rows, cell=_bound_cell)
        _print_rest(len(solutions), limit)
    else:
        results.write_rows(solutions.names, islice(solutions, limit), format, sys.stdout)


def _bound_cell(value: object) -> str:
    return "" if value is None else value_cell(value)


def _print_rest(total: int, limit: int | None) -> None:
    if limit is not None and total > limit:
        print(f"… {total - limit:,} more")


def _print_json(answers: Answers, rows: Rows) -> None:
    """Print row by row, so that any number of rows fits in memory."""
    print(f'{{\n  "variables": {json.dumps(answers.names)},\n  "total": {len(answers)},\n  "rows": [', end="")
    start, end = "\n", ""
    for row in rows:
        print(f"{start}    {json.dumps([json_value(value) for value in row], ensure_ascii=False)}", end="")
        start, end = ",\n", "\n  "
    print(f"{end}]\n}}")


def json_value(value: Value) -> object:
    """A value for JSON: numbers and booleans as they are where JSON has them, other values as plain text."""
    exact = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if exact else plain_text(value)
