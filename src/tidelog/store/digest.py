"""One number for a set of facts, independent of their order: the sum of the hashes of the facts.

    h(fact) = h(predicate, arity), stirred with the hash of each argument's text
    digest  = the sums of two mixes of h over all facts, modulo 2**64

So the digest after a change can be computed from the digest before it and the change. Equal sets have equal digests,
independent of algorithm, engine, ids and batches. A digest detects damage and mistakes, not forgery.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple, Self

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import Hashes, hash_many, hash_one
from tidelog.engines.local.facts import LocalFacts
from tidelog.kernel.rows import Ints
from tidelog.model.terms import TRIPLE, Fact

_MASK = 2**64 - 1
_STIR = 0x9FB21C651E98DF25
_FINISH = (0xD6E8FEB86659FD93, 0xA0761D6478BD642F)


class FactSum(NamedTuple):
    """The digest of a set of facts. The digest of the union of two disjoint sets is `a.plus(b)`."""

    first: int = 0
    second: int = 0

    def plus(self, other: FactSum) -> Self:
        return self._replace(first=(self.first + other.first) & _MASK, second=(self.second + other.second) & _MASK)

    def minus(self, other: FactSum) -> Self:
        return self._replace(first=(self.first - other.first) & _MASK, second=(self.second - other.second) & _MASK)


def digest(explicit: FactSum, facts: FactSum, rules: Iterable[str]) -> str:
    """The digest of a knowledge base: explicit facts, all facts, and rules in any order, as 32 hexadecimal digits."""
    text = "\n".join([*map(str, (*explicit, *facts)), *sorted(rules)])
    return blake2b(text.encode(), digest_size=16).hexdigest()


def sum_of(facts: Iterable[Fact]) -> FactSum:
    """The digest, fact by fact: the specification of `sum_of_facts`."""
    total = FactSum()
    for fact in facts:
        h = _seed(fact.predicate, len(fact.args))
        for arg in fact.args:
            h = ((h ^ hash_one(arg.encode())) * _STIR) & _MASK
            h ^= h >> 29
        total = total.plus(FactSum(*(_finish(h, factor) for factor in _FINISH)))
    return total


def _finish(h: int, factor: int) -> int:
    h = (h * factor) & _MASK
    return h ^ (h >> 32)


def _seed(predicate: str, arity: int) -> int:
    return int.from_bytes(blake2b(f"{arity} {predicate}".encode(), digest_size=8).digest(), "little")


def sum_of_facts(facts: LocalFacts) -> FactSum:
    """The digest, computed on whole columns."""
    total, hashes = FactSum(), TermHashes(facts.dictionary)
    for (predicate, split), table in facts.tables.items():
        columns: list[Ints | int] = list(table.columns())
        if predicate == TRIPLE:
            columns.insert(1, split)
        total = total.plus(_sum_of_columns(predicate, columns, len(table), hashes))
    return total


def _sum_of_columns(predicate: str, columns: Sequence[Ints | int], length: int, hashes: TermHashes) -> FactSum:
    total = FactSum()
    for start in range(0, length, tuning.DIGEST_ROWS):
        rows = min(tuning.DIGEST_ROWS, length - start)
        h = np.full(rows, _seed(predicate, len(columns)), dtype=np.uint64)
        for column in columns:
            h ^= hashes.of(column if isinstance(column, int) else column[start : start + rows], length)
            h *= np.uint64(_STIR)
            h ^= h >> np.uint64(29)
        total = total.plus(FactSum(*(_finished(h, factor) for factor in _FINISH)))
    return total


def _finished(h: Hashes, factor: int) -> int:
    mixed = h * np.uint64(factor)
    mixed ^= mixed >> np.uint64(32)
    return int(mixed.sum(dtype=np.uint64))


class TermHashes:
    """The hashes of terms by id. Hashes all terms at once for many rows, else only the requested ones."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._all: Hashes | None = None
        self._one: dict[int, int] = {}

    def of(self, ids: Ints | int, rows: int) -> Hashes | np.uint64:
        if isinstance(ids, int):
            return np.uint64(self._hash_one(ids))
        if self._all is None and 8 * rows > len(self._dictionary):
            self._all = _hash_range(self._dictionary)
        if self._all is not None:
            return self._all[ids]
        if len(ids) <= tuning.SINGLY_DIGESTED:
            return np.array([self._hash_one(i) for i in ids.tolist()], dtype=np.uint64)
        return hash_many(self._dictionary.decode_array(ids))

    def _hash_one(self, id_: int) -> int:
        if id_ not in self._one:
            self._one[id_] = hash_one(self._dictionary.decode(id_).encode())
        return self._one[id_]


def _hash_range(dictionary: Dictionary) -> Hashes:
    parts = [hash_many(array) for _, array in dictionary.arrays(0)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)
