"""A change with equality by rewriting, whichever algorithm maintains the rewritten rules.

    doubt     cliques that may have lost an equality are taken apart (see `doubt`)
    maintain  the algorithm goes from the old rules and explicit facts over the old representatives to the new ones over
              the new representatives: to it, that is a change of facts and rules like any other
    merge     while there is a = b among the new facts: b's facts become a's, and rules that name b name a. What is
              replaced still follows, so rules are run only from what is new

I is closed under the rewritten rules, and holds the rewritten explicit facts and `(same)`. What a user sees is I with
every representative replaced by all the terms it stands for; see `names`.

Which cliques a change puts in doubt (after Motik, Nenov, Piro, Horrocks: Combining Rewriting and Incremental
Materialisation Maintenance for Datalog Programs with Equality, IJCAI 2015).

Representatives are support: a fact over them stands for all its names only as long as the clique holds together. And
they hide support: from f(x, a), f(x, b) and "f has one value" comes a = b, yet once a stands for b the rule matches
f(x, a) twice and gives a = a, whatever else is lost. So the rewritten rules cannot say whether a clique keeps its
proof. What they can say is what a proof may have been made of:

    D    facts that lost a derivation, and, unless they are solid, all that follows from them; with an equality of
         a clique, every fact that mentions it

A fact is solid if it is proved from explicit facts, without a clique that more than explicit equalities hold together:
Backward/Forward, with fewer axioms. A clique with no equality in D - P keeps every proof it had. The others are in
doubt, and taken apart: into the parts that explicit equalities hold together. Only rules that an equality can depend on
are looked at, so a change of anything else puts nothing in doubt and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.fixpoint import consequences
from tidelog.algebra.sourced_rule import all_from, with_sources
from tidelog.algorithms.backward_forward import Search
from tidelog.algorithms.equality.representatives import AMONG, EQUALITY, SAME, Representatives, components, equalities
from tidelog.algorithms.equality.rewriting import constants, goals, relevant, rewrite_rules, versions, with_constants
from tidelog.algorithms.layers import Support
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import Outcome, RuleChange, Update
from tidelog.model.terms import Term
from tidelog.rules.syntax import Atom, Rule

F = TypeVar("F", bound=FactSet)


class Explicit(Generic[F]):
    """The cliques as far as explicit equalities hold them together; found out when asked."""

    def __init__(self, representatives: Representatives[F], E: F) -> None:
        self.representatives = representatives
        self.E = E  # as it was asserted, after the change
        self._parts: dict[Term, dict[Term, Term]] = {}

    def parts(self, cliques: Iterable[Term]) -> dict[Term, Term]:
        """For every member of some cliques the first of those that explicit equalities connect it with."""
        return {member: first for c in self._known(cliques) for member, first in self._parts[c].items()}

    def not_solid(self, facts: F) -> F:
        """The facts that mention a clique which needs more than explicit equalities."""
        return self.representatives.mentioning(facts, self.loose(facts))

    def loose(self, facts: F) -> set[Term]:
        """The cliques mentioned in the facts that need more than explicit equalities."""
        mentioned = self._known(self.representatives.in_cliques(facts))
        return {c for c in mentioned if len(set(self._parts[c].values())) > 1}

    def _known(self, cliques: Iterable[Term]) -> list[Term]:
        asked = list(cliques)
        members = self.representatives.members(c for c in asked if c not in self._parts)
        clique_of = {member: clique for clique, found in members.items() for member in found}
        edges: dict[Term, list[tuple[Term, Term]]] = {c: [(m, m) for m in found] for c, found in members.items()}
        for x, y in self._edges(clique_of):
            if clique_of[x] == clique_of.get(y):
                edges[clique_of[x]].append((x, y))
        self._parts |= {clique: components(pairs) for clique, pairs in edges.items()}
        return asked

    def _edges(self, terms: Iterable[Term]) -> Iterable[tuple[Term, ...]]:
        """The explicit equalities with one of the terms in front."""
        engine = self.representatives.engine
        among = self.representatives.among(terms)
        if not among:
            return ()
        x, y = EQUALITY.variables()
        return engine.instances(with_sources(Rule((), (Atom(AMONG, (x,)), EQUALITY)), (among, self.E)), (x, y))


@dataclass(frozen=True)
class SolidSupport(Support[F]):
    """A support whose axioms are the explicit facts of solid cliques."""

    explicit: Explicit[F]

    def axioms(self, D: F, work: Work) -> F:
        found = D & self.E
        return found - self.explicit.not_solid(found) if found else found


class SolidSearch(Search[F]):
    """Backward/Forward for solid proofs: a fact of a clique that is not solid has none, so nothing is sought for it."""

    def __init__(self, support: SolidSupport[F], work: Work) -> None:
        self.explicit = support.explicit
        loose = self.explicit.loose(self.explicit.representatives.among(constants(support.rules)))
        rules = tuple(r for r in support.rules if loose.isdisjoint(a for h in r.heads for a in h.args))
        super().__init__(replace(support, rules=rules), work)

    def _backward(self, active: F, level: int, sources: F) -> tuple[F, F]:
        return super()._backward(active - self.explicit.not_solid(active), level, sources)

    def _at_sight(self, new: F) -> tuple[F, F]:
        """Nothing: not every explicit fact is an axiom here."""
        return self.nothing, self.nothing


def doubtful(support: SolidSupport[F], lost: F, work: Work) -> set[Term]:
    """The representatives of the cliques in doubt. The support's rules are those that an equality can depend on."""
    engine, representatives = support.engine, support.explicit.representatives
    matching = goals(support.rules)
    search = SolidSearch(support, work)
    found: set[Term] = set()
    rest = support.I
    D = N = matched(engine, matching, lost)
    while N:
        work.rounds += 1
        search.check(N)
        N = N - search.P
        remaining = rest - N
        heads = engine.derive_pivoted(support.rules, remaining, N, rest, support.negated, work)
        new = _unequal(representatives, N) - found
        heads = heads | matched(engine, matching, representatives.mentioning(remaining, new))
        found |= new
        rest, N = remaining, heads - D
        D = D | N
    work.count("doubted", len(D))
    return found


