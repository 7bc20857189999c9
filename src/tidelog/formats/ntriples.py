"""Reads N-Triples and N-Quads in bulk: whole chunks at once, with checks on distinct terms only.

A plain line is `s p o .` with single spaces. numpy finds the spaces and line ends of a chunk, and one Arrow array uses
the bytes of the chunk without a copy,

    s | " " | p | " " | o | " .\n" | s | ...         every second element is null

so that one `dictionary_encode` numbers the terms. A regular expression checks the distinct terms. `parse_line` reads
every line that is not plain or has a term that is not plain. It follows the grammar (comments, tabs, escapes, any
spacing) and its errors have line and column. The bulk reader accepts a line only if `parse_line` returns the same
terms.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.dictionary.batch import Batch, Codes, batch_of_terms, compact_batch, first_bytes
from tidelog.errors import InputError, Location
from tidelog.formats.source import OnBadLine, Span, lines_before, opened, opened_span, whole_lines
from tidelog.formats.term_text import TERM_TEXTS, canonical, canonical_terms
from tidelog.model.terms import Term, is_blank

_BLANKS = re.compile(r"[ \t]*")
_SUBJECT = "a subject (IRI or blank node)"
_PREDICATE = "a predicate (IRI)"
_OBJECT = "an object (IRI, blank node or literal)"
_GRAPH = "a graph name (IRI or blank node) or '.'"
# First character of a term -> the message if the text is no such term.
_PROBLEMS = {
    "<": "not an IRI: it must end in '>' and hold no space, quote, '<', '{', '}', '|', '^', '`' or wrong escape",
    "_": "not a blank node: expected a label such as _:b0",
    '"': 'not a literal: expected "text", "text"@language or "text"^^<datatype> with valid escapes',
}


class LineError(Exception):
    """An error in a line, with its column (from 1). The reader adds the file and the line number."""

    def __init__(self, message: str, column: int, text: str) -> None:
        super().__init__(message)
        self.message, self.column, self.text = message, column, text

    def located(self, file: str, line: int) -> InputError:
        return InputError(self.message, Location(file, line, self.column, self.text))


def parse_line(raw: bytes, quads: bool) -> list[tuple[Term, ...]]:
    """The statements of a line: three terms, or four with a graph name. A blank line or a comment has none.

    A carriage return ends a line too, so there may be several statements between two line feeds. A byte order mark
    at the start is ignored.
    """
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        shown = raw.decode(errors="replace")
        raise LineError("not UTF-8; convert the file to UTF-8", len(raw[: error.start].decode()) + 1, shown) from None
    statements = (_LineParser(part).statement(quads) for part in text.split("\r"))
    return [statement for statement in statements if statement is not None]


class _LineParser:
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
        match = _BLANKS.match(self.text, self.at)
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
        pattern, canonical_term = TERM_TEXTS[first]
        match = pattern.match(self.text, self.at)
        term = canonical_term(match) if match else None
        if match is None or term is None:
            raise self.error(_PROBLEMS[first])
        self.at = match.end()
        return term

    def error(self, message: str) -> LineError:
        return LineError(message, self.at + 1, self.text)


Offsets = npt.NDArray[np.int64]
ByteMask = npt.NDArray[np.bool_]

# Nemo's name for the default graph.
DEFAULT_GRAPH = Term("<tag:nemo:defaultgraph>")
THREADS = min(4, os.cpu_count() or 1)  # with more threads the consumer of the batches is slower than the parser
_NEWLINE, _RETURN, _SPACE, _DOT, _LESS, _GREATER, _UNDERSCORE, _QUOTE = b'\n\r .<>_"'


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to read lines: triples or quads, and the columns to return (0 s, 1 p, 2 o, 3 graph)."""

    predicate: str
    quads: bool = False
    columns: tuple[int, ...] = (0, 1, 2)
    scope: str = ""  # inserted into blank node labels; empty: labels stay as they are
    default_graph: Term = DEFAULT_GRAPH

    def scoped(self, term: Term) -> Term:
        return Term(f"_:u{self.scope}_{term[2:]}") if self.scope and is_blank(term) else term


@dataclass(frozen=True, slots=True)
class ParsedChunk:
    """The result of a chunk: its rows, its number of lines, and its errors with line numbers from 0."""

    batches: list[Batch]
    lines: int
    errors: list[tuple[int, LineError]]


