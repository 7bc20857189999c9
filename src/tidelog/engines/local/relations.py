"""Relations as tables know them, and the numbers that small sets of facts use for them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from weakref import WeakKeyDictionary, ref

from tidelog.dictionary import Dictionary
from tidelog.kernel.mixed import WIDTH, bits_for

# (predicate, id of the triple's predicate, or -1 for any relation but `triple`)
Relation = tuple[str, int]
WHOLE = -1


class Numbering:
    """Relations of at most two columns, numbered as they come; one for each dictionary."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Relation, int], int] = {}
        self._lock = Lock()
        self.relations: list[tuple[Relation, int]] = []  # relation and number of columns, by number

    @staticmethod
    def of(dictionary: Dictionary) -> Numbering:
        global _last
        known, numbering = _last
        if known() is not dictionary:
            found = _NUMBERINGS.get(dictionary)
            numbering = _NUMBERINGS.setdefault(dictionary, Numbering()) if found is None else found
            _last = ref(dictionary), numbering
        return numbering

    def number(self, relation: Relation, arity: int) -> int | None:
        """None for a relation that is too wide."""
        number = self._numbers.get((relation, arity))
        return self._new(relation, arity) if number is None and arity <= WIDTH else number

    def _new(self, relation: Relation, arity: int) -> int:
        with self._lock:
            if (relation, arity) not in self._numbers:
                self.relations.append((relation, arity))
                self._numbers[relation, arity] = len(self.relations) - 1
            return self._numbers[relation, arity]

    def bits(self, ids: int) -> int | None:
        """How many bits ids take in codes now that there are so many; None where codes cannot be used."""
        return bits_for(ids, len(self.relations))


_NUMBERINGS: WeakKeyDictionary[Dictionary, Numbering] = WeakKeyDictionary()
_last: tuple[Callable[[], Dictionary | None], Numbering] = (lambda: None), Numbering()  # asked for again and again
