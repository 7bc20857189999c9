"""Rows of answers as text.

    table   for people
    json    {"variables": [...], "total": n, "rows": [...]}

and the W3C formats csv, tsv and xml (`tidelog.formats.results`). A query without variables has no rows to show: it is
answered `true` or `false`.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.output import print_table, value_cell
from tidelog.model.terms import plain_text

if TYPE_CHECKING:
    from tidelog.answers import Answers
    from tidelog.model.terms import Value
    from tidelog.sparql import Solutions

    Rows = Iterable[Sequence[Value]]

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
