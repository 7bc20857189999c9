"""The result of SELECT: rows of values, None where a variable is unbound. A row is decoded when it is read.

Also answers as text: SELECT and ASK in the W3C result formats, CONSTRUCT and DESCRIBE in RDF formats.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO, TypeAlias

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.errors import UsageError
from tidelog.formats.results import WRITERS, write_boolean, write_rows
from tidelog.model.terms import Term, Value, to_value
from tidelog.queries.answers import Answers
from tidelog.queries.sparql.evaluate.query_dictionary import Overlay
from tidelog.queries.sparql.evaluate.tables import numbered

if TYPE_CHECKING:
    Found: TypeAlias = "Solutions | bool | rdflib.Graph"
    import pyarrow
    import rdflib

    from tidelog.kernel.rows import Ints


class Solutions(Answers):
    """The solutions of a SELECT, in their order; rows may repeat.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="[ann, age, 42] . [bob, knows, ann] .")
    >>> rows = kb.sparql("SELECT ?who ?n { ?who ?p ?o OPTIONAL { ?who <age> ?n } } ORDER BY ?who")
    >>> rows.names, len(rows), list(rows)
    (('who', 'n'), 2, [('ann', 42), ('bob', None)])
    """

    def __init__(self, names: Sequence[str], columns: Sequence[Ints], length: int, overlay: Overlay) -> None:
        super().__init__(names, lambda: columns, length, overlay.dictionary)
        self._overlay = overlay

    @property
    def is_boolean(self) -> bool:
        return False

    def __iter__(self) -> Iterator[tuple[Value | None, ...]]:  # type: ignore[override]
        if not self._columns:
            yield from [()] * len(self)
        for start in range(0, len(self), tuning.SOLUTION_BLOCK_ROWS) if self._columns else ():
            stop = start + tuning.SOLUTION_BLOCK_ROWS
            yield from zip(*(self._values(c[start:stop]) for c in self._columns), strict=True)

    def _values(self, column: Ints) -> list[Value | None]:
        """The values of a column. Each distinct value is decoded once."""
        if len(column) <= tuning.SINGLY_DECODED_ROWS:
            ids = column.tolist()
            known = {i: to_value(self._overlay.decode(i)) if i >= 0 else None for i in set(ids)}
            return [known[i] for i in ids]
        number, first = numbered([column], len(column))
        terms = self._overlay.decode_many(column[first])
        values = [None if term is None else to_value(term) for term in terms]
        return [values[n] for n in number.tolist()]

    def term_blocks(self) -> Iterator[list[pyarrow.Array]]:
        """Yield blocks of rows; each is a list of columns, pyarrow arrays of canonical term texts, null if unbound."""
        for start in range(0, len(self), tuning.SOLUTION_BLOCK_ROWS):
            yield [self._overlay.decode_array(c[start : start + tuning.SOLUTION_BLOCK_ROWS]) for c in self._columns]


def solutions_of(names: Sequence[str], rows: Sequence[tuple[Term | None, ...]], dictionary: Dictionary) -> Solutions:
    """Rows of terms as solutions."""
    overlay = Overlay(dictionary)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return Solutions(names, [overlay.encode_many(column) for column in columns], len(rows), overlay)


# rdflib's names of the RDF formats.
GRAPH_FORMATS = {"ttl": "turtle", "nt": "nt", "rdf": "xml", "jsonld": "json-ld"}


def text_of(found: Found | Answers, format: str) -> str:
    """An answer in a format: "csv", "tsv", "json" or "xml", and for graphs "ttl", "nt", "rdf" or "jsonld".

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add='[ann, name, "Ann"] .')
    >>> print(text_of(kb.sparql("SELECT ?x ?n { ?x <name> ?n }"), "tsv"), end="")
    ?x	?n
    <ann>	"Ann"
    """
    out = io.StringIO()
    write_text(found, format, out)
    return out.getvalue()


def write_text(found: Found | Answers, format: str, out: TextIO) -> None:
    """Write an answer in a format."""
    if isinstance(found, Answers) and found.is_boolean:
        write_boolean(len(found) > 0, format, out)
        return
    of_graph = not isinstance(found, bool | Answers)
    known = list(GRAPH_FORMATS if of_graph else WRITERS)
    if format not in known:
        kind = "a graph" if of_graph else "rows or a truth value"
        raise UsageError(f"{format!r} is no format of this answer, which is {kind}; choose one of: {', '.join(known)}")
    if isinstance(found, bool):
        write_boolean(found, format, out)
    elif isinstance(found, Answers):
        write_rows(found.names, found, format, out)
    else:
        out.write(found.serialize(format=GRAPH_FORMATS[format]))
