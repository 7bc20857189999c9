"""One line of N-Triples or N-Quads by the grammar: comments, tabs, escapes, any spacing; exact errors with columns.

The bulk reader hands over the lines it does not recognise; these are the rules it must agree with.
"""

from __future__ import annotations

import re

from tidelog.errors import InputError, Location
from tidelog.formats.term_text import BLANK_TEXT, IRI_TEXT, LITERAL_TEXT, canonical_iri, canonical_literal
from tidelog.model.terms import Term

_SPACE = re.compile(r"[ \t]*")
_SUBJECT = "a subject (IRI or blank node)"
_PREDICATE = "a predicate (IRI)"
_OBJECT = "an object (IRI, blank node or literal)"
_BAD_IRI = "not an IRI: it must end in '>' and hold no space, quote, '<', '{', '}', '|', '^', '`' or wrong escape"
_GRAPH = "a graph name (IRI or blank node) or '.'"


class LineError(Exception):
    """What is wrong in a line and at which column (from 1); the reader knows file and line number."""

    def __init__(self, message: str, column: int, text: str) -> None:
        super().__init__(message)
        self.message, self.column, self.text = message, column, text

    def located(self, file: str, line: int) -> InputError:
        return InputError(self.message, Location(file, line, self.column, self.text))


def parse_line(raw: bytes, quads: bool) -> list[tuple[Term, ...]]:
    """The statement of a line, three terms or four with a graph name; none for a blank line or a comment.

    A carriage return ends a line too, so what lies between two line feeds may hold several statements.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        shown = raw.decode(errors="replace")
        raise LineError("not UTF-8; convert the file to UTF-8", len(raw[: error.start].decode()) + 1, shown) from None
    statements = (_Line(part).statement(quads) for part in text.split("\r"))
    return [statement for statement in statements if statement is not None]


class _Line:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def statement(self, quads: bool) -> tuple[Term, ...] | None:
        if self.at_end():
            return None
        terms = [self.term(_SUBJECT, "<_"), self.term(_PREDICATE, "<"), self.term(_OBJECT, '<_"')]
        if quads and not self.next_is("."):
            terms.append(self.term(_GRAPH, "<_"))
        if not self.next_is("."):
            raise self.error("expected '.' at the end of the statement")
        self.at += 1
        if not self.at_end():
            raise self.error("expected the end of the line or a comment after '.'; one statement per line")
        return tuple(terms)

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def next_is(self, character: str) -> bool:
        self.skip_space()
        return self.text.startswith(character, self.at)

    def at_end(self) -> bool:
        self.skip_space()
        return self.at == len(self.text) or self.text[self.at] == "#"

    def term(self, expected: str, kinds: str) -> Term:
        self.skip_space()
        first = self.text[self.at : self.at + 1]
        if not first or first not in kinds:
            found = f"found {first!r}" if first else "the line ends"
            raise self.error(f"expected {expected}, {found}")
        if first == "<":
            return self.iri()
        return self.blank() if first == "_" else self.literal()

    def iri(self) -> Term:
        match = IRI_TEXT.match(self.text, self.at)
        term = canonical_iri(match[1]) if match else None
        if match is None or term is None:
            raise self.error(_BAD_IRI)
        self.at = match.end()
        return term

    def blank(self) -> Term:
        match = BLANK_TEXT.match(self.text, self.at)
        if match is None:
            raise self.error("not a blank node: expected a label such as _:b0")
        self.at = match.end()
        return Term(match[0])

    def literal(self) -> Term:
        match = LITERAL_TEXT.match(self.text, self.at)
        term = canonical_literal(match) if match else None
        if match is None or term is None:
            raise self.error('not a literal: expected "text", "text"@language or "text"^^<datatype> with valid escapes')
        self.at = match.end()
        return term

    def error(self, message: str) -> LineError:
        return LineError(message, self.at + 1, self.text)
