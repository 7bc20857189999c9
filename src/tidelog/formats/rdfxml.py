"""Prepares RDF/XML for the parser of pyoxigraph, which reads only UTF-8 and knows little of document types.

A file with a document type or in another encoding is rewritten while it is read: expat resolves its internal entities,
and the result is XML in UTF-8 without entities. Any other file is passed on as it is.

Entities can make a small file huge, so expat stops when they have made it 100 times larger. External entities are
refused: only the file itself is read. Very deep XML is refused, because it costs the parser quadratic time. In a file
that is passed on the depth is estimated from counts of tags, and measured only if the estimate is high.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from tidelog.errors import InputError, Location
from tidelog.formats.source import line_at, opened

DEEPEST = 1000
_PIECE = 1 << 16
_PROLOGUE = 1 << 20
_COMMENT = re.compile(rb"<!--.*?-->|<\?(?!xml\s).*?\?>", re.DOTALL)
_ROOT = re.compile(rb"<[A-Za-z_:\x80-\xff]")
_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["'](?!(?i:utf-?8|us-ascii)["'])""")
_NOT_UTF_8 = (b"\xff\xfe", b"\xfe\xff", b"\0<", b"<\0")
# The external part of a document type. It is not read, and without it expat reports every unknown entity.
_EXTERNAL = re.compile(
    rb"""(<!DOCTYPE\s+[^\s\[>]+)(\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+(?:"[^"]*"|'[^']*'))"""
)
_TOO_LARGE = expat.errors.codes.get("limit on input amplification factor (from DTD and entities) breached", 43)


def guarded(stream: IO[bytes], path: Path) -> IO[bytes]:
    """The stream of an RDF/XML file for pyoxigraph. Reading it raises an error for what is refused."""
    return cast(IO[bytes], _Rewritten(stream, path) if _needs_rewriting(path) else _DepthLimited(stream, path))


def _needs_rewriting(path: Path) -> bool:
    """Whether a file has a document type, which can only be before the root element, or another encoding."""
    with opened(path) as stream:
        prologue = stream.read(_PROLOGUE)
    if prologue.startswith(_NOT_UTF_8) or _ENCODING.match(prologue):
        return True
    prologue = _COMMENT.sub(b"", prologue)
    root = _ROOT.search(prologue)
    return root is None or b"<!DOCTYPE" in prologue[: root.start()]


def namespaces(path: Path) -> dict[str, str]:
    """The prefixes that the root element of an RDF/XML file declares."""
    found: dict[str, str] = {}

    def root(_: str, attributes: list[str]) -> None:
        for name, value in zip(attributes[::2], attributes[1::2], strict=True):
            prefix, _, local = name.partition(":")
            if prefix == "xmlns":
                found[local] = value
        raise StopIteration

    with opened(path) as stream, suppress(StopIteration):
        _Parser(path, root).read_all(stream)
    return found


