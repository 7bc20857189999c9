"""The terms of one query: those of the knowledge base, and those that the query mentions or computes.

A query adds nothing to the dictionary. The ids of its own terms start at the size that the dictionary had when the
query began, so no fact contains them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.kernel.rows import Ints
from tidelog.model.terms import Term

UNBOUND = -1


class Overlay:
    """Term <-> id for one query. The id -1 stands for no term."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.start = len(dictionary)
        self._own: list[Term] = []
        self._ids: dict[Term, int] = {}

    def encode(self, term: Term) -> int:
        known = self._ids.get(term)
        if known is None:
            found = self.dictionary.lookup(term)
            known = self._new(term) if found is None or found >= self.start else found
            self._ids[term] = known
        return known

    def _new(self, term: Term) -> int:
        self._own.append(term)
        return self.start + len(self._own) - 1

    def encode_many(self, terms: Iterable[Term | None]) -> Ints:
        """The ids of the terms; -1 for None. Terms may repeat."""
        listed = list(terms)
        if len(listed) > tuning.SINGLY_ENCODED_TERMS:
            self._look_up({t for t in listed if t is not None} - self._ids.keys())
        return np.array([UNBOUND if t is None else self.encode(t) for t in listed], dtype=np.int64)

    def _look_up(self, terms: set[Term]) -> None:
        several = list(terms)
        found = self.dictionary.lookup_many(pa.array([t.encode() for t in several], pa.binary()))
        for term, id_ in zip(several, found.tolist(), strict=True):
            self._ids[term] = self._new(term) if id_ < 0 or id_ >= self.start else id_

    def decode(self, id_: int) -> Term:
        return self._own[id_ - self.start] if id_ >= self.start else self.dictionary.decode(id_)

    def decode_many(self, ids: Ints) -> list[Term | None]:
        """The terms of the ids; None for -1."""
        if len(ids) <= tuning.SINGLY_ENCODED_TERMS:
            return [self.decode(i) if i >= 0 else None for i in ids.tolist()]
        if not self._own and (not len(ids) or int(ids.min()) >= 0):
            return list(self.dictionary.decode_many(ids))
        terms: list[Term | None] = [None] * len(ids)
        known = np.flatnonzero((ids >= 0) & (ids < self.start))
        for at, term in zip(known.tolist(), self.dictionary.decode_many(ids[known]), strict=True):
            terms[at] = term
        for at in np.flatnonzero(ids >= self.start).tolist():
            terms[at] = self._own[int(ids[at]) - self.start]
        return terms

    def decode_array(self, ids: Ints) -> pa.Array:
        """The terms of the ids as an Arrow binary array; null for -1."""
        if not len(ids) or (int(ids.min()) >= 0 and int(ids.max()) < self.start):
            return self.dictionary.decode_array(ids)
        kind = pa.large_binary()
        own_terms = pa.array([t.encode() for t in self._own], kind)
        inside = (ids >= 0) & (ids < self.start)
        parts = [self.dictionary.decode_array(ids[inside]).cast(kind), own_terms, pa.nulls(1, kind)]
        place = np.empty(len(ids), dtype=np.int64)
        count = int(np.count_nonzero(inside))
        place[inside] = np.arange(count)
        own = ids >= self.start
        place[own] = ids[own] - self.start + count
        place[ids < 0] = count + len(self._own)
        return pa.concat_arrays(parts).take(pa.array(place))

    def __len__(self) -> int:
        return self.start + len(self._own)