def read_lines(
    path: Path, dialect: Dialect, span: Span | None = None, on_bad_line: OnBadLine | None = None
) -> Iterator[Batch]:
    """The rows of an N-Triples or N-Quads file, in the order of its chunks.

    A span is parsed in this thread, because the caller reads other spans on the other cores.
    """
    with opened(path) if span is None else opened_span(path, span) as stream:
        before = _Before(path, span)
        chunks = whole_lines(stream, str(path), before=before)
        parse = partial(parse_chunk, dialect=dialect, goes_on=on_bad_line is not None)
        line = 0
        for parsed in _in_parallel(chunks, parse) if span is None else map(parse, chunks):
            for at, error in parsed.errors:
                located = error.located(str(path), before() + line + at + 1)
                if on_bad_line is None:
                    raise located
                on_bad_line(located)
            yield from parsed.batches
            line += parsed.lines


class _Before:
    """Returns the number of lines before a span; counts them at the first call."""

    def __init__(self, path: Path, span: Span | None) -> None:
        self.path, self.span = path, span
        self.lines: int | None = None if span else 0

    def __call__(self) -> int:
        if self.lines is None:
            assert self.span is not None
            self.lines = lines_before(self.path, self.span[0])
        return self.lines


def _in_parallel(chunks: Iterator[bytes], parse: Callable[[bytes], ParsedChunk]) -> Iterator[ParsedChunk]:
    """The parsed chunks in order; a few chunks are parsed at the same time."""
    first = next(chunks, None)
    second = next(chunks, None)
    if first is None or second is None:
        if first is not None:
            yield parse(first)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[Future[ParsedChunk]] = deque(pool.submit(parse, chunk) for chunk in (first, second))
        for chunk in chunks:
            waiting.append(pool.submit(parse, chunk))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def parse_chunk(chunk: bytes, dialect: Dialect, goes_on: bool = False) -> ParsedChunk:
    """Parse whole lines, up to the first bad line, or all if `goes_on`."""
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    lines = _ChunkLines(chunk)
    accepted = np.zeros(len(lines), dtype=np.bool_)
    batches = []
    for group, bounds in lines.plain(dialect.quads):
        good, batch = _encode(chunk, bounds, dialect)
        accepted[group[good]] = True
        if len(batch):
            batches.append(batch)
    rows: list[tuple[Term, ...]] = []
    errors: list[tuple[int, LineError]] = []
    for line in np.flatnonzero(~accepted).tolist():
        try:
            statements = parse_line(lines.raw(line), dialect.quads)
        except LineError as error:
            errors.append((line, error))
            if goes_on:
                continue
            break
        rows += [tuple(_chosen(terms, dialect)) for terms in statements]
    if rows:
        batches.append(batch_of_terms(dialect.predicate, rows))
    return ParsedChunk(batches, len(lines), errors)


class _ChunkLines:
    """The lines of a chunk and the positions of their spaces."""

    def __init__(self, chunk: bytes) -> None:
        self.chunk = chunk
        self.data = np.frombuffer(chunk, dtype=np.uint8)
        self.ends: Offsets = np.flatnonzero(self.data == _NEWLINE)
        self.starts: Offsets = np.empty_like(self.ends)
        self.starts[0], self.starts[1:] = 0, self.ends[:-1] + 1

    def __len__(self) -> int:
        return len(self.ends)

    def raw(self, line: int) -> bytes:
        return self.chunk[self.starts[line] : self.ends[line]]

    def plain(self, quads: bool) -> Iterator[tuple[Offsets, list[Offsets]]]:
        """Groups of lines that look plain: line numbers, and the offsets of the start and end of each term."""
        data, spaces = self.data, np.flatnonzero(self.data == _SPACE)
        spaces = np.concatenate([spaces, np.full(2, len(data))])
        at = np.searchsorted(spaces, self.starts)
        first, second = spaces[at], spaces[at + 1]
        dot = self.ends - 1
        dot = dot - (data[dot] == _RETURN)
        stop = dot - (data[np.maximum(dot - 1, 0)] == _SPACE)
        plain = (first > self.starts) & (second > first + 1) & (stop > second + 1) & (data[dot] == _DOT)
        lines = np.flatnonzero(plain)
        bounds = [b[lines] for b in (self.starts, first, first + 1, second, second + 1, stop)]
        if not quads:
            yield lines, bounds
            return
        last = spaces[np.searchsorted(spaces, bounds[-1]) - 1]
        graph = (last > bounds[4]) & self._looks_like_graph(last + 1, bounds[-1] - 1)
        yield lines[~graph], [b[~graph] for b in bounds]
        yield lines[graph], [b[graph] for b in (*bounds[:5], last, last + 1, bounds[-1])]

    def _looks_like_graph(self, first: Offsets, last: Offsets) -> ByteMask:
        opening, closing = self.data[first], self.data[last]
        name: ByteMask = ((opening == _LESS) & (closing == _GREATER)) | (opening == _UNDERSCORE)
        return name


