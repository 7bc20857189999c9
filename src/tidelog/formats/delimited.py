"""CSV, TSV and other delimited text, like `csv`, `tsv` and `dsv` in Nemo. A row is a fact.

A row that does not fit `format` is skipped, as in Nemo, and the number of such rows is logged. A row with a wrong
number of cells is an error (Nemo skips it silently).

Without a column format a cell is interpreted in this order, as in Nemo: a blank cell is the empty string; `<…>` is an
IRI; a decimal number is an integer or a decimal (`1.0` is the integer 1, and `1e3` is no number); `"…"`, `"…"@en` and
`"…"^^<…>` are literals; a text of IRI characters is an IRI or a plain name; any other text is a string. Numbers and
booleans with a datatype are made canonical.

Two differences to Nemo: escapes in a quoted literal are resolved, so that written literals are read back exactly, and a
text that RDF does not allow as an IRI (`a|b`) is a string.
"""

from __future__ import annotations

import csv
import io
import logging
import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import IO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from tidelog.dictionary.batch import Batch, Codes
from tidelog.errors import InputError, Location
from tidelog.formats.objects import Column, batch_of_columns, column_of, encoded
from tidelog.formats.options import FormatOptions
from tidelog.formats.source import OnBadLine, opened_text
from tidelog.formats.term_text import LITERAL_TEXT, canonical_iri, canonical_literal
from tidelog.model.terms import (
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FALSE,
    INTEGER,
    STRING,
    TRUE,
    XSD,
    Term,
    double,
    double_text,
    iri,
    literal,
    split_literal,
    string,
)

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+")
_RAW_LITERAL = re.compile(r'"(.*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^<([^<>"\x00-\x20{}|^`\\]*)>)?', re.DOTALL)
_INTEGER_TYPES = re.compile(
    f"{re.escape(XSD)}(?:integer|long|int|short|byte|unsigned(?:Long|Int|Short|Byte)"
    "|(?:non)?(?:[Nn]ega|[Pp]osi)tiveInteger)"
)
_BOOLEANS = {"true": TRUE, "1": TRUE, "false": FALSE, "0": FALSE}


def guess(cell: str) -> Term:
    """The term of a cell without a column format."""
    text = cell.strip()
    first = text[:1]
    if first == "<" and text[-1] == ">" and (name := canonical_iri(text[1:-1])):
        return name
    if first.isdigit() or first in ("+", "-"):
        if _NUMBER.fullmatch(text):
            return _decimal(text)
    elif first == '"' and len(text) > 1 and (term := _literal(text)):
        return term
    return iri(text) if _IRI.fullmatch(text) else string(text)


_DATE = r"-?[0-9]{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"
_TYPED = re.compile(
    rf"(?P<date>{_DATE}{_ZONE})|(?P<dateTime>{_DATE}[T ]{_TIME}{_ZONE})|(?P<time>{_TIME}{_ZONE})"
    rf"|(?P<boolean>(?i:true|false))|(?P<double>{_DOUBLE.pattern}|NaN|[+-]?INF)"
)


def _is_day(text: str) -> bool:
    """Whether the month at the start of a date or time has that day."""
    year, month, day = text.removeprefix("-").split("-")[:3]
    return int(day[:2]) <= monthrange(2000 + int(year) % 400, int(month))[1]


def typed(cell: str) -> Term:
    """The term of a cell if types are recognised: dates, times, booleans, all numbers; other cells as by `guess`."""
    match = _TYPED.fullmatch(cell.strip())
    if match is None or (match.lastgroup == "double" and _NUMBER.fullmatch(match[0])):
        return guess(cell)
    text, kind = match[0], str(match.lastgroup)
    if kind == "boolean":
        return _BOOLEANS[text.lower()]
    if kind == "double":
        return double(float(text))
    if kind != "time" and not _is_day(text):
        return guess(cell)
    return literal(text.replace(" ", "T"), XSD + kind)


def _decimal(text: str) -> Term:
    """The term of a number without exponent: an integer if it is whole, else a decimal without trailing zeros."""
    sign = "-" if text[0] == "-" else ""
    whole, _, fraction = text.lstrip("+-").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    if fraction:
        return literal(f"{sign}{whole}.{fraction}", DECIMAL)
    return Term(f'"{"" if whole == "0" else sign}{whole}"^^<{INTEGER}>')


def _literal(text: str) -> Term | None:
    """The term of a quoted literal: in N-Triples syntax, or else with its text as it is. None if it is neither."""
    match = LITERAL_TEXT.fullmatch(text)
    term = canonical_literal(match) if match else None
    if term is None:
        raw = _RAW_LITERAL.fullmatch(text)
        if raw is None:
            return None
        term = literal(raw[1], raw[3] or STRING, (raw[2] or "").lower())
    return _by_value(term)


