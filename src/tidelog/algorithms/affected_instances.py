"""The rule instances that a change touches, in the state before it and in the state after it, each instance once.

    lost     instances of the state before with an atom in Z, or a negated atom that is false after
    gained   instances of the state after with an atom in Z, or a negated atom that was false before

Z are the facts that do not stand the same in both states. An instance that is not touched holds in both or in neither.
One is found at its first atom in Z; if it has none, at its first negated atom that the change makes false:

    H <- B1[S - Z] .. B(i-1)[S - Z], Bi[S & Z], B(i+1)[S] .. Bn[S]
    H <- shared[V], B1[S - Z] .. Bn[S - Z], ~N1[S | W] .. ~N(i-1)[S | W], ~Ni[S] .. ~Nm[S]         V: shared <- Ni[W]

S is one state, W what only the other one has. A negated atom may have many matches in W, but the instance loses its
truth once: so it is joined with the distinct values V of the variables that it shares with the rest of the rule.

Where instances are counted by iteration, those of one iteration must have an atom among what was new just before it.
That makes a second place to pivot at: B1[old] .. Bj[new] .. Bn[known] crossed with the sources above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule, with_body, with_sources
from tidelog.rules.syntax import Assignment, Atom, Rule, Variable

F = TypeVar("F", bound=FactSet)

_SHARED = "(shared)"  # not a name that a program can have


@dataclass(frozen=True)
class Side(Generic[F]):
    """One of the two states of a change, as the rules of one iteration read it."""

    engine: Engine[F]
    old: F  # known before `new` was
    new: F  # an instance has an atom here
    known: F  # both together
    negated: F  # where negated atoms have no match: complete
    other: F  # what negated atoms would match in the other state only
    Z: F
    _views: dict[tuple[int, int], F] = field(default_factory=dict)

    def touched(self, rule: Rule) -> Iterator[SourcedRule[F]]:
        """The instances of a rule (not an aggregate) that hold here and are touched by the change."""
        for i, atom in enumerate(rule.atoms):
            if self.Z.may_match(atom):
                yield from (self._read(rule, s, self.negated_by(rule)) for s in self._sources(rule, i))
        for i, negation in enumerate(rule.negations):
            if self.other.may_match(negation.atom):
                yield from self._through(rule, i, negation.atom)

    def negated_by(self, rule: Rule, first: int = 0) -> list[F]:
        """Where each negated atom has no match; the first ones in neither state."""
        return [self._either if i < first else self.negated for i in range(len(rule.negations))]

    def _through(self, rule: Rule, number: int, atom: Atom) -> Iterator[SourcedRule[F]]:
        """Instances that hold here and not in the other state because of this negated atom, and of none before it."""
        shared = Atom(_SHARED, tuple(v for v in dict.fromkeys(atom.variables()) if v in _bound(rule)))
        keys = self.engine.derive([SourcedRule(Rule((shared,), (atom,)), (self.other,))], Work())
        guarded = with_body(rule, shared)
        for sources in self._sources(rule, len(rule.atoms)):
            yield self._read(guarded, (keys, *sources), self.negated_by(rule, number))

    def _sources(self, rule: Rule, pivot: int) -> Iterator[tuple[F, ...]]:
        """What each atom reads, with the first atom in Z at `pivot` and the first in `new` at any place."""
        atoms = rule.atoms
        for first in range(len(atoms) or 1):
            if pivot < len(atoms) and not self._view(pivot, pivot, first).may_match(atoms[pivot]):
                continue
            sources = tuple(self._view(place, pivot, first) for place in range(len(atoms)))
            if all(s.may_match(a) for s, a in zip(sources, atoms, strict=True)):
                yield sources

    def _view(self, place: int, pivot: int, first: int) -> F:
        """What the atom at a place reads, given the places of the first atom in Z and of the first in `new`."""
        key = (place > pivot) - (place < pivot), (place > first) - (place < first)
        if key not in self._views:
            facts = (self.new, self.known, self.old)[key[1]]
            self._views[key] = facts if key[0] > 0 else facts - self.Z if key[0] else facts & self.Z
        return self._views[key]

    @cached_property
    def _either(self) -> F:
        return self.negated | self.other

    @staticmethod
    def _read(rule: Rule, positive: Sequence[F], negated: Sequence[F]) -> SourcedRule[F]:
        atoms, negations = iter(positive), iter(negated)
        literals = rule.literals
        return with_sources(rule, [next(atoms) if isinstance(b, Atom) else next(negations) for b in literals])


def _bound(rule: Rule) -> set[Variable]:
    """The variables that the rule binds; any other in a negated atom means "there is none"."""
    assigned = {b.variable for b in rule.body if isinstance(b, Assignment)}
    return assigned.union(*(a.variables() for a in rule.atoms))
