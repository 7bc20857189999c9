"""A change with equality by rewriting, whichever algorithm maintains the rewritten rules.

    doubt     cliques that may have lost an equality are taken apart (see `doubt`)
    maintain  the algorithm goes from the old rules and explicit facts over the old representatives to the new ones over
              the new representatives: to it, that is a change of facts and rules like any other
    merge     while there is a = b among the new facts: b's facts become a's, and rules that name b name a. What is
              replaced still follows, so rules are run only from what is new

I is closed under the rewritten rules, and holds the rewritten explicit facts and `(same)`. What a user sees is I with
every representative replaced by all the terms it stands for; see `names`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.fixpoint import consequences
from tidelog.algorithms.layers import Program
from tidelog.algorithms.outcome import Outcome
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.equality.doubt import Explicit, SolidSupport, doubtful
from tidelog.equality.representatives import SAME, Representatives, components, equalities
from tidelog.equality.rewriting import constants, relevant, rewrite_rules, versions, with_constants
from tidelog.model.terms import Term
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)

AFRESH = "rematerialise"  # the algorithm that needs nothing from before


@dataclass(frozen=True)
class Rewritten(Generic[F]):
    """What is kept from change to change: explicit facts over representatives, with `(same)`; the rules over them."""

    representatives: Representatives[F]
    E: F
    program: Program = field(default_factory=lambda: Program((), ()))  # unchanged
    source: tuple[Rule, ...] = ()  # the rules as users gave them
    standing: Mapping[Term, Term] = field(default_factory=dict)  # for the constants in them
    kept: object = None  # what the algorithm itself goes on from

    @property
    def engine(self) -> Engine[F]:
        return self.representatives.engine

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.program.after

    def moved(self, representatives: Representatives[F], E: F, source: tuple[Rule, ...]) -> Rewritten[F]:
        """With other representatives, explicit facts and rules; refuses what cannot be done."""
        standing = representatives.of(constants(source))
        if source is self.source and standing == self.standing:
            return replace(self, representatives=representatives, E=E, kept=None)
        rules = rewrite_rules(source, standing)
        relevant(rules)
        return Rewritten(representatives, E, Program(rules, rules), source, standing)


def rewritten(engine: Engine[F], rules: tuple[Rule, ...], E: F, I: F) -> Rewritten[F]:
    """What a change before would have kept, given the rules and facts that users gave and the materialisation."""
    same = I.only(SAME)
    representatives = Representatives(engine, same)
    return Rewritten(representatives, E).moved(representatives, representatives.rewrite(E) | same, rules)


@dataclass(frozen=True)
class Move(Generic[F]):
    """From one state to another; `removed` and `added` are explicit facts over representatives."""

    before: Rewritten[F]
    after: Rewritten[F]
    removed: F
    added: F

    def maintained(self, name: str, I: F, work: Work) -> Outcome[F]:
        """By an algorithm that knows nothing of equality."""
        before, after = self.before, self.after
        program = before.program if after.rules is before.rules else Program(before.rules, after.rules)
        return ALGORITHMS[name](after.engine, program, after.E, I, self.removed, self.added, work, before.kept)


def maintain(
    name: str, engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object = None
) -> Outcome[F]:
    """The materialisation over representatives after a change; E, `removed` and `added` are as users gave them.

    The outcome's changes are over representatives too, and its `kept` is a `Rewritten`.
    """
    before = kept if isinstance(kept, Rewritten) else rewritten(engine, program.before, (E - added) | removed, I)
    if name == AFRESH:
        move = _afresh(before, E, program.after)
    else:
        move = _taken_apart(before, program, E, I, removed, added, work)
    step = outcome = move.maintained(name, I, work)
    state = replace(move.after, kept=step.kept)
    while pairs := list(equalities(engine, step.added)):
        state, step = _merged(name, state, components(pairs), step.I, work)
        outcome = outcome.then(step)
    return Outcome(outcome.I, outcome.added, outcome.removed, state)


def _afresh(before: Rewritten[F], E: F, rules: tuple[Rule, ...]) -> Move[F]:
    """To explicit equalities only."""
    engine = before.engine
    same = before.representatives.same(components(equalities(engine, E)))
    representatives = Representatives(engine, same)
    after = before.moved(representatives, representatives.rewrite(E) | same, rules)
    nothing = engine.collect(())
    return Move(before, after, nothing, nothing)


def _taken_apart(before: Rewritten[F], program: Program, E: F, I: F, removed: F, added: F, work: Work) -> Move[F]:
    """To the explicit facts and rules after the change, over representatives that are beyond doubt."""
    old = before.representatives
    explicit = Explicit(old, E)
    lost = old.rewrite(removed)
    gone = lost - old.standing_for(lost, E)
    doubted = _doubted(before, program, explicit, before.E - gone, I, lost, work)
    parts = explicit.parts(doubted)
    hidden = old.mentioning(before.E, doubted)
    same = old.same(parts)
    representatives = Representatives(old.engine, (old.facts - hidden.only(SAME)) | same)
    restored = representatives.rewrite(old.mentioning(E, parts) | added) | same
    gone = gone | hidden
    after = before.moved(representatives, (before.E - gone) | restored, program.after)
    work.count("split", len(doubted))
    return Move(before, after, gone - restored, restored - before.E)


def _doubted(
    before: Rewritten[F], program: Program, explicit: Explicit[F], E: F, I: F, lost: F, work: Work
) -> set[Term]:
    """The cliques that the change puts in doubt."""
    engine, old = before.engine, before.representatives
    if not old.facts or not (lost or program.is_changed):
        return set()
    rules = relevant(before.rules)
    if program.is_changed:
        keys = {rule.key for rule in rewrite_rules(program.after, old.of(constants(program.after)))}
        rules = tuple(rule for rule in rules if rule.key in keys)
        lost = lost | engine.derive([over(rule, I) for rule in _dropped(before, program)], work)
    return doubtful(SolidSupport(engine, rules, I, I, I, E, (), explicit), lost, work)


def _dropped(before: Rewritten[F], program: Program) -> Iterator[Rule]:
    """The rules that the change removes, over representatives: also those that derive nothing more than others do
    there, or nothing new, for that may be their own doing.
    """
    keys = {rule.key for rule in program.after}
    for rule in program.before:
        if rule.key not in keys and rule.heads:
            yield from (with_constants(version, before.standing) for version in versions(rule))


def _merged(
    name: str, before: Rewritten[F], standing: Mapping[Term, Term], I: F, work: Work
) -> tuple[Rewritten[F], Outcome[F]]:
    """After terms that stood for themselves are found equal: the facts of those that no longer do are replaced."""
    moved = Representatives(before.engine, before.representatives.same(standing))
    old = moved.mentioning(I, [term for term, first in standing.items() if term != first])
    new = moved.rewrite(old) | moved.facts
    explicit = old & before.E
    asserted = moved.rewrite(explicit) | moved.facts
    E = (before.E - explicit) | asserted
    after = before.moved(Representatives(before.engine, E.only(SAME)), E, before.source)
    work.count("merged", len(moved.facts))
    if any(n.atom.predicate != SAME for r in after.rules for n in r.negations):
        outcome = Move(before, after, explicit - asserted, asserted - before.E).maintained(name, I, work)
        return replace(after, kept=outcome.kept), outcome
    return after, _replaced(before, after, I, old, new, work)


def _replaced(before: Rewritten[F], after: Rewritten[F], I: F, old: F, new: F, work: Work) -> Outcome[F]:
    """I with old facts replaced by new ones, and all that follows. What followed from the old follows from the new."""
    engine, known = after.engine, I - old
    had = {rule.key for rule in before.rules}
    changed = [over(r, known | new) for r in after.rules if r.key not in had and r.heads]
    new = (new | engine.derive(changed, work) if changed else new) - known
    added = consequences(engine, [r for r in after.rules if r.atoms and r.heads], known, new, work)
    return Outcome(known | added, added, old)
