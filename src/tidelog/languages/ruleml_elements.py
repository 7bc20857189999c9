"""RuleML's XML as small trees, one clause at a time, so that a rulebase of any length is read in little space.

Document types, and with them entities, are refused: they can make a small file huge. So is deep nesting.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.parsers import expat

from tidelog.errors import Location, ParseError
from tidelog.rules.tokens import MAX_DEPTH, MAX_TOKEN, Source

MAX_CHILDREN = 1_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_PIECE = 1 << 20
_LONGEST_SHOWN = 2_000
# What only holds clauses. `And` at the top holds several clauses; inside a clause it is a conjunction.
CONTAINERS = frozenset({"RuleML", "Assert", "Rulebase", "rulebase", "act", "formula", "And", "and"})


@dataclass(slots=True)
class Element:
    """An element with its name as written, without namespace."""

    name: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Elements:
    """Reads a document and hands every clause, an element of one of these names, to a function."""

    def __init__(self, text: str, file: str, clauses: frozenset[str], take: Callable[[Element], None]) -> None:
        self.text, self.file = text, file
        self.clauses, self.take = clauses, take
        self.namespaces: dict[str, str] = {}  # by prefix, as declared last
        self._open: list[Element] = []
        self._inside = 0  # how many of the open elements belong to a clause
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartNamespaceDeclHandler = self._namespace
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def read(self) -> None:
        Source(self.text, self.file)  # refuses half characters
        try:
            for start in range(0, len(self.text), _PIECE):
                self._parser.Parse(self.text[start : start + _PIECE].encode())
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            raise self._error(f"not well-formed XML: {problem}", error.lineno, error.offset + 1) from None

    def error(self, message: str, element: Element) -> ParseError:
        return self._error(message, element.line, element.column)

    def location(self, element: Element) -> Location:
        """Without the text of the line: only errors show it."""
        return Location(self.file, element.line, element.column)

    def _error(self, message: str, line: int, column: int) -> ParseError:
        lines = _LINE_END.split(self.text)
        shown = lines[line - 1][:_LONGEST_SHOWN] if line <= len(lines) else ""
        return ParseError(message, Location(self.file, line, column, shown if column <= len(shown) + 1 else ""))

    def _here(self, message: str) -> ParseError:
        return self._error(message, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def _doctype(self, *_: object) -> None:
        raise self._here("a document type declaration is refused, because it may declare entities; remove it")

    def _namespace(self, prefix: str | None, uri: str | None) -> None:
        self.namespaces[prefix or ""] = uri or ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parser = self._parser
        element = Element(
            _local(name), {_local(n): v for n, v in attributes.items()}, parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
        )  # fmt: skip
        if len(self._open) >= MAX_DEPTH:
            raise self.error(f"elements are nested more than {MAX_DEPTH} deep", element)
        if self._inside:
            self._attach(element)
        elif element.name not in CONTAINERS | self.clauses:
            raise self.error(f"<{element.name}> is not supported here", element)
        if self._inside or element.name not in CONTAINERS:
            self._inside += 1
        self._open.append(element)

    def _attach(self, element: Element) -> None:
        siblings = self._open[-1].children
        if len(siblings) >= MAX_CHILDREN:
            raise self.error(f"more than {MAX_CHILDREN:,} elements in one <{self._open[-1].name}>; split it", element)
        siblings.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if element.children and element.text.strip():
            raise self.error(f"text is not expected in <{element.name}>: {element.text.strip()[:40]!r}", element)
        if self._inside:
            self._inside -= 1
            if not self._inside:
                self.take(element)

    def _characters(self, text: str) -> None:
        element = self._open[-1]
        if not self._inside:
            if text.strip():
                raise self._here(f"text is not expected in <{element.name}>: {text.strip()[:40]!r}")
            return
        element.pieces.append(text)
        element.length += len(text)
        if element.length > MAX_TOKEN:
            raise self.error(
                f"a text of more than {MAX_TOKEN:,} characters; load large values from a data file", element
            )


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