class _Parser:
    """Expat for one file: refuses external entities and too deep nesting, and reports errors with their place."""

    def __init__(self, path: Path, start: Callable[[str, list[str]], None] = lambda name, attributes: None) -> None:
        self.path = path
        self.depth = 0
        self.start = start
        self.expat = expat.ParserCreate()
        self.expat.ordered_attributes = True
        self.expat.buffer_text = True
        self.expat.StartElementHandler, self.expat.EndElementHandler = self._start, self._end
        self.expat.StartDoctypeDeclHandler, self.expat.EndDoctypeDeclHandler = self._doctype, self._end_doctype
        self.expat.EntityDeclHandler = self._entity
        self._first = True

    def parse(self, piece: bytes) -> None:
        """Parse a piece of the file; an empty piece is its end."""
        if self._first:
            piece = _EXTERNAL.sub(lambda match: match[1] + re.sub(rb"[^\n]", b" ", match[2]), piece, count=1)
            self._first = False
        try:
            self.expat.Parse(piece, not piece)
        except expat.ExpatError as error:
            if error.code == _TOO_LARGE:
                raise InputError(f"{self.path}: its entities make it more than 100 times larger; refused") from None
            raise self.error(expat.ErrorString(error.code), error.lineno, error.offset + 1) from None
        except (ValueError, LookupError) as error:  # an encoding that expat does not know
            raise InputError(f"{self.path}: {error}; convert the file to UTF-8") from None

    def read_all(self, stream: IO[bytes]) -> None:
        while piece := stream.read(_PROLOGUE):
            self.parse(piece)
        self.parse(b"")

    def error(self, message: str, line: int, column: int) -> InputError:
        text = line_at(self.path, line)
        return InputError(message, Location(str(self.path), line, column, text if column <= len(text) + 1 else ""))

    def _refused(self, message: str) -> InputError:
        return self.error(message, self.expat.CurrentLineNumber, self.expat.CurrentColumnNumber + 1)

    def _start(self, name: str, attributes: list[str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(f"{self.path}: XML elements are nested more than {DEEPEST:,} deep")
        self.start(name, attributes)

    def _end(self, _: str) -> None:
        self.depth -= 1

    def _doctype(self, _: str, system: str | None, public: str | None, internal: int) -> None:
        if system or public:  # an encoding in which the external part was not found
            raise self._refused("the document type refers to another file, which is not read; remove the reference")
        self.expat.DefaultHandlerExpand = self._in_doctype

    def _in_doctype(self, text: str) -> None:
        if text.startswith("%"):
            raise self._refused(f"the document type uses the parameter entity {text}, which is refused; write it out")

    def _end_doctype(self) -> None:
        self.expat.DefaultHandlerExpand = None

    def _entity(
        self, name: str, parameter: int, value: str | None, _: str | None, system: str | None, *rest: str | None
    ) -> None:
        if parameter:
            raise self._refused(f"declares the parameter entity %{name};, which is refused; write its text out")
        if value is None:
            raise self._refused(
                f"declares the external entity &{name}; ({system}), which is not read; put its text into the file"
            )


class _Rewritten:
    """A stream with the elements and the text of a file as plain XML. Comments are kept only in XML literals."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream = stream
        self.parser = _Parser(path, self._start)
        self.literal = 0  # the depth of the open element that has an XML literal, or 0
        self.ready, self.pieces, self.ended = b"", list[str](), False
        events = self.parser.expat
        events.EndElementHandler = self._end
        events.CharacterDataHandler = lambda text: self.pieces.append(escape(text, {"\r": "&#13;"}))
        events.CommentHandler = self._comment

    def read(self, size: int = -1) -> bytes:
        while not self.ready and not self.ended:
            piece = self.stream.read(_PIECE)
            self.ended = not piece
            self.parser.parse(piece)
            self.ready, self.pieces = "".join(self.pieces).encode(), []
        read, self.ready = (self.ready, b"") if size < 0 else (self.ready[:size], self.ready[size:])
        return read

    def _start(self, name: str, attributes: list[str]) -> None:
        pairs = list(zip(attributes[::2], attributes[1::2], strict=True))
        written = "".join(f" {key}={quoteattr(value)}" for key, value in pairs)
        self.pieces.append(f"<{name}{written}>")
        if not self.literal and any(key.endswith("parseType") and value == "Literal" for key, value in pairs):
            self.literal = self.parser.depth

    def _end(self, name: str) -> None:
        if self.literal == self.parser.depth:
            self.literal = 0
        self.parser.depth -= 1
        self.pieces.append(f"</{name}>")

    def _comment(self, text: str) -> None:
        if self.literal:
            self.pieces.append(f"<!--{text}-->")


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
                check_xml(self.path)
        return piece


def _opened(piece: bytes) -> int:
    """About how many elements are opened minus closed in a piece."""
    ends = piece.count(b"</") + piece.count(b"/>")
    return piece.count(b"<") - piece.count(b"<!") - piece.count(b"<?") - piece.count(b"</") - ends


def check_xml(path: Path) -> None:
    """Raise the first XML error in a file, with its place; also for elements that are nested too deeply."""
    with opened(path) as stream:
        _Parser(path).read_all(stream)
