"""What an engine must offer: make fact sets, and a few verbs over rules whose atoms name their sources.

    derive          the heads of all matches, as a set                  every algorithm
    derive_pivoted  the heads of the matches with an atom in a change   every algorithm
    tally           the heads, with the number of matches of each       counting
    supports        the body facts of some matches                      backward chaining
    proofs          the facts that follow in one step, found quickly    backward chaining
    instances       the matches themselves                              constraints, queries, explanation

An engine never learns which algorithm calls it; an algorithm never sees how an engine stores facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Protocol, TypeVar

from tidelog.algebra.fact_set import FactSet, Tally
from tidelog.algebra.sourced_rule import SourcedRule, guarded
from tidelog.model.terms import Fact, Term
from tidelog.rules.syntax import Rule, Variable

F = TypeVar("F", bound=FactSet)


class OutOfTimeError(Exception):
    """An attempt has used up its time. Fact sets are immutable, so the attempt leaves nothing to undo."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an algorithm took on the facts lost by one layer, and whether it came to its end."""

    algorithm: str
    seconds: float
    is_finished: bool


@dataclass(slots=True)
class Work:
    """How much was done, in units that do not depend on the machine; also for attempts that were dropped."""

    derivations: int = 0
    rounds: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    # Where an algorithm tries others: its attempts in order. The present one ends at `deadline`
    # (by `perf_counter`), but not before there are `unstopped` derivations: small changes always run alike.
    attempts: list[Attempt] = field(default_factory=list, repr=False, compare=False)
    deadline: float = field(default=inf, repr=False, compare=False)
    unstopped: int = field(default=0, repr=False, compare=False)

    def check(self) -> None:
        """Algorithms call this between two calls of the engine. Raises OutOfTimeError after the deadline."""
        if self.deadline < inf and self.derivations >= self.unstopped and perf_counter() > self.deadline:
            raise OutOfTimeError

    def count(self, name: str, amount: int) -> None:
        self.counters[name] = self.counters.get(name, 0) + amount

    def figures(self) -> dict[str, int]:
        """All of it by name."""
        return {"derivations": self.derivations, "rounds": self.rounds, **self.counters}


class Engine(Protocol[F]):
    def fact_set(self, facts: Iterable[Fact]) -> F:
        """A fact set of the given facts (none for the empty set)."""
        ...

    def derive(self, rules: Sequence[SourcedRule[F]], work: Work) -> F:
        """The heads of every match of every rule. Adds the number of matches to `work.derivations`."""
        ...

    def derive_pivoted(self, rules: Sequence[Rule], left: F, pivot: F, right: F, negated: F, work: Work) -> F:
        """The heads that `derive` returns for the `pivoted` rules; an engine may evaluate all rules at once."""
        ...

    def tally(self, rules: Sequence[SourcedRule[F]], work: Work) -> Tally[F]:
        """For each derived fact, how many matches (over all rules and heads) derive it.

        An aggregate rule derives each group's fact once, however many matches the group has.
        """
        ...

    def ones(self, facts: F) -> Tally[F]:
        """The tally in which each of these facts has the count one."""
        ...

    def supports(
        self, rules: Sequence[Rule], guards: F, facts: F, negated: F, start: int, stop: int | None, work: Work
    ) -> tuple[F, F]:
        """The body facts of some matches, and the guard facts that may have more matches.

        The first atom of each rule is its guard and reads `guards`; the other atoms read `facts`. The engine numbers
        the candidate matches of each guard fact, in an order that depends only on the rule and `facts`. It looks at
        the candidates from `start` up to `stop` (None: to the end), so a guard fact with thousands of matches need
        not show all of them at once. Adjacent windows find every match once. The guard facts returned have
        candidates beyond `stop`. Adds the number of matches to `work.derivations`.
        """
        ...

    def proofs(self, rules: Sequence[Rule], guards: F, facts: F, negated: F, work: Work) -> tuple[F, F, F]:
        """Guard facts that the rules derive from `facts`, the other guard facts, and the body facts that were used.

        The rules are as in `supports`. An engine may stop at the first match of a guard fact, and may overlook a
        match that is hard to find; it then returns the fact among the others. Adds the number of matches to
        `work.derivations`.
        """
        ...

    def instances(
        self, rule: SourcedRule[F], variables: Sequence[Variable], limit: int | None = None
    ) -> Iterator[tuple[Term, ...]]:
        """The distinct values of `variables` over all matches of the body, at most `limit` of them."""
        ...


def proofs_by_supports(
    engine: Engine[F], rules: Sequence[Rule], guards: F, facts: F, negated: F, work: Work
) -> tuple[F, F, F]:
    """`Engine.proofs` for an engine without a faster way: it looks at the first candidates of `supports`."""
    bodies, _ = engine.supports(rules, guards, facts, negated, 0, 1, work)
    proved = engine.derive([guarded(r, guards, bodies, negated) for r in rules if guards.may_match(r.atoms[0])], Work())
    proved = proved & guards
    return proved, guards - proved, bodies
