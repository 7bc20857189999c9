"""Rows of answers as text.

    table   for people
    csv     plain values with a header, as SPARQL results in CSV
    tsv     exact terms, as SPARQL results in TSV
    json    {"variables": [...], "total": n, "rows": [...]}
    xml     exact terms, as SPARQL results in XML

A query without variables has no rows to show: it is answered `true` or `false`.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from tidelog.cli.output import plain_text, print_table, value_cell
from tidelog.model import terms
from tidelog.model.terms import to_term

if TYPE_CHECKING:
    from tidelog.answers import Answers
    from tidelog.model.terms import Term, Value

    Rows = Iterable[Sequence[Value]]

TEXT_FORMATS = ("table", "csv", "tsv", "json", "xml")
_SPARQL = "http://www.w3.org/2005/sparql-results#"
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def print_rows(answers: Answers, format: str, limit: int | None = None) -> None:
    """Print at most `limit` rows."""
    rows = islice(answers, limit)
    if format == "json":
        _print_json(answers, rows)
    elif format == "xml":
        _print_xml(answers, rows)
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


def _print_xml(answers: Answers, rows: Rows) -> None:
    """Row by row. A character that XML cannot hold is written as it is in N-Triples."""
    print(f'<?xml version="1.0"?>\n<sparql xmlns="{_SPARQL}">')
    print("  <head>" + "".join(f"<variable name={quoteattr(name)}/>" for name in answers.names) + "</head>")
    if not answers.names:
        print(f"  <boolean>{plain_text(len(answers) > 0)}</boolean>\n</sparql>")
        return
    print("  <results>")
    for row in rows:
        cells = zip(answers.names, row, strict=True)
        bindings = (f"<binding name={quoteattr(name)}>{_element(to_term(value))}</binding>" for name, value in cells)
        print(f"    <result>{''.join(bindings)}</result>")
    print("  </results>\n</sparql>")


def _element(term: Term) -> str:
    if terms.is_iri(term):
        return f"<uri>{_xml(term[1:-1])}</uri>"
    if terms.is_blank(term):
        return f"<bnode>{_xml(term[2:])}</bnode>"
    text, datatype, language = terms.split_literal(term)
    if language:
        return f'<literal xml:lang="{language}">{_xml(text)}</literal>'
    typed = "" if datatype == terms.STRING else f" datatype={quoteattr(datatype)}"
    return f"<literal{typed}>{_xml(text)}</literal>"


def _xml(text: str) -> str:
    return escape(_NO_XML.sub(lambda m: f"\\u{ord(m[0]):04X}", text))


def json_value(value: Value) -> object:
    """Numbers and booleans as such, where JSON has them; anything else as its plain text."""
    exact = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if exact else plain_text(value)
