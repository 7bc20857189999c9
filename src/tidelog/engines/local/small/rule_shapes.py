"""Shapes of rules: what is left of a rule and one of its atoms when constants become numbers to be looked up.

    [?x, rdf:type, ub:Chair] :- [?x, rdf:type, ub:Person], [?x, ub:headOf, ?y], [?y, rdf:type, ub:Department] .

with the second atom matched first is `headOf(0, 1)`, then the checks `type(0, ~0)` and `type(1, ~1)`, and gives
`type(0, ~2)`: variables are numbered, constants too and written as the complement of their number. Rules of one shape
are one family, and all pairs of a fact and a member of the family are joined together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import Relation
from tidelog.engines.local.small.atom_index import Narrow
from tidelog.kernel.rows import Ints
from tidelog.rules.syntax import Atom, Rule, Variable

Args = tuple[int | None, int | None]


@dataclass(frozen=True)
class Place:
    """An atom: its relation, and what stands in its two columns (None where it has no such column)."""

    relation: Relation
    number: int
    args: Args

    def variables(self) -> set[int]:
        return {a for a in self.args if a is not None and a >= 0}

    def bound_column(self, bound: set[int]) -> int:
        """The one column of a place that is not bound completely."""
        return next(c for c, a in enumerate(self.args) if a in bound)


@dataclass(frozen=True)
class Step:
    """A place of the body to go on with: looked up by one column, or checked if nothing of it is open."""

    place: int
    column: int | None


@dataclass(frozen=True)
class Shape:
    """`given` are the places that a match gives; `position` is the body atom that `pivot` is."""

    pivot: Place
    body: tuple[Place, ...]
    given: tuple[Place, ...]
    position: int

    @cached_property
    def _hash(self) -> int:
        return hash((self.pivot, self.body, self.given, self.position))

    def __hash__(self) -> int:
        """Taken once: many rules have the same shape, and are asked for it again and again."""
        return self._hash

    def checks(self, bound: set[int], done: Iterable[int]) -> list[Step]:
        """The places that are bound completely."""
        return [Step(i, None) for i, p in enumerate(self.body) if i not in done and p.variables() <= bound]

    def openings(self, bound: set[int], done: Iterable[int]) -> list[Step]:
        """The places of which one column is bound by a variable, and the other is open."""
        free = [(i, p) for i, p in enumerate(self.body) if i not in done and not p.variables() <= bound]
        return [Step(i, p.bound_column(bound)) for i, p in free if p.variables() & bound]

    @lru_cache(maxsize=10_000)  # noqa: B019 - shapes are few, small and everybody's
    def plans(self) -> list[list[Step]]:
        """The orders in which the body can be joined: one for each place to open first, checks as early as may be."""
        bound = self.pivot.variables()
        first = self.checks(bound, ())
        done = [s.place for s in first]
        if len(done) == len(self.body):
            return [first]
        return [p for o in self.openings(bound, done) if (p := self._completed([*first, o], bound)) is not None]

    def _completed(self, plan: list[Step], bound: set[int]) -> list[Step] | None:
        """The plan to its end, if there is never a choice, and nothing that shares no variable."""
        while len(plan) < len(self.body):
            bound = bound | self.body[plan[-1].place].variables()
            done = [s.place for s in plan]
            steps = self.checks(bound, done) or self.openings(bound, done)
            if not steps or (len(steps) > 1 and steps[0].column is not None):
                return None
            plan = [*plan, *steps]
        return plan


@dataclass(frozen=True)
class Member:
    """A rule with the atom that is matched first, as a member of a family."""

    shape: Shape
    constants: tuple[int, ...]


def member_of(rule: Rule, position: int, dictionary: Dictionary, *, backward: bool = False) -> Member | None:
    """The rule from the atom at a position to its heads, or backward to the other atoms. None for a rule with other
    literals than narrow atoms. Remembered: rules stay when others come and go.
    """
    known = _MEMBERS.setdefault(dictionary, {})
    key = rule, position, backward
    if key not in known:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[key] = _member(rule, position, rule.atoms[1:] if backward else rule.heads, dictionary)
    return known[key]


def _member(rule: Rule, position: int, given: Sequence[Atom], dictionary: Dictionary) -> Member | None:
    if len(rule.body) != len(rule.atoms) or rule.aggregate is not None:
        return None
    atoms = [Narrow.of(a, dictionary) for a in (*rule.atoms, *given)]
    narrow = [a for a in atoms if a is not None]
    if len(narrow) < len(atoms):
        return None
    numbering = _Numbering(dictionary)
    pivot = numbering.place(narrow[position])
    body = [numbering.place(a) for i, a in enumerate(narrow[: len(rule.atoms)]) if i != position]
    heads = [numbering.place(a) for a in narrow[len(rule.atoms) :]]
    return Member(Shape(pivot, tuple(body), tuple(heads), position), tuple(numbering.constants))


_REMEMBERED = 100_000
_MEMBERS: WeakKeyDictionary[Dictionary, dict[tuple[Rule, int, bool], Member | None]] = WeakKeyDictionary()


class _Numbering:
    """Numbers variables and constants as they come; each constant is another one, or shapes would depend on values."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.variables: dict[Variable, int] = {}
        self.constants: list[int] = []

    def place(self, atom: Narrow) -> Place:
        first, second = (None if a is None else self._arg(a) for a in atom.args)
        return Place(atom.relation, atom.number, (first, second))

    def _arg(self, arg: object) -> int:
        if isinstance(arg, Variable):
            return self.variables.setdefault(arg, len(self.variables))
        assert isinstance(arg, str)
        self.constants.append(self.dictionary.encode(arg))  # type: ignore[arg-type]
        return ~(len(self.constants) - 1)


class Family:
    """Rules of one shape; the constants of its members as columns."""

    def __init__(self, shape: Shape, plans: list[list[Step]], members: Sequence[tuple[int, ...]]) -> None:
        self.shape = shape
        self.plans = plans
        self.constants: list[Ints] = list(np.array(members, dtype=np.int64).reshape(len(members), -1).T)
        filled = [a for a in shape.pivot.args if a is not None]
        # Whether a fact that `AtomIndex` finds for the pivot matches it: no variable twice, at most one constant.
        self.is_exact = len(shape.pivot.variables()) >= len(filled) - 1 and not (
            len(filled) == 2 and filled[0] == filled[1]
        )
        self.variables = 1 + max(v for p in (shape.pivot, *shape.body) for v in (*p.variables(), -1))
