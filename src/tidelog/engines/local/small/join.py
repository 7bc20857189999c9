"""Joins from few facts: a family of rules, with pairs of a fact and a member as the bindings to start from.

Nothing is planned and nothing is carried out beforehand: places are looked up in the sets they read, one after the
other. Whatever would become large is left to `solve`, which can do it in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.local.small.rule_shapes import Family, Place, Step
from tidelog.kernel.lookup import Lookup, Reach, encode
from tidelog.kernel.rows import HALF, Ints, Mask

MOST = 1 << 18  # bindings at once


class Matches:
    """Bindings of a family's variables, each with the fact it started from and the member of the family."""

    __slots__ = ("fact", "family", "member", "variables")

    def __init__(self, family: Family, fact: Ints, member: Ints, variables: list[Ints | None]) -> None:
        self.family = family
        self.fact, self.member = fact, member
        self.variables = variables

    @classmethod
    def of(cls, family: Family, columns: Sequence[Ints], fact: Ints, member: Ints) -> Matches:
        """Pairs of a fact, given by its two columns, and a member whose pivot it may match."""
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
        """What stands in a column of a place."""
        if arg is None:
            return np.zeros(len(self), dtype=np.int64)
        if arg < 0:
            return self.family.constants[~arg][self.member]
        values = self.variables[arg]
        assert values is not None
        return values

    def take(self, index: Ints) -> Matches:
        variables = [None if v is None else v[index] for v in self.variables]
        return Matches(self.family, self.fact[index], self.member[index], variables)

    def checked(self, place: Place, lookup: Lookup) -> Matches:
        """Those for which the place, bound completely, is there."""
        found = lookup.holds(self._rows(place))
        return self if found.all() else self.take(found.nonzero()[0])

    def _rows(self, place: Place) -> Ints:
        first, second = map(self.column, place.args)
        return first << HALF | second

    def reach(self, step: Step, lookup: Lookup) -> Reach:
        """The rows of a place of which one column is bound."""
        assert step.column is not None
        return lookup.reach(step.column, self.column(self.family.shape.body[step.place].args[step.column]))

    def opened(self, step: Step, which: Ints, other: Ints) -> Matches:
        """Extended by the open column of a place."""
        assert step.column is not None
        open_ = self.family.shape.body[step.place].args[1 - step.column]
        assert open_ is not None
        matches = self.take(which)
        matches.variables[open_] = other
        return matches

    def codes(self, bits: int, places: Sequence[Place]) -> list[Ints]:
        """The facts that some places stand for."""
        return [encode(bits, p.number, *map(self.column, p.args)) for p in places]


def lookups(family: Family, sources: Sequence[LocalFacts]) -> list[Lookup] | None:
    """What each place of the body reads; None if one of them has nothing to read."""
    found = []
    for place, source in zip(family.shape.body, sources, strict=True):
        lookup = source.lookup(place.number)
        if lookup is None:
            return None
        found.append(lookup)
    return found


def joined(matches: Matches, plan: Sequence[Step], reads: Sequence[Lookup]) -> Matches | None:
    """All matches of the body; None if they are too many."""
    for step in plan:
        if not len(matches):
            break
        lookup = reads[step.place]
        if step.column is None:
            matches = matches.checked(matches.family.shape.body[step.place], lookup)
            continue
        reach = matches.reach(step, lookup)
        if reach.total > MOST:
            return None
        matches = matches.opened(step, *reach.window(0, None))
    return matches


def cheapest(matches: Matches, plans: Sequence[list[Step]], reads: Sequence[Lookup]) -> list[Step]:
    """The plan that opens fewest rows first."""
    return plans[0] if len(plans) == 1 else min(plans, key=lambda plan: _opened(matches, plan, reads))


def _opened(matches: Matches, plan: Sequence[Step], reads: Sequence[Lookup]) -> int:
    step = next(s for s in plan if s.column is not None)
    return matches.reach(step, reads[step.place]).total
