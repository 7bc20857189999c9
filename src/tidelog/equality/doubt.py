"""Which cliques a change puts in doubt (after Motik, Nenov, Piro, Horrocks: Combining Rewriting and Incremental
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

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.extended import extend, over
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.backward_forward import Search
from tidelog.algorithms.layers import Support
from tidelog.equality.representatives import AMONG, EQUALITY, Representatives, components
from tidelog.equality.rewriting import constants, goals
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
        return engine.instances(extend(Rule((), (Atom(AMONG, (x,)), EQUALITY)), (among, self.E)), (x, y))


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
    return engine.derive([over(Rule((a,), (a,)), facts) for a in atoms if facts.may_match(a)], Work())


def _unequal(representatives: Representatives[F], facts: F) -> set[Term]:
    """The cliques that have one of their equalities among the facts."""
    x, y = EQUALITY.variables()
    terms = {t for row in representatives.engine.instances(over(Rule((), (EQUALITY,)), facts), (x, y)) for t in row}
    return representatives.in_cliques(representatives.among(terms))