def _by_value(term: Term) -> Term | None:
    """The term with a canonical number or boolean; None if the text is wrong for its datatype."""
    if not term.endswith(">"):
        return term
    text, datatype, _ = split_literal(term)
    if _INTEGER_TYPES.fullmatch(datatype):
        return _decimal(text) if _INTEGER.fullmatch(text) else None
    if datatype == DECIMAL:
        return _decimal(text) if _NUMBER.fullmatch(text) else None
    if datatype == DOUBLE:
        return as_double(text)
    return _BOOLEANS.get(text) if datatype == BOOLEAN else term


def as_integer(cell: str) -> Term | None:
    return _decimal(cell) if _INTEGER.fullmatch(cell) else None


def as_double(cell: str) -> Term | None:
    """The double of a cell; None if the cell is not a finite number."""
    if not _DOUBLE.fullmatch(cell) or abs(number := float(cell)) == float("inf"):
        return None
    return double(number)


READERS: dict[str, Callable[[str], Term | None]] = {
    "any": guess,
    "typed": typed,
    "string": string,
    "int": as_integer,
    "double": as_double,
}


def cell(term: Term) -> str:
    """The cell of a term, as in Nemo: bare IRIs and integers, doubles without exponent, other terms in N-Triples."""
    if term[0] == "<":
        return term[1:-1]
    if term[0] == "_" or term[-1] == '"':
        return term
    if term.endswith(f'"^^<{INTEGER}>'):
        return split_literal(term)[0]
    if term.endswith(f'"^^<{DOUBLE}>'):
        return f'"{_plain_double(split_literal(term)[0])}"^^<{DOUBLE}>'
    return term


def _plain_double(text: str) -> str:
    """The text of a canonical double without exponent; other texts unchanged."""
    try:
        canonical = double_text(float(text)) == text
    except ValueError:
        return text
    if not canonical or text in ("INF", "-INF", "NaN"):
        return text
    return f"{Decimal(text):f}".removesuffix(".0")


def _string_cell(term: Term) -> str | None:
    return split_literal(term)[0] if term[-1] == '"' else None


def _integer_cell(term: Term) -> str | None:
    return split_literal(term)[0] if term.endswith(f'"^^<{INTEGER}>') else None


def _double_cell(term: Term) -> str | None:
    return _plain_double(split_literal(term)[0]) if term.endswith(f'"^^<{DOUBLE}>') else None


WRITERS: dict[str, Callable[[Term], str | None]] = {
    "any": cell,
    "string": _string_cell,
    "int": _integer_cell,
    "double": _double_cell,
}


_BLOCK = 16 << 20
_MOST_COLUMNS = 1024
_WRONG_WIDTH = re.compile(r"Expected (\d+) columns")
_LOG = logging.getLogger("tidelog.formats")
_BARE_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
_BARE_NAME = r"^[A-Za-z_/.:#%!$&'()*,;=?@~\[\]][A-Za-z0-9_/.:#%!$&'()*,;=?@~\[\]+-]*$"


def read_delimited(
    path: Path, options: FormatOptions, delimiter: str, on_bad_line: OnBadLine | None = None
) -> Iterator[Batch]:
    """The rows of a file. `on_bad_line` is called for each row with a wrong number of cells; None raises the error."""
    with opened_text(path) as stream:
        left_out, first = 0, True
        for cells in _tables(stream, path, options, delimiter, on_bad_line):
            rows = cells.slice(1) if first and options.ignore_headers else cells
            first = False
            batch = _batch(rows, path, options)
            left_out += len(rows) - len(batch)
            yield batch
    if left_out:
        _LOG.warning("%s: %d rows do not fit the column formats and were left out", path, left_out)


def _tables(
    stream: IO[bytes], path: Path, options: FormatOptions, delimiter: str, on_bad_line: OnBadLine | None
) -> Iterator[pa.RecordBatch]:
    """The cells as Arrow batches of binary columns, all with the expected number of columns."""
    expected = len(options.columns) if options.columns else None
    skipped = _Skipped() if on_bad_line else None
    try:
        for cells in _arrow_reader(stream, options, delimiter, skipped):
            expected = expected or cells.num_columns
            if cells.num_columns != expected:
                raise _wrong_width(path, options, delimiter, expected)
            yield cells
    except pa.ArrowInvalid as error:
        if found := _WRONG_WIDTH.search(str(error)):
            raise _wrong_width(path, options, delimiter, expected or int(found[1])) from None
        if "Empty CSV file" not in str(error) or _has_text(path):
            raise InputError(f"{path}: {_explained(str(error))}") from None
    if on_bad_line and skipped and skipped.rows:
        for wrong in _wrong_widths(path, options, delimiter, expected or 0):
            on_bad_line(wrong)


