"""Writes Turtle for people: prefixes first, the statements of a subject together, `a`, `;` and `,`.

    @prefix ex: <http://example.org/> .

    ex:ann a ex:Person ;
        ex:knows ex:bob, ex:cid .

Statements are sorted by the texts of their terms within pages of `PAGE` statements, so memory is bounded. A page ends
at the end of a subject, if the statements of a subject come together, as they do from a knowledge base.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.formats.objects import column_of, encoded
from tidelog.model.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, NAME_CHARACTERS, NAME_START, RDF_TYPE
from tidelog.rules.parsing.tokens import WELL_KNOWN_PREFIXES

PAGE = 1 << 20
_PAGE_BYTES = 1 << 28
_PREFIX = re.compile(rf"(?:[{NAME_START}](?:[{NAME_CHARACTERS}.]*[{NAME_CHARACTERS}])?)?")
_LOCAL = re.compile(rf"(?:[{NAME_START}_0-9](?:[{NAME_CHARACTERS}.]*[{NAME_CHARACTERS}])?)?")
# Literals that Turtle writes without quotes, by datatype.
_BARE = {
    INTEGER: re.compile(r"[+-]?[0-9]+"),
    DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    DOUBLE: re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    BOOLEAN: re.compile(r"true|false"),
}


class Names:
    """Writes terms with prefixes. A declared prefix comes before a well-known one."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        known = {**WELL_KNOWN_PREFIXES, **prefixes}
        self.prefixes = {iri: prefix for prefix, iri in known.items() if _PREFIX.fullmatch(prefix)}
        self.prefixes |= {iri: prefix for prefix, iri in prefixes.items() if _PREFIX.fullmatch(prefix)}
        self.declared = set(prefixes.values())
        self.odd = [iri for iri in self.prefixes if iri[-1:] not in "#/:"]
        self.used: set[str] = set()

    def header(self, *, complete: bool) -> str:
        """Declarations of the prefixes that were used, and of all that were declared unless the text is `complete`.

        From now on no other prefix is used.
        """
        chosen = self.used if complete else self.used | self.declared
        self.prefixes = {iri: prefix for iri, prefix in self.prefixes.items() if iri in chosen}
        ordered = sorted((prefix, iri) for iri, prefix in self.prefixes.items())
        return "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in ordered)

    def term(self, term: str) -> str:
        """The Turtle text of a term."""
        if term[0] == "<":
            return self.iri(term[1:-1])
        if term[-1] != ">":
            return term
        quoted, _, datatype = term.rpartition("^^<")
        bare = _BARE.get(datatype[:-1])
        if bare and bare.fullmatch(quoted, 1, len(quoted) - 1):
            return quoted[1:-1]
        return f"{quoted}^^{self.iri(datatype[:-1])}"

    def predicate(self, term: str) -> str:
        return "a" if term == RDF_TYPE else self.term(term)

    def iri(self, text: str) -> str:
        cut = max(text.rfind("#"), text.rfind("/"), text.rfind(":")) + 1
        for start in (text[:cut], *(iri for iri in self.odd if text.startswith(iri))):
            if start in self.prefixes and _LOCAL.fullmatch(text, len(start)):
                self.used.add(start)
                return f"{self.prefixes[start]}:{text[len(start) :]}"
        return f"<{text}>"


def write_turtle(stream: IO[bytes], triples: Iterable[list[pa.Array]], prefixes: Mapping[str, str]) -> int:
    """Write blocks of subjects, predicates and objects; return the number of statements."""
    names, written, pages = Names(prefixes), 0, _pages(triples)
    page, following = next(pages, None), next(pages, None)
    while page is not None:
        text = _page(page, names)
        header = "" if written else names.header(complete=following is None)
        blank = "\n" if text and (written or header) else ""
        stream.write(f"{header}{blank}{text}".encode())
        written += len(page[0])
        page, following = following, next(pages, None)
    return written


def _pages(blocks: Iterable[list[pa.Array]]) -> Iterator[list[pa.Array]]:
    """The rows in pages of about `PAGE` rows, cut before the last subject."""
    waiting: list[list[pa.Array]] = []
    for block in blocks:
        waiting.append(block)
        if sum(len(b[0]) for b in waiting) >= PAGE or sum(c.nbytes for b in waiting for c in b) >= _PAGE_BYTES:
            page = _joined(waiting)
            last = pc.not_equal(page[0], page[0][-1])
            cut = len(last) - pc.index(last[::-1], True).as_py() if pc.any(last).as_py() else len(last)
            yield [column[:cut] for column in page]
            waiting = [[column[cut:] for column in page]]
    if waiting:
        yield _joined(waiting)


def _joined(blocks: list[list[pa.Array]]) -> list[pa.Array]:
    return [pa.concat_arrays(columns) for columns in zip(*blocks, strict=True)]


def _page(rows: list[pa.Array], names: Names) -> str:
    """The sorted statements as text that ends with a line end."""
    if not len(rows[0]):
        return ""
    subjects, predicates, objects = rows
    first = pc.if_else(pc.equal(predicates, RDF_TYPE), "", predicates)
    order = pc.sort_indices(
        pa.table({"s": subjects, "p": first, "o": objects}), [(key, "ascending") for key in ("s", "p", "o")]
    )
    subjects, predicates, objects = (column.take(order) for column in rows)
    new_subject = _differs(subjects)
    new_predicate = pc.or_(new_subject, _differs(predicates))
    s, p, o = _texts(subjects, names.term), _texts(predicates, names.predicate), _texts(objects, names.term)
    before = pc.if_else(
        new_subject,
        pc.binary_join_element_wise(" .\n\n", s, " ", p, " ", ""),
        pc.if_else(new_predicate, pc.binary_join_element_wise(" ;\n    ", p, " ", ""), ", "),
    )
    text = "".join(pc.binary_join_element_wise(before, o, "").to_pylist())
    return text.removeprefix(" .\n\n") + " .\n"


def _differs(column: pa.Array) -> pa.BooleanArray:
    """A mask of the rows whose value is not that of the row before."""
    return pa.concat_arrays([pa.array([True]), pc.not_equal(column[1:], column[:-1])])


def _texts(column: pa.Array, text: Callable[[str], str]) -> pa.Array:
    """The texts of a column of terms; each distinct term is converted once."""
    distinct, codes = encoded(column)
    found = column_of(distinct.to_pylist(), codes, text)
    return found.terms.cast(pa.string()).take(pa.array(found.codes))
