"""What an engine must offer: make fact sets, and a few verbs over extended rules.

    derive      the heads of all matches, as a set              every algorithm
                (`derive_pivoted`: of all that have an atom in what changed)
    tally       the heads, and how many matches each has        counting
    supports    the facts some matches are made of              backward chaining
    instances   the matches themselves                          constraints, queries, explanation

An engine never learns which algorithm calls it; an algorithm never sees how an engine stores facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from tidelog.algebra.fact_set import FactSet, Tally
from tidelog.algebra.sourced_rule import Extended
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.rules.syntax import Rule, Variable

F = TypeVar("F", bound=FactSet)


@dataclass(slots=True)
class Work:
    """How much was done, in units that do not depend on the machine."""

    derivations: int = 0
    rounds: int = 0
    counters: dict[str, int] = field(default_factory=dict)

    def count(self, name: str, amount: int) -> None:
        self.counters[name] = self.counters.get(name, 0) + amount

    def figures(self) -> dict[str, int]:
        """All of it by name."""
        return {"derivations": self.derivations, "rounds": self.rounds, **self.counters}


class Engine(Protocol[F]):
    def collect(self, facts: Iterable[Fact]) -> F:
        """A fact set of the given facts (none for the empty set)."""
        ...

    def derive(self, rules: Sequence[Extended[F]], work: Work) -> F:
        """The heads of every match of every rule. Adds the number of matches to `work.derivations`."""
        ...

    def derive_pivoted(self, rules: Sequence[Rule], before: F, pivot: F, behind: F, negated: F, work: Work) -> F:
        """What `derive` gives for the rules `pivoted` at what is new or lost; an engine may take all rules at once."""
        ...

    def tally(self, rules: Sequence[Extended[F]], work: Work) -> Tally[F]:
        """For each derived fact, how many matches (over all rules and heads) derive it.

        An aggregate rule derives each group's fact once, however many matches the group has.
        """
        ...

    def once(self, facts: F) -> Tally[F]:
        """The tally in which each of these facts has the count one."""
        ...

    def supports(
        self, rules: Sequence[Rule], guards: F, facts: F, negated: F, start: int, stop: int | None, work: Work
    ) -> tuple[F, F]:
        """The body facts of some matches, and for which guards there may be more.

        The first atom of each rule is its guard and reads `guards`; the others read `facts`. The engine numbers the
        candidates it would look at for each guard fact, in an order that only the rule and `facts` decide, and looks
        at those from `start` up to `stop` (None: all the rest): a guard fact with thousands of matches need not show
        them all at once. Over windows that follow each other every match is found once. The guard facts returned have
        candidates beyond `stop`. Adds the number of matches to `work.derivations`.
        """
        ...

    def instances(
        self, rule: Extended[F], variables: Sequence[Variable], limit: int | None = None
    ) -> Iterator[tuple[Term, ...]]:
        """The distinct values of `variables` over all matches of the body, at most `limit` of them."""
        ...
