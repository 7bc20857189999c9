"""Writes query results in the W3C formats: rows of named values, or a boolean.

    csv     plain values with a header
    tsv     exact terms, as in Turtle
    json    SPARQL results in JSON
    xml     SPARQL results in XML

The value None is unbound. Rows are written one by one, so any number of rows can be written.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from tidelog.model import terms
from tidelog.model.terms import BlankNode, Term, Value, plain_text, to_term

ResultRow = Sequence[Value | None]
Writer = Callable[[Sequence[str], Iterable[ResultRow], TextIO], None]

_NAMESPACE = "http://www.w3.org/2005/sparql-results#"
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write_rows(names: Sequence[str], rows: Iterable[ResultRow], format: str, out: TextIO) -> None:
    WRITERS[format](names, rows, out)


def write_boolean(answer: bool, format: str, out: TextIO) -> None:
    """Write a boolean result. CSV and TSV have no standard form for it, so it is plain text."""
    text = plain_text(answer)
    if format == "json":
        text = json.dumps({"head": {}, "boolean": answer})
    elif format == "xml":
        text = f"{_xml_head([])}  <boolean>{text}</boolean>\n</sparql>"
    out.write(f"{text}\n")


def _write_csv(names: Sequence[str], rows: Iterable[ResultRow], out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_csv_cell(value) for value in row] for row in rows)


def _csv_cell(value: Value | None) -> str:
    if value is None:
        return ""
    return to_term(value) if isinstance(value, BlankNode) else plain_text(value)


def _write_tsv(names: Sequence[str], rows: Iterable[ResultRow], out: TextIO) -> None:
    out.write("\t".join(f"?{name}" for name in names) + "\n")
    for row in rows:
        out.write("\t".join(map(_exact, row)) + "\n")


def _exact(value: Value | None) -> str:
    """The term in Turtle syntax, with tabs escaped."""
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return to_term(value).replace("\t", "\\t")


def _write_json(names: Sequence[str], rows: Iterable[ResultRow], out: TextIO) -> None:
    out.write(f'{{"head": {{"vars": {json.dumps(list(names))}}},\n "results": {{"bindings": [')
    start, end = "\n", ""
    for row in rows:
        out.write(f"{start}  {json.dumps(binding(names, row), ensure_ascii=False)}")
        start, end = ",\n", "\n "
    out.write(f"{end}]}}}}\n")


def binding(names: Sequence[str], row: ResultRow) -> dict[str, dict[str, str]]:
    """A row for JSON: the term of each variable that is bound."""
    return {name: _json_term(to_term(value)) for name, value in zip(names, row, strict=True) if value is not None}


def _json_term(term: Term) -> dict[str, str]:
    if terms.is_iri(term):
        return {"type": "uri", "value": term[1:-1]}
    if terms.is_blank(term):
        return {"type": "bnode", "value": term[2:]}
    text, datatype, language = terms.split_literal(term)
    if language:
        return {"type": "literal", "value": text, "xml:lang": language}
    typed = {} if datatype == terms.STRING else {"datatype": datatype}
    return {"type": "literal", "value": text, **typed}


def _write_xml(names: Sequence[str], rows: Iterable[ResultRow], out: TextIO) -> None:
    """Characters that XML does not allow are written as N-Triples escapes."""
    out.write(f"{_xml_head(names)}  <results>\n")
    for row in rows:
        cells = zip(names, row, strict=True)
        bindings = (f"<binding name={quoteattr(n)}>{_element(to_term(v))}</binding>" for n, v in cells if v is not None)
        out.write(f"    <result>{''.join(bindings)}</result>\n")
    out.write("  </results>\n</sparql>\n")


def _xml_head(names: Sequence[str]) -> str:
    variables = "".join(f"<variable name={quoteattr(name)}/>" for name in names)
    return f'<?xml version="1.0"?>\n<sparql xmlns="{_NAMESPACE}">\n  <head>{variables}</head>\n'


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
    return escape(
        _NO_XML.sub(lambda m: f"\\u{ord(m[0]):04X}", text), {"\r": "&#13;"}
    )  # an XML reader would replace it by a line feed


WRITERS: dict[str, Writer] = {"csv": _write_csv, "tsv": _write_tsv, "json": _write_json, "xml": _write_xml}
