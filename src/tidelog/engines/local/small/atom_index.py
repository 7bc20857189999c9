"""Many atoms at once: which atoms the facts of a small set match, and the facts made from these matches.

An ontology has hundreds of rules, and a small change concerns few of them. To test each rule costs more than to run the
few. So one search finds the atoms of all facts of a small set, by relation and by relation and constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import WHOLE, Relation
from tidelog.kernel.lookup import WIDTH, CodedRows, cuts, encode
from tidelog.kernel.rows import Ints
from tidelog.model.terms import TRIPLE, Term
from tidelog.rules.syntax import Aggregate, Atom, Variable

AtomArgument = Variable | Term | Aggregate


@dataclass(frozen=True)
class NarrowAtom:
    """An atom of a known relation with at most two columns; a single column is the second one."""

    relation: Relation
    number: int
    args: tuple[AtomArgument | None, AtomArgument | None]

    @staticmethod
    def of(atom: Atom, dictionary: Dictionary) -> NarrowAtom | None:
        """The narrow form of an atom; None if it has none, such as a triple whose predicate is a variable."""
        relation, args = (atom.predicate, WHOLE), atom.args
        if atom.predicate == TRIPLE:
            subject, predicate, object_ = args
            if not isinstance(predicate, str):
                return None
            relation, args = (TRIPLE, dictionary.encode(predicate)), (subject, object_)
        number = dictionary.relations.number(relation, len(args))
        if number is None:
            return None
        padded: list[AtomArgument | None] = [*[None] * (WIDTH - len(args)), *args]
        return NarrowAtom(relation, number, (padded[0], padded[1]))

    def filled(self) -> list[AtomArgument]:
        """The arguments without padding."""
        return [a for a in self.args if a is not None]

    def constants(self) -> list[int]:
        """The columns that hold a constant."""
        return [i for i, a in enumerate(self.args) if isinstance(a, str)]

    def variables(self) -> list[Variable]:
        return [a for a in self.args if isinstance(a, Variable)]

    @property
    def is_plain(self) -> bool:
        """Whether each fact that the index finds is a match: no variable twice, at most one constant."""
        variables = self.variables()
        return (
            len(self.constants()) <= 1
            and len(set(variables)) == len(variables)
            and not any(isinstance(a, Aggregate) for a in self.args)
        )

    def is_made_of(self, matched: NarrowAtom) -> bool:
        """Whether each argument is a constant, a variable of `matched`, or a variable that occurs once."""
        variables = [v for v in self.variables() if v not in matched.args]
        return len(set(variables)) == len(variables) and not any(isinstance(a, Aggregate) for a in self.args)


class _ConstantIndex:
    """The constants in one column of a relation, and their keys."""

    def __init__(self, column: int, keys: Mapping[int, int]) -> None:
        self._column = column
        self._values = np.array(sorted(keys), dtype=np.int64)
        self._keys = [keys[value] for value in self._values.tolist()]
        # numpy has a radix sort for 16 bits, ten times as fast as its sort for 64 bits
        self._small = np.int16 if len(keys) < 1 << 15 else np.int64

    def found(self, facts: CodedRows, start: int, stop: int) -> Iterator[tuple[int, Ints]]:
        """`AtomIndex.found` for the facts from `start` up to `stop`, which are those of the relation."""
        values = (facts.second if self._column else facts.first)[start:stop]
        at = self._values.searchsorted(values)
        hits = (self._values.take(at, mode="clip") == values).nonzero()[0]
        which = at[hits].astype(self._small)
        order = which.argsort(kind="stable")
        positions = hits[order] + start
        for number, first, last in cuts(which[order]):
            yield self._keys[number], positions[first:last]


class AtomIndex:
    """Finds the atoms that facts may match. An atom that `is_plain` is found for exactly the facts that match it.

    Atoms are grouped by key: a relation, or a relation with a constant in one of its columns.
    """

    def __init__(self, dictionary: Dictionary, atoms: Sequence[Atom]) -> None:
        self._relations = dictionary.relations.known
        self.atoms: list[list[int]] = []  # by the number of their key
        self.anywhere: list[int] = []  # triples whose predicate is a variable
        self._plain: dict[int, int] = {}  # by relation, the key without a constant
        by_column: dict[tuple[int, int], dict[int, int]] = {}  # by relation and column, the keys with a constant there
        for i, atom in enumerate(atoms):
            narrow = NarrowAtom.of(atom, dictionary)
            if narrow is None:
                if atom.predicate == TRIPLE:
                    self.anywhere.append(i)
                continue  # coded facts have no wider relations
            place = next(iter(narrow.constants()), None)
            if place is None:
                key = self._plain.setdefault(narrow.number, len(self.atoms))
            else:
                keys = by_column.setdefault((narrow.number, place), {})
                key = keys.setdefault(dictionary.encode(narrow.args[place]), len(self.atoms))  # type: ignore[arg-type]
            if key == len(self.atoms):
                self.atoms.append([])
            self.atoms[key].append(i)
        self._columns: dict[int, list[_ConstantIndex]] = {}
        for (number, column), keys in by_column.items():
            self._columns.setdefault(number, []).append(_ConstantIndex(column, keys))

    def found(self, facts: CodedRows) -> Iterator[tuple[int, Ints]]:
        """For each key that facts have: the number of the key, and the positions of these facts."""
        for number, (start, stop) in facts.segments.items():
            plain = self._plain.get(number)
            if plain is not None:
                yield plain, np.arange(start, stop)
            for constants in self._columns.get(number, ()):
                yield from constants.found(facts, start, stop)

    def has_triples(self, facts: CodedRows) -> bool:
        """Whether there are triples, which the atoms in `anywhere` may match."""
        return any(self._relations[number][0][0] == TRIPLE for number in facts.segments)


class Templates:
    """Atoms whose arguments come from a fact that another atom matched: `Q(y, c)` from `P(x, y)`."""

    def __init__(self, dictionary: Dictionary, pairs: Iterable[tuple[NarrowAtom, NarrowAtom]]) -> None:
        """`pairs` are a matched atom and the atom to make; a variable that the match does not bind becomes 0."""
        pairs = list(pairs)
        self.relations = np.array([made.number for _, made in pairs], dtype=np.int64)
        places = [[_place(made.args[c], matched) for matched, made in pairs] for c in range(WIDTH)]
        constants = [[_constant(made.args[c], dictionary) for _, made in pairs] for c in range(WIDTH)]
        self.places, self.constants = np.array(places, dtype=np.int64), np.array(constants, dtype=np.int64)
        # For each column: the column of the fact that all templates take it from (1 or 2), or 0 if they differ.
        self.alike = [p[0] if len(set(p)) == 1 else 0 for p in places]
        self._fixed: tuple[int, Ints] | None = None

    def column(self, number: int, facts: CodedRows, fact: Ints, template: Ints) -> Ints:
        """Column `number` of the atoms made from pairs (fact, template)."""
        values = self._given(number, facts, fact, template)
        return values if self.alike[number] else values | self.constants[number][template]

    def codes(self, facts: CodedRows, fact: Ints, template: Ints) -> Ints:
        """The codes of the atoms made from pairs (fact, template)."""
        bits = facts.bits
        if self._fixed is None or self._fixed[0] != bits:
            self._fixed = bits, encode(bits, self.relations, *self.constants)
        first, second = (self._given(number, facts, fact, template) for number in range(WIDTH))
        return self._fixed[1][template] | first << bits | second

    def _given(self, number: int, facts: CodedRows, fact: Ints, template: Ints) -> Ints:
        """The values of a column that come from the facts; 0 where the column is a constant."""
        if self.alike[number]:
            return (facts.first, facts.second)[self.alike[number] - 1][fact]
        values: Ints = facts.stacked.take(self.places[number][template] * len(facts) + fact)
        return values


def _place(arg: AtomArgument | None, matched: NarrowAtom) -> int:
    """The column of the matched fact that the argument comes from: 1 or 2, or 0 for none."""
    return matched.args.index(arg) + 1 if isinstance(arg, Variable) and arg in matched.args else 0


def _constant(arg: AtomArgument | None, dictionary: Dictionary) -> int:
    return dictionary.encode(arg) if isinstance(arg, str) else 0