def matched(engine: Engine[F], atoms: Iterable[Atom], facts: F) -> F:
    """The facts that match one of the atoms."""
    return engine.derive([all_from(Rule((a,), (a,)), facts) for a in atoms if facts.may_match(a)], Work())


def _unequal(representatives: Representatives[F], facts: F) -> set[Term]:
    """The cliques that have one of their equalities among the facts."""
    x, y = EQUALITY.variables()
    terms = {t for row in representatives.engine.instances(all_from(Rule((), (EQUALITY,)), facts), (x, y)) for t in row}
    return representatives.in_cliques(representatives.among(terms))


AFRESH = "rematerialise"  # the algorithm that needs nothing from before


@dataclass(frozen=True)
class Rewritten(Generic[F]):
    """What is kept from change to change: explicit facts over representatives, with `(same)`; the rules over them."""

    representatives: Representatives[F]
    E: F
    rule_change: RuleChange = field(default_factory=lambda: RuleChange((), ()))  # before and after are equal
    source: tuple[Rule, ...] = ()  # the rules as users gave them
    standing: Mapping[Term, Term] = field(default_factory=dict)  # for the constants in them
    algorithm_state: object = None  # of the algorithm that maintains the rewritten rules

    @property
    def engine(self) -> Engine[F]:
        return self.representatives.engine

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.rule_change.after

    def moved(self, representatives: Representatives[F], E: F, source: tuple[Rule, ...]) -> Rewritten[F]:
        """With other representatives, explicit facts and rules; refuses what cannot be done."""
        standing = representatives.of(constants(source))
        if source is self.source and standing == self.standing:
            return replace(self, representatives=representatives, E=E, algorithm_state=None)
        rules = rewrite_rules(source, standing)
        relevant(rules)
        return Rewritten(representatives, E, RuleChange(rules, rules), source, standing)


def rewritten(engine: Engine[F], rules: tuple[Rule, ...], E: F, I: F) -> Rewritten[F]:
    """What a change before would have kept, given the rules and facts that users gave and the materialisation."""
    same = I.of_predicate(SAME)
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
        is_same = after.rules is before.rules
        rules = before.rule_change if is_same else RuleChange(before.rules, after.rules)
        state = before.algorithm_state
        return ALGORITHMS[name](Update(after.engine, rules, after.E, I, self.removed, self.added, work, state))


