"""The dictionary: terms to dense ids in order of arrival, and back, for one term or for millions at once.

The texts are in an arena (`arena`). An open-addressing hash table with one 64-bit word per slot finds their ids:

    word = tag << 32 | id + 1      0 is an empty slot; the tag is the high half of the hash and also selects the slot

Probing is linear. If a slot has the right tag, the texts are compared: a collision costs time but never gives a wrong
id. A word contains its tag, so a larger table is filled without reading texts. Terms are never deleted. A term of 55
characters takes about 75 to 85 bytes in total.

Writers take a lock, readers do not: a writer stores a text before the slot that points to it, and builds a larger table
completely before it replaces the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock, RLock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidelog import tuning
from tidelog.dictionary.arena import Chunk, Hashes, Hashing, Ids, TermTexts, indices
from tidelog.errors import LimitError
from tidelog.kernel.lookup import WIDTH, bits_for
from tidelog.model.terms import Term

MAX_TERMS = 2**31 - 1
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


class Dictionary:
    """Term <-> id.

    >>> d = Dictionary()
    >>> d.encode(Term("<ann>")), d.encode(Term("<bob>")), d.encode(Term("<ann>"))
    (0, 1, 0)
    >>> d.decode(1), d.lookup(Term("<cid>"))
    ('<bob>', None)
    """

    def __init__(self, hashing: Hashing | None = None) -> None:
        self._hashing = hashing or Hashing()
        self._texts = TermTexts()
        self._table = _HashTable(np.zeros(64, dtype=np.uint64))
        self._lock = RLock()
        self._encoded: dict[Term, int] = {}  # a cache, mostly of the constants of rules
        self.relations = RelationNumbers()

    @classmethod
    def stored(cls, chunks: Sequence[Chunk], slots: Hashes) -> Dictionary:
        """The dictionary with these chunks and slots, which `chunks` and `slots` of an equal one returned."""
        dictionary = cls()
        total = chunks[-1].start + len(chunks[-1]) if chunks else 0
        dictionary._texts = TermTexts(tuple(chunks), tuple(c.start for c in chunks), [], total)
        dictionary._table = _HashTable(slots)
        return dictionary

    def copy(self) -> Dictionary:
        """A dictionary with the same terms. Terms that are added to one of the two are not in the other."""
        copy = Dictionary(self._hashing)
        with self._lock:
            chunks = self.chunks()
            copy._texts = TermTexts(chunks, self._texts.starts, [], len(self))
            copy._table = _HashTable(self.slots.copy())
            copy.relations = self.relations.copy()
        return copy

    @contextmanager
    def alone(self) -> Iterator[None]:
        """In this block no other thread adds terms."""
        with self._lock:
            yield

    def chunks(self) -> tuple[Chunk, ...]:
        """All texts, in order of their ids."""
        with self._lock:
            self._texts = self._texts.flushed()
            return self._texts.chunks

    @property
    def slots(self) -> Hashes:
        """The hash table."""
        return self._table.slots

    def snapshot(self) -> tuple[int, Hashes]:
        """The number of terms, and a copy of the slots of exactly these terms."""
        with self._lock:
            return len(self), self.slots.copy()

    def arrays(self, start: int, stop: int | None = None) -> Iterator[tuple[int, pa.Array]]:
        """The texts of ids from `start` up to `stop` (None: up to the last) as binary arrays: (first id, array)."""
        return self._texts.arrays(start, len(self) if stop is None else stop)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def nbytes(self) -> int:
        """Bytes of memory for texts and hash table."""
        return self._texts.nbytes + self._table.slots.nbytes

    def lookup(self, term: Term) -> int | None:
        """The id of a term; None if it was never encoded."""
        return self._find(term, self._hashing.one(term.encode()))

    def _find(self, term: Term, hash_: int) -> int | None:
        table = self._table
        words, capacity = table.words, table.capacity
        tag = hash_ >> 32
        slot = tag * capacity >> 32
        while word := words[slot]:
            if word >> 32 == tag and self._texts.text((word & 0xFFFFFFFF) - 1) == term:
                return (word & 0xFFFFFFFF) - 1
            slot = slot + 1 if slot + 1 < capacity else 0
        return None

    def encode(self, term: Term) -> int:
        """The id of a term; a new id if it has none."""
        id_ = self._encoded.get(term)
        if id_ is None:
            id_ = self._encode(term, self._hashing.one(term.encode()))
            if len(self._encoded) >= tuning.REMEMBERED_TERMS:
                self._encoded.clear()
            self._encoded[term] = id_
        return id_

    def _encode(self, term: Term, hash_: int) -> int:
        found = self._find(term, hash_)
        if found is not None:
            return found
        with self._lock:
            found = self._find(term, hash_)
            return self._insert(term, hash_) if found is None else found

    def _insert(self, term: Term, hash_: int) -> int:
        id_ = len(self._texts)
        self._make_room(1)
        self._texts = self._texts.append(term)
        self._table.place_one(hash_ >> 32 << 32 | (id_ + 1))
        return id_

    def decode(self, id_: int) -> Term:
        """The term of an id."""
        if id_ < 0:
            raise IndexError(id_)
        return Term(self._texts.text(id_))

    def encode_many(self, terms: pa.Array) -> Ids:
        """The ids of distinct terms (UTF-8 in a binary array); new terms get ids in the order of the array."""
        hashes = self._hashing.many(terms)
        with self._lock:
            ids = self._find_many(terms, hashes)
            missing = np.flatnonzero(ids < 0)
            if len(missing):
                new = terms if len(missing) == len(terms) else terms.take(indices(missing))
                ids[missing] = self._insert_many(new, hashes[missing])
            return ids

    def _insert_many(self, terms: pa.Array, hashes: Hashes) -> Ids:
        if _has_repeats(hashes) and len(distinct := pc.unique(terms)) < len(terms):
            positions: Ids = pc.index_in(terms, distinct).to_numpy()
            ids = self._insert_many(distinct, self._hashing.many(distinct))
            return ids[positions]
        ids = np.arange(len(self), len(self) + len(terms), dtype=np.int64).astype(np.int32)
        self._make_room(len(terms))
        self._texts = self._texts.extend(terms)
        self._table.place((hashes >> _HALF << _HALF) | (ids.astype(np.uint64) + np.uint64(1)))
        return ids

    def lookup_many(self, terms: pa.Array) -> Ids:
        """The ids of terms, -1 for a term that was never encoded."""
        return self._find_many(terms, self._hashing.many(terms))

    def _find_many(self, terms: pa.Array, hashes: Hashes) -> Ids:
        table, tags = self._table, hashes >> _HALF
        ids = np.full(len(terms), -1, dtype=np.int32)
        rows, slots = np.arange(len(terms)), table.first_slots(tags)
        while len(rows):
            words = table.slots[slots]
            full = words != 0
            rows, slots, words = rows[full], slots[full], words[full]
            alike = np.flatnonzero((words >> _HALF) == tags[rows])
            candidates = ((words[alike] & _LOW) - np.uint64(1)).astype(np.int32)
            same = self._same(terms, rows[alike], candidates)
            ids[rows[alike[same]]] = candidates[same]
            unknown = ids[rows] < 0
            rows, slots = rows[unknown], table.next_slots(slots[unknown])
        return ids

    def _same(self, terms: pa.Array, rows: npt.NDArray[np.int64], ids: Ids) -> npt.NDArray[np.bool_]:
        """For each i, whether `terms[rows[i]]` is the text of `ids[i]`."""
        same = np.zeros(len(rows), dtype=np.bool_)
        if not len(rows):
            return same
        whole = len(rows) == len(terms)
        for at, array, positions in self._texts.spread(ids):
            known = array.take(indices(positions))
            asked = terms if whole and len(at) == len(rows) else terms.take(indices(rows[at]))
            same[at] = pc.equal(known, asked.cast(known.type)).to_numpy(zero_copy_only=False)
        return same

    def decode_array(self, ids: npt.NDArray[np.integer]) -> pa.Array:
        """The texts of ids, as an Arrow binary array."""
        return self._texts.take(np.asarray(ids, dtype=np.int32))

    def decode_many(self, ids: npt.NDArray[np.integer] | Sequence[int]) -> list[Term]:
        """The terms of ids."""
        array = self.decode_array(np.asarray(ids, dtype=np.int32))
        kind = pa.large_string() if pa.types.is_large_binary(array.type) else pa.string()
        terms: list[Term] = array.view(kind).to_pylist()
        return terms

    def _make_room(self, count: int) -> None:
        """Replace the hash table by a larger one if `count` more terms would fill it too much."""
        needed = len(self) + count
        if needed > MAX_TERMS:
            raise LimitError(f"the dictionary is full: {needed:,} terms, at most {MAX_TERMS:,} are possible")
        if needed <= self._table.capacity * tuning.HASH_LOAD:
            return
        capacity = int(max(needed / tuning.HASH_LOAD, self._table.capacity * tuning.HASH_GROWTH)) + 1
        table = _HashTable(np.zeros(capacity, dtype=np.uint64))
        table.place(self._table.slots[self._table.slots != 0])
        self._table = table


class _HashTable:
    """The slots as a numpy array for bulk work and as a memoryview for fast single reads."""

    __slots__ = ("capacity", "slots", "words")

    def __init__(self, slots: Hashes) -> None:
        self.capacity = len(slots)
        self.slots = slots
        self.words = memoryview(self.slots.data)

    def first_slots(self, tags: Hashes) -> npt.NDArray[np.int64]:
        return ((tags * np.uint64(self.capacity)) >> _HALF).astype(np.int64)

    def next_slots(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        after = slots + 1
        after[after == self.capacity] = 0
        return after

    def place_one(self, word: int) -> None:
        slot = (word >> 32) * self.capacity >> 32
        while self.words[slot]:
            slot = slot + 1 if slot + 1 < self.capacity else 0
        self.words[slot] = word

    def place(self, words: Hashes) -> None:
        """Put new words into free slots. Of several words for one slot one gets it; the others try the next slot."""
        slots = self.first_slots(words >> _HALF)
        while len(words) > tuning.SINGLY_HASHED:
            free = self.slots[slots] == 0
            self.slots[slots[free]] = words[free]
            unplaced = self.slots[slots] != words
            words, slots = words[unplaced], self.next_slots(slots[unplaced])
        for word in words.tolist():
            self.place_one(word)


def _has_repeats(hashes: Hashes) -> bool:
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


class RelationNumbers:
    """Relation <-> number for relations of at most `WIDTH` columns, so that one array can hold facts of several.

    A relation is (predicate, id), see `tidelog.engines.local.facts`; an array of several is a `CodedRows`.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[tuple[str, int], int], int] = {}
        self._lock = Lock()
        self.known: list[tuple[tuple[str, int], int]] = []  # relation and number of columns, by number

    def copy(self) -> RelationNumbers:
        """The same numbers; later ones are independent."""
        copy = RelationNumbers()
        with self._lock:
            copy.known, copy._numbers = self.known.copy(), self._numbers.copy()
        return copy

    def number(self, relation: tuple[str, int], arity: int) -> int | None:
        """The number of a relation, a new one if it has none; None if it has too many columns."""
        number = self._numbers.get((relation, arity))
        return self._new(relation, arity) if number is None and arity <= WIDTH else number

    def _new(self, relation: tuple[str, int], arity: int) -> int:
        with self._lock:
            if (relation, arity) not in self._numbers:
                self.known.append((relation, arity))
                self._numbers[relation, arity] = len(self.known) - 1
            return self._numbers[relation, arity]

    def bits(self, ids: int) -> int | None:
        """The width of an id in codes if there are `ids` ids; None if codes cannot be used."""
        return bits_for(ids, len(self.known))
