"""What SELECT gives: rows of values, None where a variable is unbound, decoded only when looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tidelog.answers import Answers
from tidelog.model.terms import Value, to_value
from tidelog.sparql.overlay import Overlay

if TYPE_CHECKING:
    import pyarrow

    from tidelog.kernel.rows import Ints

_BLOCK = 65_536


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
            block = [self._overlay.decode_many(c[start : start + _BLOCK]) for c in self._columns]
            yield from zip(*([None if t is None else to_value(t) for t in c] for c in block), strict=True)

    def term_blocks(self) -> Iterator[list[pyarrow.Array]]:
        """The columns as pyarrow arrays of canonical term texts, null where unbound, some rows at a time."""
        for start in range(0, len(self), _BLOCK):
            yield [self._overlay.decode_array(c[start : start + _BLOCK]) for c in self._columns]
