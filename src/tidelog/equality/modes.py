"""The two ways in which a knowledge base may treat `owl:sameAs`: as any other property, or by rewriting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.layers import Program
from tidelog.algorithms.outcome import Outcome
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.equality.maintain import maintain
from tidelog.equality.names import Difference, NamedDifference, PlainDifference, named
from tidelog.equality.representatives import SAME, Representatives
from tidelog.equality.rewriting import constants, rewrite_rules
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


class Mode(Protocol):
    """What a knowledge base asks. I is the materialisation as it is stored, E are explicit facts as users gave them."""

    def change(
        self, name: str, engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object
    ) -> Outcome[F]:
        """What the algorithm of that name makes of I."""
        ...

    def rules(self, engine: Engine[F], rules: Iterable[Rule], I: F) -> tuple[Rule, ...]:
        """Rules as they run over I."""
        ...

    def facts(self, engine: Engine[F], I: F, some: F) -> F:
        """What users see of some of the facts in I."""
        ...

    def difference(self, engine: Engine[F], before: F, after: F, plus: F, minus: F) -> Difference[F]:
        """What users see of a change that added `plus` to what is stored and removed `minus` from it."""
        ...


class Off:
    """What is stored is what users see."""

    def change(
        self, name: str, engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object
    ) -> Outcome[F]:
        return ALGORITHMS[name](engine, program, E, I, removed, added, work, kept)

    def rules(self, engine: Engine[F], rules: Iterable[Rule], I: F) -> tuple[Rule, ...]:
        return tuple(rules)

    def facts(self, engine: Engine[F], I: F, some: F) -> F:
        return some

    def difference(self, engine: Engine[F], before: F, after: F, plus: F, minus: F) -> Difference[F]:
        return PlainDifference(plus, minus)


class Rewriting:
    """What is stored is about representatives."""

    def change(
        self, name: str, engine: Engine[F], program: Program, E: F, I: F, removed: F, added: F, work: Work, kept: object
    ) -> Outcome[F]:
        return maintain(name, engine, program, E, I, removed, added, work, kept)

    def rules(self, engine: Engine[F], rules: Iterable[Rule], I: F) -> tuple[Rule, ...]:
        source = tuple(rules)
        return rewrite_rules(source, Representatives(engine, I.only(SAME)).of(constants(source)))

    def facts(self, engine: Engine[F], I: F, some: F) -> F:
        return named(engine, I, some)

    def difference(self, engine: Engine[F], before: F, after: F, plus: F, minus: F) -> Difference[F]:
        return NamedDifference(engine, before, after, plus, minus)


OFF, REWRITING = "off", "rewriting"
MODES: Mapping[str, Mode] = {OFF: Off(), REWRITING: Rewriting()}


def mode_of(options: Mapping[str, object]) -> Mode:
    """The way that a knowledge base was made for."""
    return MODES[str(options.get("equality", OFF))]
