"""Representatives: which term stands for which, itself a set of facts.

    (same)(b, a)        a stands for b; a term that stands for itself has no such fact

A clique is all the terms that one term stands for. Its representative is the member with the smallest text, whatever
the order in which equalities came; only `owl:sameAs` stands for its clique always, so that rules and data that name it
need no second look. Being facts, representatives are immutable, rules can read them, and replacing terms is a join.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import SourcedRule, with_sources
from tidelog.model.terms import OWL, TRIPLE, Fact, Term
from tidelog.rules.syntax import Atom, Rule, Variable

F = TypeVar("F", bound=FactSet)

SAME_AS = Term(f"<{OWL}sameAs>")
SAME = "(same)"  # not names that a program can have
AMONG = "(among)"

_MEMBER, _REPRESENTATIVE = Variable("member"), Variable("representative")
_STANDS_FOR = Atom(SAME, (_MEMBER, _REPRESENTATIVE))
EQUALITY = Atom(TRIPLE, (Variable("x"), SAME_AS, Variable("y")))


@dataclass(frozen=True)
class Representatives(Generic[F]):
    """The facts `(same)`, and what can be done with them."""

    engine: Engine[F]
    facts: F

    def rewrite(self, facts: F) -> F:
        """The facts with every term replaced by the one that stands for it."""
        for place in range(_width(facts) if self.facts else 0):
            old = self._joined(facts, place, _STANDS_FOR, _MEMBER, _MEMBER)
            if old:
                facts = (facts - old) | self._joined(old, place, _STANDS_FOR, _MEMBER, _REPRESENTATIVE)
        return facts

    def expand(self, facts: F, places: Collection[int] | None = None) -> F:
        """The facts (over representatives) with every term, or those in some places, replaced by all it stands for."""
        for place in range(_width(facts) if self.facts else 0):
            if places is None or place in places:
                facts = facts | self._joined(facts, place, _STANDS_FOR, _REPRESENTATIVE, _MEMBER)
        return facts

    def standing_for(self, facts: F, others: F) -> F:
        """Those of the facts that mention a clique and become of some of the others when these are rewritten."""
        facts = self.mentioning(facts, self.in_cliques(facts))
        terms = {term for name, arity in facts.arities().items() for term in self._terms(facts, name, arity)}
        same = self.facts | self.engine.fact_set(Fact(SAME, (term, term)) for term in terms)
        rules = [
            with_sources(_standing(name, arity), (facts, *[same] * arity, others))
            for name, arity in facts.arities().items()
        ]
        return self.engine.derive(rules, Work())

    def _terms(self, facts: F, name: str, arity: int) -> set[Term]:
        args = tuple(Variable(f"x{i}") for i in range(arity))
        rows = self.engine.instances(with_sources(Rule((), (Atom(name, args),)), (facts,)), args)
        return {term for row in rows for term in row}

    def in_cliques(self, facts: F) -> set[Term]:
        """The terms in the facts that stand for others."""
        heads = Atom(AMONG, (_REPRESENTATIVE,))
        rules = [
            with_sources(Rule((heads,), _body(name, arity, place, _STANDS_FOR, _REPRESENTATIVE)), (self.facts, facts))
            for name, arity in facts.arities().items()
            for place in range(arity)
        ]
        found = self.engine.derive(rules, Work()) if rules and self.facts else ()
        return {fact.args[0] for fact in found}

    def members(self, representatives: Iterable[Term]) -> dict[Term, set[Term]]:
        """The cliques that some terms stand for, themselves included."""
        cliques = {r: {r} for r in representatives}
        among = Atom(AMONG, (_REPRESENTATIVE,))
        rule = with_sources(Rule((), (among, _STANDS_FOR)), (self.among(cliques), self.facts))
        for member, representative in self.engine.instances(rule, (_MEMBER, _REPRESENTATIVE)):
            cliques[representative].add(member)
        return cliques

    def of(self, terms: Collection[Term]) -> dict[Term, Term]:
        """Which terms stand for some others; those that stand for themselves are absent."""
        rule = with_sources(Rule((), (Atom(AMONG, (_MEMBER,)), _STANDS_FOR)), (self.among(terms), self.facts))
        return dict(self.engine.instances(rule, (_MEMBER, _REPRESENTATIVE)) if self.facts and terms else ())  # type: ignore[arg-type]

    def among(self, terms: Iterable[Term]) -> F:
        """The terms as facts."""
        return self.engine.fact_set(Fact(AMONG, (term,)) for term in terms)

    def mentioning(self, facts: F, terms: Collection[Term]) -> F:
        """The facts in which one of the terms stands in some place."""
        if not terms:
            return self.engine.fact_set(())
        among = self.among(terms)
        rules = [
            _reading(name, arity, place, Atom(AMONG, (_MEMBER,)), (_MEMBER, _MEMBER), (among, facts))
            for name, arity in facts.arities().items()
            for place in range(arity)
        ]
        return self.engine.derive(rules, Work())

    def same(self, standing: Mapping[Term, Term]) -> F:
        """That values stand for keys, as facts."""
        return self.engine.fact_set(Fact(SAME, pair) for pair in standing.items() if pair[0] != pair[1])

    def _joined(self, facts: F, place: int, with_: Atom, find: Variable, put: Variable) -> F:
        """The facts that have at a place a term that `with_` has as `find`, with its `put` there instead."""
        rules = [
            _reading(name, arity, place, with_, (find, put), (self.facts, facts))
            for name, arity in facts.arities().items()
            if place < arity
        ]
        return self.engine.derive(rules, Work())


def components(pairs: Iterable[tuple[Term, Term]]) -> dict[Term, Term]:
    """Union-find: for each term of the pairs the first of those it is connected with."""
    parents: dict[Term, Term] = {}

    def root(term: Term) -> Term:
        path = []
        while (parent := parents.setdefault(term, term)) != term:
            path.append(term)
            term = parent
        parents.update(dict.fromkeys(path, term))
        return term

    for pair in pairs:
        first, second = sorted(map(root, pair), key=_rank)
        parents[second] = first
    return {term: root(term) for term in parents}


def equalities(engine: Engine[F], facts: F) -> Iterator[tuple[Term, Term]]:
    """The pairs of different terms that the facts say to be equal."""
    for x, y in engine.instances(with_sources(Rule((), (EQUALITY,)), (facts,)), tuple(EQUALITY.variables())):
        if x != y:
            yield x, y


def _rank(term: Term) -> tuple[bool, Term]:
    return term != SAME_AS, term


def _width(facts: FactSet) -> int:
    return max(facts.arities().values(), default=0)


def _reading(
    name: str, arity: int, place: int, with_: Atom, swap: tuple[Variable, Variable], sources: tuple[F, F]
) -> SourcedRule[F]:
    return with_sources(_rule(name, arity, place, with_, *swap), sources)


@lru_cache(maxsize=20_000)
def _rule(name: str, arity: int, place: int, with_: Atom, find: Variable, put: Variable) -> Rule:
    body = _body(name, arity, place, with_, find)
    args = list(body[1].args)
    args[place] = put
    return Rule((Atom(name, tuple(args)),), body)


@lru_cache(maxsize=20_000)
def _standing(name: str, arity: int) -> Rule:
    """p(?x0, ?x1) :- p(?x0, ?x1), (same)(?y0, ?x0), (same)(?y1, ?x1), p(?y0, ?y1)."""
    xs, ys = (tuple(Variable(f"{letter}{i}") for i in range(arity)) for letter in "xy")
    pairs = (Atom(SAME, (y, x)) for x, y in zip(xs, ys, strict=True))
    return Rule((Atom(name, xs),), (Atom(name, xs), *pairs, Atom(name, ys)))


def _body(name: str, arity: int, place: int, with_: Atom, find: Variable) -> tuple[Atom, Atom]:
    args = tuple(find if i == place else Variable(f"x{i}") for i in range(arity))
    return with_, Atom(name, args)
