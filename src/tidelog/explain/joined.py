"""The rule instances of any number of facts as facts themselves, found by the verbs that every engine has.

    (instance k)(x1 .. xn) <- H[G], B1[I] .. Bm[I]        for each rule and head; x1 .. xn are all its variables
    B1 .. Bm <- (instance k)(x1 .. xn)                    the facts of the next level

All rules of a level are one call of the engine. So nothing has to be in this process: see `tidelog.spark.instances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import Extended, over
from tidelog.algebra.fact_set import FactSet
from tidelog.explain.columns import Shape
from tidelog.explain.subject import VALUE, Subject, Way
from tidelog.model.terms import Term
from tidelog.rules.syntax import Aggregate, Atom, Rule, Variable

F = TypeVar("F", bound=FactSet)

Arg = Variable | Term | Aggregate


class Kept(NamedTuple):
    """What a relation of instances holds: the variables it has as arguments, and what its rows look like."""

    atom: Atom
    shape: Shape


@dataclass(frozen=True)
class Joined(Generic[F]):
    """Explicit facts, and instances in relations of their own."""

    explicit: F
    matches: F
    relations: Sequence[Kept]


def joined(subject: Subject[F], pattern: Atom, depth: int) -> Joined[F]:
    """The instances that derive the facts of a pattern, and those below, `depth` steps in all."""
    search = _Search(subject)
    goals = subject.engine.derive([over(Rule((pattern,), (pattern,)), subject.I)], Work())
    seen, matches = goals, search.nothing
    ways: Iterable[Way] = subject.index.ways(pattern)
    while goals and depth:
        found = search.matches(ways, goals)
        matches = matches | found
        goals, depth = search.bodies(found) - seen if depth > 1 else search.nothing, depth - 1
        seen = seen | goals
        ways = [way for name in goals.predicates() for way in subject.index.named(name)]
    return Joined(seen & subject.E, matches, [Kept(atom, Shape.of(way)) for way, atom in search.atoms.items()])


@dataclass
class _Search(Generic[F]):
    """One step down at a time. An instance derives one fact, and a fact is looked at once: so none comes twice."""

    subject: Subject[F]
    atoms: dict[Way, Atom] = field(default_factory=dict)  # the relation of each rule and head

    @property
    def nothing(self) -> F:
        return self.subject.engine.collect(())

    def matches(self, ways: Iterable[Way], goals: F) -> F:
        """The instances that derive some facts."""
        rules: list[Extended[F]] = []
        doubled: list[Rule] = []
        for way in ways:
            guards = self._given(way, goals)
            if guards.may_match(way.head):
                rule = Rule((self._atom(way),), way.guarded.body, cartesian=True)
                rules.append(self.subject.reading(rule, guards, self.subject.I))
                doubled += self._doubled(way)
        found = self._derived(rules)
        return found - self._derived([over(rule, found) for rule in doubled]) if doubled else found

    def bodies(self, found: F) -> F:
        """The facts that the atoms of instances matched."""
        turned = ((way.rule.atoms, atom) for way, atom in self.atoms.items() if found.may_match(atom))
        return self._derived([over(Rule(atoms, (atom,), cartesian=True), found) for atoms, atom in turned if atoms])

    def _derived(self, rules: Sequence[Extended[F]]) -> F:
        return self.subject.engine.derive(rules, Work())

    def _atom(self, way: Way) -> Atom:
        if way not in self.atoms:
            self.atoms[way] = Atom(f"(instance {len(self.atoms)})", way.variables)
        return self.atoms[way]

    def _given(self, way: Way, goals: F) -> F:
        """The facts that a rule may derive; of an aggregate those that it does, for others may have the same group."""
        if VALUE not in way.head.args:
            return goals
        return goals & self._derived([over(way.rule, self.subject.I)])

    def _doubled(self, way: Way) -> Iterator[Rule]:
        """Finds the instances for which an earlier head of the rule is the same fact."""
        heads = way.rule.heads
        for other in heads[: heads.index(way.head)] if way.head in heads else ():
            same = unified(way.head, other)
            if same is not None:
                atom = self._atom(way)
                alike = Atom(atom.predicate, tuple(_chosen(a, same) for a in atom.args))
                yield Rule((alike,), (alike,))


def unified(one: Atom, other: Atom) -> dict[Variable, Arg] | None:
    """What variables have to be for two atoms to be the same fact; None if they cannot be."""
    if one.predicate != other.predicate or len(one.args) != len(other.args):
        return None
    same: dict[Variable, Arg] = {}
    for pair in zip(one.args, other.args, strict=True):
        left, right = (_chosen(a, same) for a in pair)
        if left == right:
            continue
        if not isinstance(left, Variable):
            left, right = right, left
        if not isinstance(left, Variable):
            return None
        same[left] = right
    return same


def _chosen(arg: Arg, same: Mapping[Variable, Arg]) -> Arg:
    while isinstance(arg, Variable) and arg in same:
        arg = same[arg]
    return arg
