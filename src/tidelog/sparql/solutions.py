"""What SELECT gives: rows of values, None where a variable is unbound, decoded only when looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tidelog.answers import Answers
from tidelog.model.terms import Value, to_value
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.tables import numbered

if TYPE_CHECKING:
    import pyarrow

    from tidelog.kernel.rows import Ints

_BLOCK = 65_536
_FEW = 64  # rows that are decoded faster one by one


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

    def __iter__(self) -> Iterator[tuple[Value | None, ...]]:  # type: ignore[override]
        if not self._columns:
            yield from [()] * len(self)
        for start in range(0, len(self), _BLOCK) if self._columns else ():
            yield from zip(*(self._values(c[start : start + _BLOCK]) for c in self._columns), strict=True)

    def _values(self, column: Ints) -> list[Value | None]:
        """The values of a column, each distinct one made once."""
        if len(column) <= _FEW:
            ids = column.tolist()
            known = {i: to_value(self._overlay.decode(i)) if i >= 0 else None for i in set(ids)}
            return [known[i] for i in ids]
        number, first = numbered([column], len(column))
        terms = self._overlay.decode_many(column[first])
        values = [None if term is None else to_value(term) for term in terms]
        return [values[n] for n in number.tolist()]

    def term_blocks(self) -> Iterator[list[pyarrow.Array]]:
        """The columns as pyarrow arrays of canonical term texts, null where unbound, some rows at a time."""
        for start in range(0, len(self), _BLOCK):
            yield [self._overlay.decode_array(c[start : start + _BLOCK]) for c in self._columns]
