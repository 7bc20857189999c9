"""ORDER BY: each distinct value gets its rank, and rows are sorted by ranks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tidelog.kernel.bindings import Bindings
from tidelog.kernel.rows import Ints
from tidelog.sparql.algebra import Expression
from tidelog.sparql.comparison import sort_key
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.tables import numbered

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
