"""What an algorithm gets, an update, and what it returns, an outcome.

E        explicit facts after the change            removed, added   explicit facts that went and came
I        the materialisation before the change      rules            the rules before and after the change
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, groupby
from typing import Generic, Protocol, TypeVar

from tidelog.algebra.engine import Engine, Work
from tidelog.algebra.fact_set import FactSet
from tidelog.rules.analysis.strata import Layer, Stratum, layer_of, layers, levels, stratify
from tidelog.rules.syntax import Rule

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True)
class Stage:
    """Rules that do not read what they derive, or else a recursive stratum."""

    layer: Layer
    recursive: bool


@dataclass(frozen=True)
class RuleChange:
    """The rules before a change, and after it."""

    before: tuple[Rule, ...]
    after: tuple[Rule, ...]

    @cached_property
    def layers(self) -> list[Layer]:
        """Raises `RuleError` when old and new rules cannot be ordered together."""
        return layers(self.before, self.after)

    @cached_property
    def strata(self) -> list[Stratum]:
        """The strata of the rules after the change."""
        return _strata(self.after)

    @cached_property
    def stages(self) -> list[Stage]:
        """Finer than layers, so that each can be maintained in its own way. Raises `RuleError` like `layers`."""
        old, new = ({r.key: r for r in rules} for rules in (self.before, self.after))
        stages: list[Stage] = []
        for recursive, group in groupby(_strata(tuple({**old, **new}.values())), lambda stratum: stratum.recursive):
            parts = [stratum.rules for stratum in group]
            some = parts if recursive else levels(tuple(chain.from_iterable(parts)))
            stages += [Stage(layer_of(rules, old.keys(), new.keys()), recursive) for rules in some]
        return stages

    @cached_property
    def recursive(self) -> tuple[Rule, ...]:
        """The rules that are recursive before the change, or after it."""
        strata = (*_strata(self.before), *self.strata)
        return tuple({r.key: r for s in strata if s.recursive for r in s.rules}.values())

    @cached_property
    def is_changed(self) -> bool:
        return self.before is not self.after and {r.key for r in self.before} != {r.key for r in self.after}

    def in_two_steps(self) -> tuple[RuleChange, RuleChange]:
        """Rules are removed first, then added."""
        keys = {r.key for r in self.after}
        kept = tuple(r for r in self.before if r.key in keys)
        return RuleChange(self.before, kept), RuleChange(kept, self.after)


@lru_cache(maxsize=16)
def _strata(rules: tuple[Rule, ...]) -> list[Stratum]:
    """Kept: what is after one change is before the next."""
    return stratify(rules)


@dataclass(frozen=True, slots=True)
class Update(Generic[F]):
    """A change to maintain. `removed` facts were explicit and are not any more; `added` facts are explicit now.

    `algorithm_state` is what the outcome of the previous change asked to keep, whichever algorithm made it. An
    algorithm that counts goes on from its own counts, and counts anew when another algorithm ran in between.
    """

    engine: Engine[F]
    rules: RuleChange
    E: F
    I: F
    removed: F
    added: F
    work: Work
    algorithm_state: object = None

    def in_two_steps(self, algorithm: Algorithm) -> Outcome[F]:
        """The outcome for rules that cannot be ordered together (one undoes what the other negates).

        The algorithm removes facts and rules first, then adds the others.
        """
        nothing = self.engine.fact_set(())
        removing, adding = self.rules.in_two_steps()
        first = algorithm(replace(self, rules=removing, E=self.E - self.added, added=nothing))
        second = replace(self, rules=adding, I=first.I, removed=nothing, algorithm_state=first.algorithm_state)
        return first.then(algorithm(second))


@dataclass(frozen=True, slots=True)
class Outcome(Generic[F]):
    """I after the change; `added` and `removed` are the net difference to I before it.

    `algorithm_state` is what the algorithm wants in the next update, for example counts.
    """

    I: F
    added: F
    removed: F
    algorithm_state: object = None

    def then(self, second: Outcome[F]) -> Outcome[F]:
        """The outcome of two changes, one after the other."""
        added = (self.added - second.removed) | (second.added - self.removed)
        removed = (self.removed - second.added) | (second.removed - self.added)
        return Outcome(second.I, added, removed, second.algorithm_state)


class Algorithm(Protocol):
    """One way to maintain a materialisation."""

    def __call__(self, update: Update[F]) -> Outcome[F]: ...
