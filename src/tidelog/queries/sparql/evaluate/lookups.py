"""Few solutions, looked up triple by triple: the fast path for a query about one resource.

The engine's joins plan with samples and work in blocks, which costs a fraction of a millisecond before the first row.
Where a constant leaves few rows, each step here is a handful of searches by the kernel's `RelationLookup`: triples that are
bound completely are checked, then the triple with the fewest matches, counted exactly, extends the bindings. As soon as
there would be many bindings, the triples that are left go to the engine.

A place of a triple is the id of a term, or `~slot` for a variable, where `slot` is the number of a column of bindings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tidelog.engines.local.facts import LocalFacts
from tidelog.kernel.lookup import CodedRows, RelationLookup, RowRanges
from tidelog.kernel.rows import HALF, Ints
from tidelog.model.terms import TRIPLE

FEW = 2048  # bindings

TriplePlaces = tuple[int, int, int]
Slots = list[Ints | None]  # a column for each variable that is bound

_NOTHING = np.empty(0, dtype=np.int64)
_UNCHANGED = CodedRows(21, _NOTHING)


class TripleLookup(NamedTuple):
    """A triple with a constant predicate: its number in the pattern, its ends, and the rows (None: there are none)."""

    number: int
    subject: int
    object: int
    rows: RelationLookup | None


class Matches(NamedTuple):
    """The rows of one triple for each binding, or for a constant, not yet read."""

    size: int  # the bindings that it would lead to
    triple: TripleLookup
    bound: int
    free: int
    rows: RowRanges | None


def look_up(I: LocalFacts, triples: Sequence[TriplePlaces], slots: Slots, length: int) -> tuple[int, list[int]] | None:
    """Bind slots to the matches of triples: returns the number of bindings, and the numbers of triples left to do.

    None where this is not the way to begin; the slots are unchanged then.
    """
    open_ = _lookups(I, triples)
    if open_ is None:
        return None
    while open_:
        length, open_ = _checked(open_, slots, length)
        if not length or not open_:
            return length, []
        best = _best(open_, slots, length)
        if best is None:
            break
        length = _extend(best, slots, length)
        open_.remove(best.triple)
    return None if len(open_) == len(triples) else (length, [triple.number for triple in open_])


def _lookups(I: LocalFacts, triples: Sequence[TriplePlaces]) -> list[TripleLookup] | None:
    """None if a triple has a variable as its predicate, or one variable twice."""
    found = []
    for number, (subject, predicate, object_) in enumerate(triples):
        if predicate < 0 or subject == object_:
            return None
        table = I.table((TRIPLE, predicate))
        rows = None if table is None else RelationLookup(table, _UNCHANGED, _UNCHANGED, 0)
        found.append(TripleLookup(number, subject, object_, rows))
    return found


def _checked(triples: list[TripleLookup], slots: Slots, length: int) -> tuple[int, list[TripleLookup]]:
    """Keep the bindings for which all completely bound triples hold; returns their number, and the other triples."""
    others = []
    for triple in triples:
        _, subject, object_, rows = triple
        s = subject if subject >= 0 else slots[~subject]
        o = object_ if object_ >= 0 else slots[~object_]
        if s is None or o is None:
            others.append(triple)
        elif length:
            length = 0 if rows is None else _check(s << HALF | o, rows, slots, length)
    return length, others


def _check(keys: Ints | int, rows: RelationLookup, slots: Slots, length: int) -> int:
    if isinstance(keys, int):
        return length if rows.holds(np.array((keys,)))[0] else 0
    which = rows.holds(keys).nonzero()[0]
    if len(which) < length:
        _take(slots, which)
    return len(which)


def _take(slots: Slots, which: Ints) -> None:
    for slot, column in enumerate(slots):
        if column is not None:
            slots[slot] = column[which]


def _best(triples: list[TripleLookup], slots: Slots, length: int) -> Matches | None:
    """The triple that leads to the fewest bindings, or the first that leads to no more; None if all lead to many."""
    best: Matches | None = None
    for triple in triples:
        found = _count(triple, slots, length)
        if found is None:
            continue
        if found.size <= length:
            return found
        if found.size <= FEW and (best is None or found.size < best.size):
            best = found
    return best


def _count(triple: TripleLookup, slots: Slots, length: int) -> Matches | None:
    """The matches of a triple that has one end bound; None if it has none."""
    _, subject, object_, rows = triple
    column, bound, free = 0, subject, object_
    value = bound if bound >= 0 else slots[~bound]
    if value is None:
        column, bound, free = 1, object_, subject
        value = bound if bound >= 0 else slots[~bound]
    if value is None:
        return None
    if rows is None:
        return Matches(0, triple, bound, free, None)
    if isinstance(value, int):
        ranges = rows.ranges(column, np.array((value,)))
        return Matches(ranges.total * length, triple, bound, free, ranges)
    ranges = rows.ranges(column, value)
    return Matches(ranges.total, triple, bound, free, ranges)


def _extend(matches: Matches, slots: Slots, length: int) -> int:
    """Bind the free end of a triple; returns the number of bindings."""
    which, others = (_NOTHING, _NOTHING) if matches.rows is None else matches.rows.window(0, None)
    if matches.bound >= 0 and length > 1:
        which = np.repeat(np.arange(length), len(others))
        others = np.tile(others, length)
    _take(slots, which)
    slots[~matches.free] = others
    return len(others)