class _Ended:
    """A stream that ends with a line end. Arrow cannot read a single line without."""

    closed = False  # Arrow asks

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.next = stream.read(1)

    def read(self, size: int) -> bytes:
        piece = self.next + self.stream.read(size - 2)
        self.next = self.stream.read(1)
        return piece if self.next or not piece or piece.endswith(b"\n") else piece + b"\n"


class _Skipped:
    """Arrow's handler of rows with a wrong number of cells: counts and skips them. Arrow gives no line numbers."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, row: arrow_csv.InvalidRow) -> str:
        self.rows += 1
        return "skip"


def _arrow_reader(
    stream: IO[bytes], options: FormatOptions, delimiter: str, skipped: _Skipped | None
) -> Iterator[pa.RecordBatch]:
    return iter(
        arrow_csv.open_csv(
            cast(IO[bytes], _Ended(stream)),
            arrow_csv.ReadOptions(
                column_names=[f"f{i}" for i in range(len(options.columns or ()))],
                autogenerate_column_names=not options.columns,
                use_threads=False,
                block_size=_BLOCK,
            ),
            arrow_csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if options.quoting else False,
                newlines_in_values=options.quoting,
                invalid_row_handler=skipped,
            ),
            arrow_csv.ConvertOptions(column_types={f"f{i}": pa.binary() for i in range(_MOST_COLUMNS)}),
        )
    )


def _batch(rows: pa.RecordBatch, path: Path, options: FormatOptions) -> Batch:
    formats = options.columns or ("any",) * rows.num_columns
    if options.types:
        formats = tuple("typed" if name == "any" else name for name in formats)
    columns = [_column(cells, name, path) for cells, name in zip(rows.columns, formats, strict=True) if name != "skip"]
    return batch_of_columns(options.predicate, columns)


def _column(cells: pa.Array, format_: str, path: Path) -> Column:
    distinct, codes = encoded(cells)
    try:
        texts = distinct.cast(pa.string())
    except pa.ArrowInvalid:
        raise InputError(f"{path}: a cell is not UTF-8; convert the file to UTF-8") from None
    return _guessed(texts, codes) if format_ == "any" else column_of(texts.to_pylist(), codes, READERS[format_])


def _guessed(texts: pa.Array, codes: Codes) -> Column:
    """The column of cells without a format: plain integers and names in bulk, other cells one by one."""
    integers = pc.match_substring_regex(texts, _BARE_INTEGER)
    names = pc.match_substring_regex(texts, _BARE_NAME)
    terms = pc.if_else(
        integers,
        pc.binary_join_element_wise('"', texts, f'"^^<{INTEGER}>', ""),
        pc.binary_join_element_wise("<", texts, ">", ""),
    )
    odd = pc.invert(pc.or_(integers, names))
    if pc.any(odd).as_py():
        others = [READERS["any"](text) for text in texts.filter(odd).to_pylist()]
        terms = pc.replace_with_mask(terms, odd, pa.array(others, pa.string()))
    return Column(terms.cast(pa.binary()), np.asarray(codes, dtype=np.int32))


def _wrong_width(path: Path, options: FormatOptions, delimiter: str, expected: int) -> InputError:
    """The error for the first row with a wrong number of cells."""
    found = next(_wrong_widths(path, options, delimiter, expected), None)
    return found or InputError(f"{path}: a row does not have {expected} cells")


def _wrong_widths(path: Path, options: FormatOptions, delimiter: str, expected: int) -> Iterator[InputError]:
    """Read the file again and yield an error with the line number for each row with a wrong number of cells."""
    with opened_text(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        quote = '"' if options.quoting else None
        reader, line = csv.reader(lines, delimiter=delimiter, quotechar=quote, quoting=0 if quote else 3), 1
        for row in reader:
            if row and len(row) != expected:
                shown = delimiter.join(row)
                text = f"expected {expected} cells, found {len(row)}: {shown[:200]!r}"
                yield InputError(text, Location(str(path), line, text=shown))
            line = reader.line_num + 1


def _has_text(path: Path) -> bool:
    with opened_text(path) as stream:
        return bool(stream.read(1 << 20).strip())


def _explained(error: str) -> str:
    if "straddling" in error or "Empty CSV" in error:
        return f"a row is longer than {_BLOCK >> 20} MB, or a quoted cell is not closed"
    return error.removeprefix("CSV parse error: ")