@dataclass(frozen=True)
class ByRewriting:
    """An algorithm over representatives, made from the algorithm with this name."""

    name: str

    def __call__(self, update: Update[F]) -> Outcome[F]:
        """The materialisation over representatives; E, `removed` and `added` of the update are as users gave them.

        The outcome's changes are over representatives too, and its `algorithm_state` is a `Rewritten`.
        """
        return _maintain(self.name, update)


def _maintain(name: str, update: Update[F]) -> Outcome[F]:
    engine, work, before = update.engine, update.work, update.algorithm_state
    if not isinstance(before, Rewritten):
        explicit_before = (update.E - update.added) | update.removed
        before = rewritten(engine, update.rules.before, explicit_before, update.I)
    is_afresh = name == AFRESH
    move = _afresh(before, update.E, update.rules.after) if is_afresh else _taken_apart(before, update)
    step = outcome = move.maintained(name, update.I, work)
    state = replace(move.after, algorithm_state=step.algorithm_state)
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
    nothing = engine.fact_set(())
    return Move(before, after, nothing, nothing)


def _taken_apart(before: Rewritten[F], update: Update[F]) -> Move[F]:
    """To the explicit facts and rules after the change, over representatives that are beyond doubt."""
    old, E, work = before.representatives, update.E, update.work
    explicit = Explicit(old, E)
    lost = old.rewrite(update.removed)
    gone = lost - old.standing_for(lost, E)
    doubted = _doubted(before, update, explicit, before.E - gone, lost)
    parts = explicit.parts(doubted)
    hidden = old.mentioning(before.E, doubted)
    same = old.same(parts)
    representatives = Representatives(old.engine, (old.facts - hidden.of_predicate(SAME)) | same)
    restored = representatives.rewrite(old.mentioning(E, parts) | update.added) | same
    gone = gone | hidden
    after = before.moved(representatives, (before.E - gone) | restored, update.rules.after)
    work.count("split", len(doubted))
    return Move(before, after, gone - restored, restored - before.E)


def _doubted(before: Rewritten[F], update: Update[F], explicit: Explicit[F], E: F, lost: F) -> set[Term]:
    """The cliques that the change puts in doubt."""
    engine, old = before.engine, before.representatives
    program, I, work = update.rules, update.I, update.work
    if not old.facts or not (lost or program.is_changed):
        return set()
    rules = relevant(before.rules)
    if program.is_changed:
        keys = {rule.key for rule in rewrite_rules(program.after, old.of(constants(program.after)))}
        rules = tuple(rule for rule in rules if rule.key in keys)
        lost = lost | engine.derive([all_from(rule, I) for rule in _dropped(before, program)], work)
    return doubtful(SolidSupport(engine, rules, I, I, I, E, (), explicit), lost, work)


def _dropped(before: Rewritten[F], program: RuleChange) -> Iterator[Rule]:
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
    after = before.moved(Representatives(before.engine, E.of_predicate(SAME)), E, before.source)
    work.count("merged", len(moved.facts))
    if any(n.atom.predicate != SAME for r in after.rules for n in r.negations):
        outcome = Move(before, after, explicit - asserted, asserted - before.E).maintained(name, I, work)
        return replace(after, algorithm_state=outcome.algorithm_state), outcome
    return after, _replaced(before, after, I, old, new, work)


def _replaced(before: Rewritten[F], after: Rewritten[F], I: F, old: F, new: F, work: Work) -> Outcome[F]:
    """I with old facts replaced by new ones, and all that follows. What followed from the old follows from the new."""
    engine, known = after.engine, I - old
    had = {rule.key for rule in before.rules}
    changed = [all_from(r, known | new) for r in after.rules if r.key not in had and r.heads]
    new = (new | engine.derive(changed, work) if changed else new) - known
    added = consequences(engine, [r for r in after.rules if r.atoms and r.heads], known, new, work)
    return Outcome(known | added, added, old)
