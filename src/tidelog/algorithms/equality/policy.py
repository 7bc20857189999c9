"""The two ways in which a knowledge base may treat `owl:sameAs`: as any other property, or by rewriting.

What a user sees of facts over representatives: each fact under all the names that its terms have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algebra.sourced_rule import all_from
from tidelog.algorithms.equality.maintain import ByRewriting
from tidelog.algorithms.equality.representatives import SAME, Representatives
from tidelog.algorithms.equality.rewriting import constants, query_versions, rewrite_rules, with_constants
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import Algorithm
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)
F_co = TypeVar("F_co", bound=FactSet, covariant=True)


def named(engine: Engine[F], I: F, facts: F) -> F:
    """Some facts of the materialisation I under all names."""
    return Representatives(engine, I.of_predicate(SAME)).expand(facts - facts.of_predicate(SAME))


class VisibleChange(Protocol[F_co]):
    """The facts that users gain and lose by a change, computed on first use."""

    def added(self) -> F_co: ...

    def removed(self) -> F_co: ...


@dataclass(frozen=True)
class PlainChange(Generic[F]):
    """Users see the change of I itself."""

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
        terms = {term for fact in (*self.plus.of_predicate(SAME), *self.minus.of_predicate(SAME)) for term in fact.args}
        representatives = Representatives(self.engine, I.of_predicate(SAME))
        return named(self.engine, I, changed | representatives.mentioning(I, terms))


def answers(engine: Engine[F], query: Rule, I: F) -> F:
    """The heads of all matches of a query (a rule with one head) under all names."""
    representatives = Representatives(engine, I.of_predicate(SAME))
    rules, places = query_versions(query)
    standing = representatives.of(constants(rules))
    found = engine.derive([all_from(with_constants(rule, standing), I) for rule in rules], Work())
    return representatives.expand(found, places)


class Mode(Protocol):
    """What a knowledge base asks. I is the materialisation as it is stored, E are explicit facts as users gave them."""

    def algorithm(self, name: str) -> Algorithm:
        """The algorithm with this name, for what is stored."""
        ...

    def rules(self, engine: Engine[F], rules: Iterable[Rule], I: F) -> tuple[Rule, ...]:
        """Rules as they run over I."""
        ...

    def facts(self, engine: Engine[F], I: F, some: F) -> F:
        """What users see of some of the facts in I."""
        ...

    def difference(self, engine: Engine[F], before: F, after: F, plus: F, minus: F) -> VisibleChange[F]:
        """What users see of a change that added `plus` to what is stored and removed `minus` from it."""
        ...


class Off:
    """What is stored is what users see."""

    def algorithm(self, name: str) -> Algorithm:
        return ALGORITHMS[name]

    def rules(self, engine: Engine[F], rules: Iterable[Rule], I: F) -> tuple[Rule, ...]:
        return tuple(rules)

    def facts(self, engine: Engine[F], I: F, some: F) -> F:
        return some

    def difference(self, engine: Engine[F], before: F, after: F, plus: F, minus: F) -> VisibleChange[F]:
        return PlainChange(plus, minus)


class Rewriting:
    """What is stored is about representatives."""

    def algorithm(self, name: str) -> Algorithm:
        return ByRewriting(name)

    def rules(self, engine: Engine[F], rules: Iterable[Rule], I: F) -> tuple[Rule, ...]:
        source = tuple(rules)
        return rewrite_rules(source, Representatives(engine, I.of_predicate(SAME)).of(constants(source)))

    def facts(self, engine: Engine[F], I: F, some: F) -> F:
        return named(engine, I, some)

    def difference(self, engine: Engine[F], before: F, after: F, plus: F, minus: F) -> VisibleChange[F]:
        return NamedDifference(engine, before, after, plus, minus)


OFF, REWRITING = "off", "rewriting"
MODES: Mapping[str, Mode] = {OFF: Off(), REWRITING: Rewriting()}


def mode_of(options: Mapping[str, object]) -> Mode:
    """The way that a knowledge base was made for."""
    return MODES[str(options.get("equality", OFF))]
