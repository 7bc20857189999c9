"""Declarative DRed: evaluate the program's maintenance rules by semi-naive (Volz, Staab, Motik 2003).

    p^Del   :- r1 .. ri^Del .. rn                 D  from what is lost
    p^Red   :- p^Del, r1^New .. rn^New            R  from what is an axiom; New = (I - Del) | Red
    p^Minus :- p^Del, ~p^Red                      M

The rules are those of `tidelog.rules.maintenance`, which can be printed. Their superscripts are the algebra's sources:
r^Del is r[Del], and r without one is r[I]. So nothing is renamed or copied, and r^New, which the paper stores, is a
view. The rules `p :- p^Ext` are set operations, and p^Ins with p^Plus is the increase that every layer makes; removed
rules seed Del with what they derived, which costs less than the paper's p^Temp. The selection-based split is how
engines keep triples: an atom with a constant reads its part, and a rule whose part has no change is not run.

Costs what DRed costs, and more where several atoms of a rule instance are deleted: each of them finds it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tidelog.algebra.engine import Work
from tidelog.algebra.extended import Extended
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.layers import Support
from tidelog.rules.maintenance import DEL, NEW, OLD, Marked, deletions, rederivations
from tidelog.rules.syntax import Atom, Negation

F = TypeVar("F", bound=FactSet)


def decrease(support: Support[F], lost: F, work: Work) -> F:
    """The facts that are gone: Minus."""
    rules = [marked for rule in support.rules for marked in deletions(rule)]
    before = work.derivations
    deleted = _saturate(_Reading(support, {OLD: support.I}), rules, DEL, lost - lost, lost, work)
    work.count("D", len(deleted))
    work.count("DR2", work.derivations - before)
    return deleted - _rederived(support, deleted, work)


def _rederived(support: Support[F], deleted: F, work: Work) -> F:
    """Red: those of the deleted facts that have a derivation from New."""
    rest = support.I - deleted
    heads = (m for rule in support.rules for m in rederivations(rule) if deleted.may_match(m.rule.heads[0]))
    rules = list(heads)
    before = work.derivations
    first = _Reading(support, {DEL: deleted, NEW: rest})
    found = support.axioms(deleted, work) | support.engine.derive([first.extend(m) for m in rules], work)
    work.count("DR4", work.derivations - before)
    before = work.derivations
    found = _saturate(_Reading(support, {DEL: deleted}), rules, NEW, rest, found, work)
    work.count("DR5", work.derivations - before)
    return found


@dataclass(frozen=True)
class _Reading(Generic[F]):
    """Which set a superscript stands for."""

    support: Support[F]
    sets: Mapping[str, F]

    def extend(self, marked: Marked) -> Extended[F]:
        return self.support.extend(marked.rule, [self.sets[mark] for mark in _positive(marked)])

    def pivoted(self, marked: Marked, pivot: str, known: F, new: F) -> Iterator[Extended[F]]:
        """For each atom with the superscript `pivot`, the rule with that atom in `new`."""
        marks = _positive(marked)
        everything = known | new
        for i, mark in enumerate(marks):
            if mark == pivot and new.may_match(marked.rule.atoms[i]):
                before = {**self.sets, pivot: known}
                behind = {**self.sets, pivot: everything}
                sources = [*(before[m] for m in marks[:i]), new, *(behind[m] for m in marks[i + 1 :])]
                yield self.support.extend(marked.rule, sources)


def _saturate(reading: _Reading[F], rules: Sequence[Marked], pivot: str, known: F, new: F, work: Work) -> F:
    """All that the rules add to the set with the superscript `pivot`, which is `known` so far, and `new` itself."""
    found = new
    while new:
        work.rounds += 1
        variants = [v for marked in rules for v in reading.pivoted(marked, pivot, known, new)]
        derived = reading.support.engine.derive(variants, work)
        known = known | new
        new = derived - known
        found = found | new
    return found


def _positive(marked: Marked) -> list[str]:
    """The superscripts of the positive atoms."""
    literals = (b for b in marked.rule.body if isinstance(b, Atom | Negation))
    return [mark for literal, mark in zip(literals, marked.body, strict=True) if isinstance(literal, Atom)]
