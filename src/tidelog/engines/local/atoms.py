"""Many atoms at once: which of them the facts of a small set match, and the facts they stand for once they did.

An ontology gives hundreds of rules, and a small change concerns few of them. Asking rule by rule costs more than the
answer, so atoms are looked up by relation, and by relation and constant, for all facts of a small set in one search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.engines.local.relations import WHOLE, Numbering, Relation
from tidelog.kernel.mixed import WIDTH, Mixed, encode
from tidelog.kernel.rows import Ints, Mask, expand
from tidelog.model.terms import Term
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Aggregate, Atom, Variable

Argument = Variable | Term | Aggregate

_HALF = 32
_IN_COLUMN = (1 << 61, 1 << 62)  # what tells keys with a constant from those without, by its column
_NUMBER = (1 << 29) - 1  # of a relation, once the rest of a key is shifted away


@dataclass(frozen=True)
class Narrow:
    """An atom of a known relation with at most two columns; the only column is the second."""

    relation: Relation
    number: int
    args: tuple[Argument | None, Argument | None]

    @staticmethod
    def of(atom: Atom, dictionary: Dictionary) -> Narrow | None:
        """None for an atom of another kind, such as a triple whose predicate is a variable."""
        relation, args = (atom.predicate, WHOLE), atom.args
        if atom.predicate == TRIPLE:
            subject, predicate, object_ = args
            if not isinstance(predicate, str):
                return None
            relation, args = (TRIPLE, dictionary.encode(predicate)), (subject, object_)
        number = Numbering.of(dictionary).number(relation, len(args))
        if number is None:
            return None
        padded: list[Argument | None] = [*[None] * (WIDTH - len(args)), *args]
        return Narrow(relation, number, (padded[0], padded[1]))

    def filled(self) -> list[Argument]:
        """The arguments it has."""
        return [a for a in self.args if a is not None]

    def constants(self) -> list[int]:
        return [i for i, a in enumerate(self.args) if isinstance(a, str)]

    def variables(self) -> list[Variable]:
        return [a for a in self.args if isinstance(a, Variable)]

    @property
    def is_plain(self) -> bool:
        """Whether a fact matches it just because the index says so: no variable twice, at most one constant."""
        variables = self.variables()
        return (
            len(self.constants()) <= 1
            and len(set(variables)) == len(variables)
            and not any(isinstance(a, Aggregate) for a in self.args)
        )

    def is_made_of(self, matched: Narrow) -> bool:
        """Whether its arguments are constants, variables of the matched atom, or variables that occur once."""
        variables = [v for v in self.variables() if v not in matched.args]
        return len(set(variables)) == len(variables) and not any(isinstance(a, Aggregate) for a in self.args)


class AtomIndex:
    """Finds the atoms that facts may match. An atom that `is_plain` is found for exactly the facts that match it."""

    def __init__(self, dictionary: Dictionary, atoms: Sequence[Atom]) -> None:
        self.numbering = Numbering.of(dictionary)
        by_key: dict[int, list[int]] = {}
        self.anywhere: list[int] = []  # triples whose predicate is a variable
        with_constant: dict[int, set[int]] = {}  # by column, the relations of atoms that have one there
        for i, atom in enumerate(atoms):
            narrow = Narrow.of(atom, dictionary)
            if narrow is None:
                if atom.predicate == TRIPLE:
                    self.anywhere.append(i)
                continue  # small sets have no facts of wider relations
            place = next(iter(narrow.constants()), None)
            key = narrow.number << _HALF
            if place is not None:
                with_constant.setdefault(place, set()).add(narrow.number)
                key |= _IN_COLUMN[place] | dictionary.encode(narrow.args[place])  # type: ignore[arg-type]
            by_key.setdefault(key, []).append(i)
        keys = sorted(by_key)
        # By the number of a relation, and at the end for all that came later: the key without a constant, or -1.
        self._plain = np.full(2 + max((k >> _HALF & _NUMBER for k in keys), default=0), -1, dtype=np.int64)
        for i, key in enumerate(keys):
            if key < _IN_COLUMN[0]:
                self._plain[key >> _HALF] = i
        self._columns: list[tuple[int, Mask]] = []  # and which relations have keys with a constant in a column
        for column, numbers in with_constant.items():
            some = np.zeros(len(self._plain), dtype=np.bool_)
            some[list(numbers)] = True
            self._columns.append((column, some))
        self._keys = np.array(keys, dtype=np.int64)
        self._counts = np.array([len(by_key[k]) for k in keys], dtype=np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._atoms = np.array([i for k in keys for i in by_key[k]], dtype=np.int64)

    def matches(self, facts: Mixed, useful: Mask | None = None) -> tuple[Ints, Ints]:
        """Pairs (position of a fact, number of an atom), only of atoms that are useful."""
        starts, counts, atoms = self._starts, self._counts, self._atoms
        fact, key = self._found(facts)
        if not len(fact):
            return atoms[:0], atoms[:0]
        if useful is not None and not useful.all():
            kept = useful[atoms]
            atoms, counts = atoms[kept], np.add.reduceat(kept, starts, dtype=np.int64)
            starts = np.cumsum(counts) - counts
        counts = counts[key]
        which, positions = expand(starts[key], counts, int(counts.sum()))
        return fact[which], atoms[positions]

    def _found(self, facts: Mixed) -> tuple[Ints, Ints]:
        """Pairs (position of a fact, number of a key): a key is what some atoms have in common."""
        relations = facts.relations
        plain = self._plain.take(relations, mode="clip")
        at = (plain >= 0).nonzero()[0]
        found, keys = [at], [plain[at]]
        for column, some in self._columns:
            at = some.take(relations, mode="clip").nonzero()[0]
            if len(at):
                values = (facts.second if column else facts.first)[at]
                asked = values | relations[at] << _HALF | _IN_COLUMN[column]
                key = self._keys.searchsorted(asked)
                hits = (self._keys.take(key, mode="clip") == asked).nonzero()[0]
                found.append(at[hits])
                keys.append(key[hits])
        return np.concatenate(found), np.concatenate(keys)

    def has_triples(self, facts: Mixed) -> bool:
        """Whether the atoms in `anywhere` have something to match."""
        return any(self.numbering.relations[number][0][0] == TRIPLE for number in facts.segments)


class Templates:
    """Atoms whose arguments are known from a fact that another atom matched: `Q(y, c)` from `P(x, y)`."""

    def __init__(self, dictionary: Dictionary, pairs: Iterable[tuple[Narrow, Narrow]]) -> None:
        """Pairs of a matched atom and the atom that is made; a variable that the match does not give becomes 0."""
        pairs = list(pairs)
        self.relations = np.array([made.number for _, made in pairs], dtype=np.int64)
        places = [[_place(made.args[c], matched) for matched, made in pairs] for c in range(WIDTH)]
        constants = [[_constant(made.args[c], dictionary) for _, made in pairs] for c in range(WIDTH)]
        self.places, self.constants = np.array(places, dtype=np.int64), np.array(constants, dtype=np.int64)
        # Where all templates take a column from the same one of the fact: that one.
        self.alike = [p[0] if len(set(p)) == 1 else 0 for p in places]
        self._fixed: tuple[int, Ints] | None = None

    def column(self, number: int, facts: Mixed, fact: Ints, template: Ints) -> Ints:
        """One column of the atoms made from pairs (fact, template)."""
        values = self._given(number, facts, fact, template)
        return values if self.alike[number] else values | self.constants[number][template]

    def codes(self, facts: Mixed, fact: Ints, template: Ints) -> Ints:
        """The atoms made from pairs (fact, template)."""
        bits = facts.bits
        if self._fixed is None or self._fixed[0] != bits:
            self._fixed = bits, encode(bits, self.relations, *self.constants)
        first, second = (self._given(number, facts, fact, template) for number in range(WIDTH))
        return self._fixed[1][template] | first << bits | second

    def _given(self, number: int, facts: Mixed, fact: Ints, template: Ints) -> Ints:
        """What the facts give to a column; 0 where it is a constant."""
        if self.alike[number]:
            return (facts.first, facts.second)[self.alike[number] - 1][fact]
        values: Ints = facts.stacked.take(self.places[number][template] * len(facts) + fact)
        return values


def _place(arg: Argument | None, matched: Narrow) -> int:
    """Which column of the matched fact gives the argument: 1 or 2, or 0 for none."""
    return matched.args.index(arg) + 1 if isinstance(arg, Variable) and arg in matched.args else 0


def _constant(arg: Argument | None, dictionary: Dictionary) -> int:
    return dictionary.encode(arg) if isinstance(arg, str) else 0
