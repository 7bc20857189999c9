"""What a user sees of facts over representatives: each fact under all the names that its terms have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.extended import over
from tidelog.algebra.fact_set import FactSet
from tidelog.equality.representatives import SAME, Representatives
from tidelog.equality.rewriting import constants, query_versions, with_constants
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)
F_co = TypeVar("F_co", bound=FactSet, covariant=True)


def named(engine: Engine[F], I: F, facts: F) -> F:
    """Some facts of the materialisation I under all names."""
    return Representatives(engine, I.only(SAME)).expand(facts - facts.only(SAME))


class Difference(Protocol[F_co]):
    """What users see of a change; found out when asked."""

    def added(self) -> F_co: ...

    def removed(self) -> F_co: ...


@dataclass(frozen=True)
class PlainDifference(Generic[F]):
    """The change as it is."""

    plus: F
    minus: F

    def added(self) -> F:
        return self.plus

    def removed(self) -> F:
        return self.minus


@dataclass(frozen=True)
class NamedDifference(Generic[F]):
    """The difference between two materialisations under all names; `plus` and `minus` are that over representatives.

    Only facts that are new or gone, or that mention a clique that changed, can differ under some name.
    """

    engine: Engine[F]
    before: F
    after: F
    plus: F
    minus: F

    def added(self) -> F:
        return self._now - self._was

    def removed(self) -> F:
        return self._was - self._now

    @cached_property
    def _was(self) -> F:
        return self._touched(self.before, self.minus)

    @cached_property
    def _now(self) -> F:
        return self._touched(self.after, self.plus)

    def _touched(self, I: F, changed: F) -> F:
        terms = {term for fact in (*self.plus.only(SAME), *self.minus.only(SAME)) for term in fact.args}
        representatives = Representatives(self.engine, I.only(SAME))
        return named(self.engine, I, changed | representatives.mentioning(I, terms))


def answers(engine: Engine[F], query: Rule, I: F) -> F:
    """The heads of all matches of a query (a rule with one head) under all names."""
    representatives = Representatives(engine, I.only(SAME))
    rules, places = query_versions(query)
    standing = representatives.of(constants(rules))
    found = engine.derive([over(with_constants(rule, standing), I) for rule in rules], Work())
    return representatives.expand(found, places)
