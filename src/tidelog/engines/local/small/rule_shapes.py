"""Shapes of rules: a rule and the atom to match first (its pivot), with numbers instead of variables and constants.

    [?x, rdf:type, ub:Chair] :- [?x, rdf:type, ub:Person], [?x, ub:headOf, ?y], [?y, rdf:type, ub:Department] .

With the second atom as pivot this is `headOf(0, 1)`, then the checks `type(0, ~0)` and `type(1, ~1)`, and it makes
`type(0, ~2)`. Variables and constants are numbered; a constant is written as the complement of its number. Rules of one
shape are a family, and all pairs of a fact and a rule of the family are joined together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import Relation
from tidelog.engines.local.small.atom_index import NarrowAtom
from tidelog.kernel.rows import Ints
from tidelog.rules.syntax import Atom, Rule, Variable

Args = tuple[int | None, int | None]


@dataclass(frozen=True)
class ShapeAtom:
    """An atom: its relation, the number of this relation, and its arguments (None for a missing column)."""

    relation: Relation
    number: int
    args: Args

    def variables(self) -> set[int]:
        return {a for a in self.args if a is not None and a >= 0}

    def bound_column(self, bound: set[int]) -> int:
        """The first column with a bound variable."""
        return next(c for c, a in enumerate(self.args) if a in bound)


@dataclass(frozen=True)
class JoinStep:
    """The next body atom of a plan: looked up by `column`, or checked (None) if it has no free variable."""

    atom: int  # its position in the body
    column: int | None


@dataclass(frozen=True)
class RuleShape:
    """`body` are the other body atoms, `given` the atoms to make; `position` is that of the pivot in the rule."""

    pivot: ShapeAtom
    body: tuple[ShapeAtom, ...]
    given: tuple[ShapeAtom, ...]
    position: int

    @cached_property
    def _hash(self) -> int:
        return hash((self.pivot, self.body, self.given, self.position))

    def __hash__(self) -> int:
        """Computed once: shapes are looked up often."""
        return self._hash

    def checks(self, bound: set[int], done: Iterable[int]) -> list[JoinStep]:
        """Steps for the atoms without free variables."""
        return [JoinStep(i, None) for i, p in enumerate(self.body) if i not in done and p.variables() <= bound]

    def openings(self, bound: set[int], done: Iterable[int]) -> list[JoinStep]:
        """Steps for the atoms with one bound and one free variable."""
        free = [(i, p) for i, p in enumerate(self.body) if i not in done and not p.variables() <= bound]
        return [JoinStep(i, p.bound_column(bound)) for i, p in free if p.variables() & bound]

    @lru_cache(maxsize=10_000)  # noqa: B019 - shapes are few and small
    def plans(self) -> list[list[JoinStep]]:
        """Orders to join the body in: one for each atom to look up first, with checks as early as possible."""
        bound = self.pivot.variables()
        first = self.checks(bound, ())
        done = [s.atom for s in first]
        if len(done) == len(self.body):
            return [first]
        return [p for o in self.openings(bound, done) if (p := self._completed([*first, o], bound)) is not None]

    def _completed(self, plan: list[JoinStep], bound: set[int]) -> list[JoinStep] | None:
        """The complete plan; None if a step has a choice, or if an atom shares no variable with those before it."""
        while len(plan) < len(self.body):
            bound = bound | self.body[plan[-1].atom].variables()
            done = [s.atom for s in plan]
            steps = self.checks(bound, done) or self.openings(bound, done)
            if not steps or (len(steps) > 1 and steps[0].column is not None):
                return None
            plan = [*plan, *steps]
        return plan


@dataclass(frozen=True)
class ShapedRule:
    """A rule with its pivot: the shape, and the constants that the shape leaves out."""

    shape: RuleShape
    constants: tuple[int, ...]


class RuleShapes:
    """The shapes of rules for one dictionary, as a cache: most rules stay when a program changes."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._known: dict[tuple[Rule, int, bool], ShapedRule | None] = {}

    def of(self, rule: Rule, position: int, *, backward: bool = False) -> ShapedRule | None:
        """The rule from the body atom at `position` to its heads, or (`backward`) to its other body atoms.

        None if a literal of the rule is not a narrow atom.
        """
        known, key = self._known, (rule, position, backward)
        if key not in known:
            if len(known) >= tuning.SHAPED_RULES:
                known.clear()
            known[key] = self._shaped(rule, position, rule.atoms[1:] if backward else rule.heads)
        return known[key]

    def _shaped(self, rule: Rule, position: int, given: Sequence[Atom]) -> ShapedRule | None:
        if len(rule.body) != len(rule.atoms) or rule.aggregate is not None:
            return None
        atoms = [NarrowAtom.of(a, self.dictionary) for a in (*rule.atoms, *given)]
        narrow = [a for a in atoms if a is not None]
        if len(narrow) < len(atoms):
            return None
        numbering = _ShapeNumbering(self.dictionary)
        pivot = numbering.atom(narrow[position])
        body = [numbering.atom(a) for i, a in enumerate(narrow[: len(rule.atoms)]) if i != position]
        heads = [numbering.atom(a) for a in narrow[len(rule.atoms) :]]
        return ShapedRule(RuleShape(pivot, tuple(body), tuple(heads), position), tuple(numbering.constants))


class _ShapeNumbering:
    """Numbers variables and constants in order. Each constant gets its own number: shapes do not depend on values."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.variables: dict[Variable, int] = {}
        self.constants: list[int] = []

    def atom(self, atom: NarrowAtom) -> ShapeAtom:
        first, second = (None if a is None else self._arg(a) for a in atom.args)
        return ShapeAtom(atom.relation, atom.number, (first, second))

    def _arg(self, arg: object) -> int:
        if isinstance(arg, Variable):
            return self.variables.setdefault(arg, len(self.variables))
        assert isinstance(arg, str)
        self.constants.append(self.dictionary.encode(arg))  # type: ignore[arg-type]
        return ~(len(self.constants) - 1)


class RuleFamily:
    """Rules of one shape; the constants of its rules as columns."""

    def __init__(self, shape: RuleShape, plans: list[list[JoinStep]], members: Sequence[tuple[int, ...]]) -> None:
        self.shape = shape
        self.plans = plans
        self.constants: list[Ints] = list(np.array(members, dtype=np.int64).reshape(len(members), -1).T)
        filled = [a for a in shape.pivot.args if a is not None]
        # Whether each fact that `AtomIndex` finds for the pivot matches it: no variable twice, at most one constant.
        self.is_exact = len(shape.pivot.variables()) >= len(filled) - 1 and not (
            len(filled) == 2 and filled[0] == filled[1]
        )
        self.variables = 1 + max(v for p in (shape.pivot, *shape.body) for v in (*p.variables(), -1))
