"""Rows of answers as text.

    table   for people
    csv     plain values with a header, as SPARQL results in CSV
    tsv     exact terms, as SPARQL results in TSV
    json    {"variables": [...], "total": n, "rows": [...]}

A query without variables has no rows to show: it is answered `true` or `false`.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.output import plain_text, print_table, value_cell
from tidelog.model.terms import to_term

if TYPE_CHECKING:
    from tidelog.answers import Answers
    from tidelog.model.terms import Value

    Rows = Iterable[Sequence[Value]]

TEXT_FORMATS = ("table", "csv", "tsv", "json")


def print_rows(answers: Answers, format: str, limit: int | None = None) -> None:
    """Print at most `limit` rows."""
    rows = islice(answers, limit)
    if format == "json":
        _print_json(answers, rows)
    elif not answers.names:
        print(plain_text(len(answers) > 0))
    elif format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answers.names)
        writer.writerows(map(plain_text, row) for row in rows)
    elif format == "tsv":
        _print_tsv(answers.names, rows)
    else:
        print_table([f"?{name}" for name in answers.names], rows, cell=value_cell)
        if limit is not None and len(answers) > limit:
            print(f"… {len(answers) - limit:,} more")


def _print_tsv(names: Sequence[str], rows: Rows) -> None:
    print(*(f"?{name}" for name in names), sep="\t")
    for row in rows:
        print(*map(_exact, row), sep="\t")


def _exact(value: Value) -> str:
    """A term as in Turtle; a tab would end the cell."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return to_term(value).replace("\t", "\\t")


def _print_json(answers: Answers, rows: Rows) -> None:
    """Row by row, so that any number of them can be printed."""
    print(f'{{\n  "variables": {json.dumps(answers.names)},\n  "total": {len(answers)},\n  "rows": [', end="")
    start, end = "\n", ""
    for row in rows:
        print(f"{start}    {json.dumps([json_value(value) for value in row], ensure_ascii=False)}", end="")
        start, end = ",\n", "\n  "
    print(f"{end}]\n}}")


def json_value(value: Value) -> object:
    """Numbers and booleans as such, where JSON has them; anything else as its plain text."""
    exact = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if exact else plain_text(value)
