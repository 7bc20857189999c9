"""XML from strangers: entity declarations and very deep nesting are refused, and errors get a place.

Entities can make a small file huge; depth costs the RDF/XML parser quadratic time. Both would let a small file stop a
process. The depth is estimated from counts of tags as the bytes pass by, and measured only when the estimate is high.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

from tidelog.errors import InputError
from tidelog.formats.source import opened

DEEPEST = 1000
_PIECE = 1 << 16
_PROLOGUE = 1 << 20
_COMMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_ROOT = re.compile(rb"<[A-Za-z_:\x80-\xff]")


def guarded(stream: IO[bytes], path: Path) -> IO[bytes]:
    """The stream, watched while it is read."""
    _refuse_entities(path)
    return cast(IO[bytes], _Watched(stream, path))


def _refuse_entities(path: Path) -> None:
    """Entity declarations stand before the root element."""
    with opened(path) as stream:
        prologue = _COMMENT.sub(b"", stream.read(_PROLOGUE))
    root = _ROOT.search(prologue)
    if b"<!ENTITY" in prologue[: root.start() if root else len(prologue)]:
        raise InputError(f"{path}: declares XML entities, which are refused; write the IRIs out")


class _Watched:
    """A stream that gives small pieces and stops when elements are nested too deep."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path = stream, path
        self.depth = 0
        self.measured = False

    def read(self, size: int = -1) -> bytes:
        piece = self.stream.read(_PIECE if size < 0 else min(size, _PIECE))
        if not self.measured:
            self.depth += _opened(piece)
            if self.depth > DEEPEST:  # or text that looks like tags, in a CDATA section
                self.measured = True
                _refuse_depth(self.path)
        return piece


def _opened(piece: bytes) -> int:
    """How many more elements are open at the end of a piece than at its beginning, about."""
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
    """Line and column where an XML file stops being well formed; (0, 0) if it is well formed and only no RDF."""
    return _parse(expat.ParserCreate(), path)


def _parse(parser: expat.XMLParserType, path: Path) -> tuple[int, int]:
    try:
        with opened(path) as stream:
            parser.ParseFile(stream)
    except expat.ExpatError as error:
        return error.lineno, error.offset + 1
    return 0, 0
