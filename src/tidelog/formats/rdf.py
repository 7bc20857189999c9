"""Turtle, TriG, RDF/XML and JSON-LD through pyoxigraph, block by block.

Each block of statements is written as N-Quads and read by the bulk reader, so that terms come out canonical and checked
by the same rules in every format. Relative IRIs stay relative unless a base is given or the file has one.

Blank nodes are numbered in order of appearance: anonymous ones have no label, and labels mean nothing outside a file.
RDF/XML with entity declarations and JSON-LD with remote contexts are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph

from tidelog.dictionary.batch import Batch, first_bytes
from tidelog.errors import InputError, Location
from tidelog.formats.ntriples import Dialect, parse_chunk
from tidelog.formats.source import blank_scope, opened
from tidelog.formats.xml_guard import guarded, malformed_at

FORMATS = {
    "turtle": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "rdfxml": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}
_BLOCK = 1 << 16
_POSITION = re.compile(r"^Parser error (?:at|between) .*?\d: ")
_REMOTE = "No LoadDocumentCallback"


def read_rdf(path: Path, format_: str, predicate: str, columns: tuple[int, ...], base: str | None) -> Iterator[Batch]:
    """The statements of a file; `columns` chooses among subject, predicate, object and graph."""
    labels = _Labels(blank_scope(path))
    dialect = Dialect(predicate, quads=True, columns=columns)
    for block in _blocks(path, format_, base):
        parsed = parse_chunk(block, dialect)
        for _, error in parsed.errors:
            raise InputError(f"{path}: {error.message}, in the statement\n    {error.text}")
        for batch in parsed.batches:
            yield labels.renamed(batch)


def _blocks(path: Path, format_: str, base: str | None) -> Iterator[bytes]:
    """The statements of a file as N-Quads, many at a time."""
    with opened(path) as stream:
        try:
            text = guarded(stream, path) if format_ == "rdfxml" else stream
            statements = pyoxigraph.parse(text, FORMATS[format_], base_iri=base, lenient=base is None)
            while block := list(islice(statements, _BLOCK)):
                yield pyoxigraph.serialize(block, format=pyoxigraph.RdfFormat.N_QUADS) or b""
        except SyntaxError as error:
            raise _located(path, format_, error) from None
        except ValueError as error:  # a base that is no IRI
            raise InputError(f"{path}: {error}") from None


class _Labels:
    """Numbers for the blank nodes of one file."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.numbers: dict[bytes, int] = {}

    def renamed(self, batch: Batch) -> Batch:
        blank = first_bytes(batch.terms) == ord("_")
        if not blank.any():
            return batch
        labels = batch.terms.filter(pa.array(blank)).to_pylist()
        fresh = [f"_:u{self.scope}_{self.numbers.setdefault(label, len(self.numbers))}".encode() for label in labels]
        terms = pc.replace_with_mask(batch.terms, pa.array(blank), pa.array(fresh, batch.terms.type))
        return Batch(batch.predicate, terms, batch.codes)


def _located(path: Path, format_: str, error: SyntaxError) -> InputError:
    message = _POSITION.sub("", error.msg)
    if message.startswith(_REMOTE):
        return InputError(f"{path}: refers to a remote JSON-LD context, which is not fetched; put it into the file")
    line, column = error.lineno, error.offset or 0
    if line is None and format_ == "rdfxml":
        line, column = malformed_at(path)
    if not line:
        return InputError(f"{path}: {message}")
    text = _line(path, line)
    return InputError(message, Location(str(path), line, column, text if column <= len(text) + 1 else ""))


def _line(path: Path, number: int) -> str:
    """One line of a file, for showing; long ones cut."""
    with opened(path) as stream:
        _skip_lines(stream, number - 1)
        return stream.readline(4096).decode(errors="replace").rstrip("\r\n")


def _skip_lines(stream: IO[bytes], count: int) -> None:
    while count and (part := stream.readline(1 << 20)):
        count -= part.endswith(b"\n")
