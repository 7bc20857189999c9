"""Writes facts block by block. A block has one Arrow array of term texts for each column.

In RDF formats a row that is no RDF statement is refused, for example if its subject is a literal. In CSV a row that
does not fit `format` is skipped, as in Nemo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pyoxigraph

from tidelog.dictionary.batch import first_bytes
from tidelog.errors import InputError, UsageError
from tidelog.formats.delimited import WRITERS
from tidelog.formats.ntriples import DEFAULT_GRAPH
from tidelog.formats.objects import Column, column_of, complete, encoded, terms_schema
from tidelog.formats.options import FormatOptions
from tidelog.formats.rdf import FORMATS
from tidelog.formats.turtle import write_turtle
from tidelog.model.terms import Term

TermBlock = Sequence[pa.Array]
_QUOTE, _LESS = b'"<'
_NAMED = r"^<.*[/#:][\pL_][\pL\pN_.-]*>$"  # IRIs that RDF/XML can write as an element: namespace and local name


def write_delimited(
    stream: IO[bytes], blocks: Iterable[TermBlock], options: FormatOptions, delimiter: str, header: Sequence[str] = ()
) -> int:
    """Write delimited text, after a header if there is one; return the number of rows."""
    written = 0
    if header:
        alone = len(header) == 1
        stream.write(delimiter.join(_quoted(name, delimiter, alone) for name in header).encode() + b"\n")
    for block in blocks:
        formats = options.columns or ("any",) * len(block)
        if len(formats) != len(block):
            raise UsageError(f"{options.predicate} has {len(block)} columns, but format names {len(formats)}")
        chosen = [(terms, format_) for terms, format_ in zip(block, formats, strict=True) if format_ != "skip"]
        lines = _lines([_cells(t, f, delimiter, alone=len(chosen) == 1) for t, f in chosen], delimiter)
        written += len(lines)
        stream.write(_bytes_of(lines))
    return written


def _cells(terms: pa.Array, format_: str, delimiter: str, alone: bool) -> Column:
    def cell(term: str) -> str | None:
        text = WRITERS[format_](Term(term))
        return None if text is None else _quoted(text, delimiter, alone)

    distinct, codes = encoded(_strings(terms))
    return column_of(distinct.to_pylist(), codes, cell)


def _lines(columns: Sequence[Column], delimiter: str) -> pa.Array:
    kept = complete(columns)
    cells = [c.terms.take(pa.array(c.codes[kept])) for c in columns]
    cells[-1] = pc.binary_join_element_wise(cells[-1], b"\n", b"")
    return pc.binary_join_element_wise(*cells, delimiter.encode())


def _quoted(cell: str, delimiter: str, alone: bool) -> str:
    """The cell with quotes if needed. `alone`: the row has one cell, so an empty cell needs quotes."""
    if any(c in cell for c in (delimiter, '"', "\n", "\r")) or (alone and not cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def write_lines(stream: IO[bytes], blocks: Iterable[TermBlock], options: FormatOptions) -> int:
    """Write N-Triples, or N-Quads from four columns (graph, subject, predicate, object); return the number of rows."""
    written = 0
    for statements in _statements(blocks, options):
        stream.write(statements)
        written += statements.count(b"\n")
    return written


def _quads(blocks: Iterable[TermBlock], options: FormatOptions) -> Iterator[list[pa.Array]]:
    """The blocks as columns of term texts: graph (null: the default graph), subject, predicate and object."""
    for block in blocks:
        terms = [_strings(c) for c in block]
        if len(terms) == 3:
            terms = [pa.nulls(len(terms[0]), pa.string()), *terms]
        elif len(terms) != 4:
            raise UsageError(f"{options.predicate} has {len(block)} columns; RDF needs 3, or 4 with the graph first")
        else:
            terms[0] = pc.if_else(pc.equal(terms[0], DEFAULT_GRAPH), None, terms[0])
        _refuse_non_rdf(terms, options.predicate)
        yield terms


def _statements(blocks: Iterable[TermBlock], options: FormatOptions, predicates: str | None = None) -> Iterator[bytes]:
    """The blocks as N-Quads. `predicates` is a regular expression that all predicates must match."""
    for terms in _quads(blocks, options):
        if predicates and len(wrong := terms[2].filter(pc.invert(pc.match_substring_regex(terms[2], predicates)))):
            raise InputError(
                f"{wrong[0]} cannot be a predicate in RDF/XML: it must end in a name after '/', '#' or ':'"
            )
        yield _bytes_of(pc.binary_join_element_wise(*terms[1:], terms[0], ".\n", " ", null_handling="skip"))


def _no_statement(subject: pa.Array, predicate: pa.Array) -> npt.NDArray[np.bool_]:
    """A mask of the rows that are no RDF statements."""
    wrong: npt.NDArray[np.bool_] = (first_bytes(subject) == _QUOTE) | (first_bytes(predicate) != _LESS)
    return wrong


def only_rdf(block: TermBlock) -> TermBlock:
    """The rows of a block of triples that are RDF statements."""
    if not len(block[0]):
        return block
    subject, predicate, _ = map(_strings, block)
    kept = pa.array(~_no_statement(subject, predicate))
    return [column.filter(kept) for column in block]


def _refuse_non_rdf(terms: Sequence[pa.Array], relation: str) -> None:
    graph, subject, predicate, _ = terms
    wrong = _no_statement(subject, predicate) | (first_bytes(graph.fill_null("<")) == _QUOTE)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        shown = ", ".join(str(c[at]) for c in terms[1:])
        raise InputError(
            f"{relation}({shown}) is no RDF statement: the subject must be an IRI or a blank node, the predicate an"
            " IRI; write csv or parquet instead"
        )


def write_turtle_blocks(
    stream: IO[bytes], blocks: Iterable[TermBlock], options: FormatOptions, prefixes: Mapping[str, str]
) -> int:
    """Write Turtle; return the number of statements."""

    def triples() -> Iterator[list[pa.Array]]:
        for graph, *triple in _quads(blocks, options):
            if graph.null_count < len(graph):
                raise InputError(
                    f"{options.predicate} has named graphs, which turtle cannot hold; write trig or nquads"
                )
            yield triple

    return write_turtle(stream, triples(), prefixes)


def write_rdf(stream: IO[bytes], blocks: Iterable[TermBlock], options: FormatOptions, format_: str) -> int:
    """Write TriG, RDF/XML or JSON-LD with pyoxigraph; return the number of statements."""
    written = 0

    def quads() -> Iterator[pyoxigraph.Quad]:
        nonlocal written
        for statements in _statements(blocks, options, _NAMED if format_ == "rdfxml" else None):
            for quad in pyoxigraph.parse(statements, pyoxigraph.RdfFormat.N_QUADS, lenient=True):
                written += 1
                yield quad

    try:
        pyoxigraph.serialize(quads(), stream, FORMATS[format_])
    except (ValueError, TypeError) as error:
        raise InputError(f"{options.predicate} cannot be written as {format_}: {error}") from None
    return written


def write_parquet(
    stream: IO[bytes], blocks: Iterable[TermBlock], options: FormatOptions, names: Sequence[str] = ()
) -> int:
    """Write columns of term texts with a mark, so that they are read back exactly; return the number of rows.

    Without `names` the columns are called c0, c1 and so on.
    """
    written = 0
    writer: parquet.ParquetWriter | None = None
    for block in blocks:
        schema = terms_schema(names or [f"c{i}" for i in range(len(block))])
        writer = writer or parquet.ParquetWriter(stream, schema, compression="zstd")
        writer.write_batch(pa.RecordBatch.from_arrays([_strings(c) for c in block], schema=schema))
        written += len(block[0])
    if writer is None:
        raise UsageError(f"{options.predicate}: nothing to write, and Parquet needs to know the number of columns")
    writer.close()
    return written


def _strings(terms: pa.Array) -> pa.Array:
    """The term texts as an Arrow string array."""
    return terms if pa.types.is_string(terms.type) else terms.cast(pa.string())


def _bytes_of(lines: pa.Array) -> bytes:
    """The concatenation of the texts of an array, copied from its data buffer."""
    _, offsets, data = lines.buffers()
    if data is None or not len(lines):
        return b""
    bounds = np.frombuffer(offsets, dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return bytes(memoryview(data)[int(bounds[0]) : int(bounds[-1])])
