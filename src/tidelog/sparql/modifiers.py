"""Solution modifiers: the order of rows, their columns, and which of them are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidelog.kernel.bindings import Bindings
from tidelog.kernel.rows import Ints
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import Expression
from tidelog.sparql.comparison import sort_key
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.tables import column_of, numbered

if TYPE_CHECKING:
    from tidelog.sparql.expressions import Expressions


def ordered(table: Bindings, conditions: Sequence[tuple[Expression, bool]], expressions: Expressions) -> Bindings:
    """The rows in order; those that are equal stay as they were."""
    keys = []
    for expression, descending in conditions:
        expressions.guard.check()
        rank = ranks(expressions.column(expression, table), expressions.overlay)
        keys.append(-rank if descending else rank)
    return table.take(np.lexsort(keys[::-1])) if table.length else table


def ranks(column: Ints, overlay: Overlay) -> Ints:
    """The place of each term in the order of all that are there; terms of equal value have the same."""
    number, first = numbered([column], len(column))
    keys = [sort_key(term) for term in overlay.decode_many(column[first])]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank = np.zeros(len(keys), dtype=np.int64)
    place = 0
    for before, at in pairwise(order):
        place += keys[before] != keys[at]
        rank[at] = place
    return rank[number]


def projected(block: Bindings, variables: tuple[Variable, ...]) -> Bindings:
    return Bindings({v: column_of(block, v) for v in variables}, block.length)


def sliced(blocks: Iterable[Bindings], offset: int, limit: int | None) -> Iterator[Bindings]:
    """Some of the solutions; what comes after them is not asked for."""
    left = limit
    for block in blocks if limit != 0 else ():
        start = min(offset, block.length)
        offset -= start
        stop = block.length if left is None else min(block.length, start + left)
        if left is not None:
            left -= stop - start
        yield block.take(np.arange(start, stop, dtype=np.int64))
        if left == 0:
            return