def _encode(chunk: bytes, bounds: list[Offsets], dialect: Dialect) -> tuple[ByteMask, Batch]:
    """Number the terms between the bounds; return a mask of the good rows, and a batch of these rows."""
    codes, texts = _number(chunk, bounds)
    terms, valid = _check(texts)
    kinds, distinct = first_bytes(terms), terms is texts
    good = (kinds[codes[0]] != _QUOTE) & (kinds[codes[1]] == _LESS)
    if len(codes) == 4:
        good &= kinds[codes[3]] != _QUOTE
    for column in codes:
        good &= valid[column]
    if dialect.scope and (kinds == _UNDERSCORE).any():
        terms = pc.replace_substring_regex(terms.view(pa.string()), "^_:", f"_:u{dialect.scope}_")
    if distinct and dialect.columns == (0, 1, 2) and len(codes) == 3 and good.all():
        return good, Batch(dialect.predicate, terms.view(pa.binary()), tuple(np.ascontiguousarray(c) for c in codes))
    return good, _chosen_rows(terms.view(pa.binary()), codes, good, dialect)


def _chosen_rows(terms: pa.Array, codes: list[Codes], good: ByteMask, dialect: Dialect) -> Batch:
    """The good rows with the columns of the dialect."""
    if len(codes) == 3:
        codes.append(np.full(len(good), len(terms), dtype=np.int32))
        terms = pa.concat_arrays([terms, pa.array([dialect.default_graph.encode()], terms.type)])
    return compact_batch(dialect.predicate, terms, [codes[c][good] for c in dialect.columns])


def _number(chunk: bytes, bounds: list[Offsets]) -> tuple[list[Codes], pa.Array]:
    """The codes of each term column, and the distinct texts, from one dictionary encoding of the chunk."""
    width, rows = len(bounds), len(bounds[0])
    offsets = np.empty(width * rows + 1, dtype=np.int32)
    for i, bound in enumerate(bounds):
        offsets[i : width * rows : width] = bound
    offsets[-1] = offsets[-2] if rows else 0
    used = np.full(width * rows // 8 + 1, 0b01010101, dtype=np.uint8)  # the elements between terms are null
    buffers = [pa.py_buffer(used), pa.py_buffer(offsets), pa.py_buffer(chunk)]
    encoded = pa.Array.from_buffers(pa.binary(), width * rows, buffers).dictionary_encode()
    indices = np.frombuffer(encoded.indices.buffers()[1], dtype=np.int32)[: width * rows].reshape(rows, width)
    return [indices[:, i] for i in range(0, width, 2)], encoded.dictionary


def _check(texts: pa.Array) -> tuple[pa.Array, ByteMask]:
    """The canonical terms of distinct texts (`texts` itself if all are canonical), and a mask of the valid texts."""
    try:
        strings = texts.cast(pa.string())
    except pa.ArrowInvalid:  # not UTF-8 somewhere
        return _check_one_by_one(texts.to_pylist())
    plain = canonical_terms(strings).to_numpy(zero_copy_only=False)
    if plain.all():
        return texts, plain
    odd = np.flatnonzero(~plain)
    terms = [canonical(t) for t in strings.take(pa.array(odd)).to_pylist()]
    replaced = pc.replace_with_mask(strings, pa.array(~plain), pa.array([t or "" for t in terms], pa.string()))
    valid = plain.copy()
    valid[odd] = [t is not None for t in terms]
    return replaced, valid


def _check_one_by_one(texts: list[bytes]) -> tuple[pa.Array, ByteMask]:
    terms = [canonical(text.decode(errors="replace")) for text in texts]
    valid = [t is not None and "\ufffd" not in t for t in terms]
    return pa.array([t or "" for t in terms], pa.string()), np.array(valid, dtype=np.bool_)


def _chosen(terms: tuple[Term, ...], dialect: Dialect) -> Iterator[Term]:
    """The columns of the dialect, with the blank nodes of this file."""
    full = terms if len(terms) == 4 else (*terms, dialect.default_graph)
    return (dialect.scoped(full[c]) for c in dialect.columns)
