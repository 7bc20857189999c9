"""Reads Turtle, TriG, RDF/XML and JSON-LD with pyoxigraph, block by block.

Each block of statements is converted to N-Quads and read by the bulk reader, so all formats have the same checks and
canonical terms. Relative IRIs stay relative if neither the caller nor the file gives a base. Blank nodes are numbered
in order of appearance, because some have no label, and labels have no meaning outside of a file.

JSON-LD with remote contexts is refused. `tidelog.formats.rdfxml` prepares RDF/XML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph

from tidelog.dictionary.batch import Batch, first_bytes
from tidelog.errors import InputError, Location
from tidelog.formats.ntriples import Dialect, parse_chunk
from tidelog.formats.rdfxml import check_xml, guarded
from tidelog.formats.source import blank_scope, line_at, opened, opened_text

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
    """The statements of a file; `columns` selects from subject (0), predicate (1), object (2) and graph (3)."""
    labels = _Labels(blank_scope(path))
    dialect = Dialect(predicate, quads=True, columns=columns)
    for block in _blocks(path, format_, base):
        parsed = parse_chunk(block, dialect)
        for _, error in parsed.errors:
            raise InputError(f"{path}: {error.message}, in the statement\n    {error.text}")
        for batch in parsed.batches:
            yield labels.renamed(batch)


def _blocks(path: Path, format_: str, base: str | None) -> Iterator[bytes]:
    """The statements of a file as blocks of N-Quads."""
    with (opened if format_ == "rdfxml" else opened_text)(path) as stream:
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
    """Numbers the blank nodes of one file."""

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
        try:
            check_xml(path)
        except InputError as wrong:
            line, column = (wrong.location.line, wrong.location.column) if wrong.location else (None, 0)
    if not line:
        return InputError(f"{path}: {message}")
    text = line_at(path, line)
    return InputError(message, Location(str(path), line, column, text if column <= len(text) + 1 else ""))
