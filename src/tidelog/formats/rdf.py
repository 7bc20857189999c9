"""Reads Turtle, TriG, RDF/XML and JSON-LD with pyoxigraph, block by block.

Each block of statements is converted to N-Quads and read by the bulk reader, so all formats have the same checks and
canonical terms. Relative IRIs stay relative if neither the caller nor the file gives a base. Blank nodes are numbered
in order of appearance, because some have no label, and labels have no meaning outside of a file.

JSON-LD with remote contexts is refused. RDF/XML with entity declarations is refused, because entities can make a small
file huge. Very deep XML is refused, because it costs the parser quadratic time. The depth is estimated from counts of
tags while the bytes are read, and measured only if the estimate is high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph

from tidelog.dictionary.batch import Batch, first_bytes
from tidelog.errors import InputError, Location
from tidelog.formats.ntriples import Dialect, parse_chunk
from tidelog.formats.source import blank_scope, opened

DEEPEST = 1000
_PIECE = 1 << 16
_PROLOGUE = 1 << 20
_COMMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_ROOT = re.compile(rb"<[A-Za-z_:\x80-\xff]")


def guarded(stream: IO[bytes], path: Path) -> IO[bytes]:
    """The stream of an XML file; reading it raises an error for entities and deep nesting."""
    _refuse_entities(path)
    return cast(IO[bytes], _DepthLimited(stream, path))


def _refuse_entities(path: Path) -> None:
    """Refuse entity declarations, which can only be before the root element."""
    with opened(path) as stream:
        prologue = _COMMENT.sub(b"", stream.read(_PROLOGUE))
    root = _ROOT.search(prologue)
    if b"<!ENTITY" in prologue[: root.start() if root else len(prologue)]:
        raise InputError(f"{path}: declares XML entities, which are refused; write the IRIs out")


class _DepthLimited:
    """A stream that returns small pieces and raises an error if elements are nested too deeply."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path = stream, path
        self.depth = 0
        self.measured = False

    def read(self, size: int = -1) -> bytes:
        piece = self.stream.read(_PIECE if size < 0 else min(size, _PIECE))
        if not self.measured:
            self.depth += _opened(piece)
            if self.depth > DEEPEST:  # or a CDATA section has text that looks like tags
                self.measured = True
                _refuse_depth(self.path)
        return piece


def _opened(piece: bytes) -> int:
    """About how many elements are opened minus closed in a piece."""
    ends = piece.count(b"</") + piece.count(b"/>")
    return piece.count(b"<") - piece.count(b"<!") - piece.count(b"<?") - piece.count(b"</") - ends


def _refuse_depth(path: Path) -> None:
    depth = 0

    def start(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise InputError(f"{path}: XML elements are nested more than {DEEPEST:,} deep")

    def end(_: object) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    _parse(parser, path)


def malformed_at(path: Path) -> tuple[int, int]:
    """Line and column of the first XML error in a file; (0, 0) if it is well formed."""
    return _parse(expat.ParserCreate(), path)


def _parse(parser: expat.XMLParserType, path: Path) -> tuple[int, int]:
    try:
        with opened(path) as stream:
            parser.ParseFile(stream)
    except expat.ExpatError as error:
        return error.lineno, error.offset + 1
    return 0, 0


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
        line, column = malformed_at(path)
    if not line:
        return InputError(f"{path}: {message}")
    text = _line(path, line)
    return InputError(message, Location(str(path), line, column, text if column <= len(text) + 1 else ""))


def _line(path: Path, number: int) -> str:
    """One line of a file, cut if it is long, for messages."""
    with opened(path) as stream:
        _skip_lines(stream, number - 1)
        return stream.readline(4096).decode(errors="replace").rstrip("\r\n")


def _skip_lines(stream: IO[bytes], count: int) -> None:
    while count and (part := stream.readline(1 << 20)):
        count -= part.endswith(b"\n")
