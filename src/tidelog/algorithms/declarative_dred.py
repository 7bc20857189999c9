"""Declarative DRed: evaluate the program's maintenance rules by semi-naive (Volz, Staab, Motik 2003).

    p^Del   :- r1 .. ri^Del .. rn                 D  from what is lost
    p^Red   :- p^Del, r1^New .. rn^New            R  from what is an axiom; New = (I - Del) | Red
    p^Minus :- p^Del, ~p^Red                      M

The rules are those of `tidelog.rules.maintenance_rules`, which can be printed. Their superscripts are the algebra's
sources: r^Del is r[Del], and r without one is r[I]. So nothing is renamed or copied, and r^New, which the paper stores,
is a view. The rules `p :- p^Ext` are set operations, and p^Ins with p^Plus is the increase that every layer makes;
removed rules seed Del with what they derived, which costs less than the paper's p^Temp. The selection-based split is
how engines keep triples: an atom with a constant reads its part, and a rule whose part has no change is not run.

Costs what DRed costs, and more where several atoms of a rule instance are deleted: each of them finds it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from tidelog.algebra.engine import Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.algorithms.layers import Support, maintain
from tidelog.algorithms.update import Outcome, Update
from tidelog.rules.maintenance_rules import DEL, NEW, OLD, MarkedRule, deletions, rederivations
from tidelog.rules.syntax import Atom

F = TypeVar("F", bound=FactSet)


def declarative_dred(update: Update[F]) -> Outcome[F]:
    """The materialisation after a change."""
    return maintain(update, decrease)


def decrease(support: Support[F], lost: F, work: Work) -> F:
    """The facts that are gone: Minus."""
    deleted = _deleted(support, lost, work)
    work.count("D", len(deleted))
    return deleted - _rederived(support, deleted, work)


def _deleted(support: Support[F], lost: F, work: Work) -> F:
    """Del: what used something lost."""
    before = work.derivations
    rules = [marked for rule in support.rules for marked in deletions(rule)]
    deleted = _saturate(support, rules, {OLD: support.I, DEL: lost - lost}, DEL, lost, work)
    work.count("DR2", work.derivations - before)
    return deleted


def _rederived(support: Support[F], deleted: F, work: Work) -> F:
    """Red: those of the deleted facts that have a derivation from New."""
    before = work.derivations
    sets = {DEL: deleted, NEW: support.I - deleted}
    rules = [marked for rule in support.rules for marked in rederivations(rule, deleted.may_match)]
    first = [support.extend(marked.rule, [sets[m] for m in _positive(marked)]) for marked in rules]
    found = support.axioms(deleted, work) | support.engine.derive(first, work)
    work.count("DR4", work.derivations - before)
    before = work.derivations
    found = _saturate(support, rules, sets, NEW, found, work)
    work.count("DR5", work.derivations - before)
    return found


def _saturate(
    support: Support[F], rules: Sequence[MarkedRule], sets: Mapping[str, F], mark: str, new: F, work: Work
) -> F:
    """`new`, and all that the rules then add to the set with this superscript, by semi-naive."""
    found = new
    while new:
        work.rounds += 1
        after = {**sets, mark: sets[mark] | new}
        derived = support.engine.derive([v for r in rules for v in _pivoted(support, r, sets, mark, new, after)], work)
        sets, new = after, derived - after[mark]
        found = found | new
    return found


def _pivoted(
    support: Support[F], marked: MarkedRule, left: Mapping[str, F], mark: str, new: F, right: Mapping[str, F]
) -> Iterator[SourcedRule[F]]:
    """The rule once for each atom with this superscript: that atom reads `new`, the others as they stand to it."""
    marks = _positive(marked)
    for i, atom in enumerate(marked.rule.atoms):
        if marks[i] == mark and new.may_match(atom):
            sources = [*(left[m] for m in marks[:i]), new, *(right[m] for m in marks[i + 1 :])]
            yield support.extend(marked.rule, sources)


def _positive(marked: MarkedRule) -> list[str]:
    """The superscripts of the positive atoms."""
    literals = marked.rule.literals
    return [mark for literal, mark in zip(literals, marked.body, strict=True) if isinstance(literal, Atom)]
