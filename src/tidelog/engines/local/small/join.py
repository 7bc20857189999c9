"""Joins from few facts: a family of rules, with pairs of a fact and a rule as the first bindings.

Each body atom is looked up in the set that it reads, one atom after the other. A join with too many bindings is left to
`solve`, which works in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog import tuning
from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.small.rule_shapes import JoinStep, RuleFamily, ShapeAtom
from tidelog.kernel.lookup import RelationLookup, RowRanges, encode
from tidelog.kernel.rows import HALF, Ints, Mask


class FamilyMatches:
    """Bindings of a family's variables, each with the fact it started from and the number of its rule (member)."""

    __slots__ = ("fact", "family", "member", "variables")

    def __init__(self, family: RuleFamily, fact: Ints, member: Ints, variables: list[Ints | None]) -> None:
        self.family = family
        self.fact, self.member = fact, member
        self.variables = variables

    @classmethod
    def of(cls, family: RuleFamily, columns: Sequence[Ints], fact: Ints, member: Ints) -> FamilyMatches:
        """Bindings of pairs of a fact and a member whose pivot it may match; `columns` are the columns of all facts."""
        matches = cls(family, fact, member, [None] * family.variables)
        wrong: list[Mask] = []
        for column, arg in zip(columns, family.shape.pivot.args, strict=True):
            if arg is None:
                continue
            if arg >= 0 and matches.variables[arg] is None:
                matches.variables[arg] = column[fact]
            elif not family.is_exact:
                wrong.append(column[fact] != matches.column(arg))
        return matches.take((~np.logical_or.reduce(wrong)).nonzero()[0]) if wrong else matches

    def __len__(self) -> int:
        return len(self.fact)

    def column(self, arg: int | None) -> Ints:
        """The values of an argument of an atom."""
        if arg is None:
            return np.zeros(len(self), dtype=np.int64)
        if arg < 0:
            return self.family.constants[~arg][self.member]
        values = self.variables[arg]
        assert values is not None
        return values

    def take(self, index: Ints) -> FamilyMatches:
        variables = [None if v is None else v[index] for v in self.variables]
        return FamilyMatches(self.family, self.fact[index], self.member[index], variables)

    def checked(self, atom: ShapeAtom, lookup: RelationLookup) -> FamilyMatches:
        """The bindings for which an atom without free variables has a match."""
        found = lookup.holds(self._rows(atom))
        return self if found.all() else self.take(found.nonzero()[0])

    def _rows(self, atom: ShapeAtom) -> Ints:
        first, second = map(self.column, atom.args)
        return first << HALF | second

    def ranges(self, step: JoinStep, lookup: RelationLookup) -> RowRanges:
        """Where the matches of an atom with one bound column are."""
        assert step.column is not None
        return lookup.ranges(step.column, self.column(self.family.shape.body[step.atom].args[step.column]))

    def opened(self, step: JoinStep, which: Ints, other: Ints) -> FamilyMatches:
        """Extended by the free column of an atom: binding `which[i]` with the value `other[i]`."""
        assert step.column is not None
        open_ = self.family.shape.body[step.atom].args[1 - step.column]
        assert open_ is not None
        matches = self.take(which)
        matches.variables[open_] = other
        return matches

    def codes(self, bits: int, atoms: Sequence[ShapeAtom]) -> list[Ints]:
        """The facts that some atoms stand for, as codes."""
        return [encode(bits, p.number, *map(self.column, p.args)) for p in atoms]


def lookups(family: RuleFamily, sources: Sequence[LocalFacts]) -> list[RelationLookup] | None:
    """The facts that each body atom reads; None if an atom has no facts to read."""
    found = []
    for atom, source in zip(family.shape.body, sources, strict=True):
        lookup = source.lookup(atom.number)
        if lookup is None:
            return None
        found.append(lookup)
    return found


def joined(matches: FamilyMatches, plan: Sequence[JoinStep], reads: Sequence[RelationLookup]) -> FamilyMatches | None:
    """All matches of the body atoms in `plan`; None if they are too many."""
    for step in plan:
        if not len(matches):
            break
        lookup = reads[step.atom]
        if step.column is None:
            matches = matches.checked(matches.family.shape.body[step.atom], lookup)
            continue
        ranges = matches.ranges(step, lookup)
        if ranges.total > tuning.SMALL_JOIN_BINDINGS:
            return None
        matches = matches.opened(step, *ranges.window(0, None))
    return matches


def cheapest(
    matches: FamilyMatches, plans: Sequence[list[JoinStep]], reads: Sequence[RelationLookup]
) -> list[JoinStep]:
    """The plan whose first step with a free column has the fewest rows."""
    return plans[0] if len(plans) == 1 else min(plans, key=lambda plan: _opened(matches, plan, reads))


def _opened(matches: FamilyMatches, plan: Sequence[JoinStep], reads: Sequence[RelationLookup]) -> int:
    step = next(s for s in plan if s.column is not None)
    return matches.ranges(step, reads[step.atom]).total
