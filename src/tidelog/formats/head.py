"""Looks at the first rows of a delimited file: the names of its columns, and what is probably not meant."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

from tidelog.errors import InputError
from tidelog.formats.options import FormatOptions
from tidelog.formats.source import opened_text

_SAMPLE = 1 << 16
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DELIMITERS = {";": "';'", "\t": "'\\t'", ",": "','", "|": "'|'"}


def first_rows(path: Path, options: FormatOptions, delimiter: str) -> list[list[str]]:
    """The first two rows; none if the file cannot be read, whose error comes when its facts are read."""
    text = ""
    with suppress(InputError), opened_text(path) as stream:
        text = stream.read(_SAMPLE).decode(errors="replace")
    with suppress(csv.Error):
        lines = io.StringIO(text, newline="")
        rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if options.quoting else csv.QUOTE_NONE)
        return list(islice((row for row in rows if row), 2))
    return []


def notes(path: Path, options: FormatOptions, delimiter: str) -> list[str]:
    """Sentences about a header that is read as a fact, and about another delimiter."""
    rows = first_rows(path, options, delimiter)
    if not rows or options.columns:
        return []
    if len(rows[0]) == 1:
        for other, shown in _DELIMITERS.items():
            inside = [row[0].count(other) for row in rows]
            if other != delimiter and min(inside) > 0 and max(inside) == min(inside):
                return [f"{path}: its rows have one column with {shown} inside; separate them with delimiter={shown}"]
    if not options.ignore_headers and len(rows) == 2 and _is_header(*rows):
        shown = ", ".join(cell.strip() for cell in rows[0])
        return [f"{path}: the first row ({shown}) looks like a header, and it is a fact; header=True leaves it out"]
    return []


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first row has only distinct words, and a number is below one of them."""
    words = [cell.strip() for cell in first]
    numbers = any(_NUMBER.fullmatch(cell.strip()) for cell in second)
    return numbers and len(set(words)) == len(words) and not any(not w or _NUMBER.fullmatch(w) for w in words)
