"""Removals that add: with negation and aggregates, a fact may also go because something new follows.

    gains(p)   explicit facts whose removal may make a fact of p follow
    loses(p)   explicit facts whose removal may make a fact of p go

Both are found from the rules alone, by following heads to bodies; a negated atom turns the one into the other, and an
aggregate needs both. So they hold too much rather than too little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.explain.subject import RuleIndex, Subject, ground_atom
from tidelog.model.facts import Fact
from tidelog.repair.support import Instance
from tidelog.rules.syntax import Atom, Rule

F = TypeVar("F", bound=FactSet)

MOST = 2_000  # explicit facts to be tried besides the leaves of a proof

Wish = tuple[Atom, bool]  # an atom, and whether it is to be lost (else to be gained)


@dataclass
class Unsettling(Generic[F]):
    """For the steps of proofs that more than removed leaves can undo; `overlooked` says that there was too much."""

    subject: Subject[F]
    overlooked: bool = False
    _known: dict[frozenset[Wish], frozenset[Fact]] = field(default_factory=dict)

    def facts(self, steps: Iterable[Instance]) -> frozenset[Fact]:
        """Explicit facts whose removal may undo one of the steps, besides those that it needs."""
        wishes = frozenset(w for step in steps for w in _undoing(step))
        if wishes not in self._known:
            found = list(islice(self._matching(_lost(self.subject.index, wishes)), MOST + 1))
            self.overlooked |= len(found) > MOST
            self._known[wishes] = frozenset(found) if len(found) <= MOST else frozenset()
        return self._known[wishes]

    def _matching(self, atoms: Iterable[Atom]) -> Iterator[Fact]:
        for atom in atoms:
            variables = list(dict.fromkeys(atom.variables()))
            for row in self.subject.engine.instances(over(Rule((), (atom,)), self.subject.E), variables, MOST + 1):
                yield ground_atom(atom, dict(zip(variables, row, strict=True)))


def _undoing(step: Instance) -> Iterator[Wish]:
    yield from ((atom, False) for atom in step.absent)
    if step.way.rule.aggregate is not None:
        yield from ((atom, False) for atom in step.way.rule.atoms)
        yield from ((n.atom, True) for n in step.way.rule.negations)


def _lost(index: RuleIndex, wishes: Iterable[Wish]) -> list[Atom]:
    """The atoms whose explicit facts are to be lost so that a wish may come true."""
    waiting = list(wishes)
    met: set[tuple[Rule, Atom, bool]] = set()
    lost: dict[Atom, None] = {}
    while waiting:
        atom, lose = waiting.pop()
        if lose:
            lost[atom] = None
        for way in index.ways(atom):
            if (way.rule, way.head, lose) not in met:
                met.add((way.rule, way.head, lose))
                waiting += _below(way.rule, lose)
    return list(lost)


def _below(rule: Rule, lose: bool) -> Iterator[Wish]:
    for either in (lose, not lose) if rule.aggregate is not None else (lose,):
        yield from ((atom, either) for atom in rule.atoms)
        yield from ((n.atom, not either) for n in rule.negations)


def is_delicate(index: RuleIndex, goal: Fact) -> bool:
    """Whether negation or an aggregate may have a part in a proof of a fact."""
    waiting: list[Atom | Fact] = [goal]
    met: set[Rule] = set()
    while waiting:
        for way in index.ways(waiting.pop()):
            if way.rule.negations or way.rule.aggregate is not None:
                return True
            if way.rule not in met:
                met.add(way.rule)
                waiting += way.rule.atoms
    return False
