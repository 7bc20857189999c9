"""Extended atoms: `B[S]` is the atom B matched in the fact set S, and a rule whose atoms each say where they read.

    H <- B1[I - N], B2[N], ~B3[I]

is `extend(rule, (I - N, N, I))`: one source for each positive or negated body atom, in body order.

A rule with a positive copy of one negated atom in front: where the copy reads a change, the instances it touches.

p(?x) :- q(?x), ~r(?x, ?e)      p(?x) :- r(?x, ?_1), q(?x), ~r(?x, ?e)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.rules.syntax import Atom, Negation, Rule

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True, slots=True)
class Extended(Generic[F]):
    """A rule and, for each `Atom` or `Negation` of its body in order, the fact set it reads."""

    rule: Rule
    sources: tuple[F, ...]


def extend(rule: Rule, sources: Sequence[F]) -> Extended[F]:
    assert len(sources) == sum(isinstance(b, Atom | Negation) for b in rule.body)
    return Extended(rule, tuple(sources))


def over(rule: Rule, facts: F) -> Extended[F]:
    """Every atom of the rule reads the same set."""
    return Extended(rule, (facts,) * sum(isinstance(b, Atom | Negation) for b in rule.body))


def reading(rule: Rule, sources: Sequence[F], negated: F) -> Extended[F]:
    """One source for each positive atom, in order; every negated atom reads `negated`."""
    positive = iter(sources)
    atoms = [b for b in rule.body if isinstance(b, Atom | Negation)]
    return extend(rule, [next(positive) if isinstance(b, Atom) else negated for b in atoms])


def pivoted(rule: Rule, before: F, pivot: F, behind: F, negated: F) -> list[Extended[F]]:
    """For each positive atom Bi that can match in `pivot`:

        H <- B1[before] .. B(i-1)[before], Bi[pivot], B(i+1)[behind] .. Bn[behind]

    With `before` = `behind` - `pivot` each instance that has an atom in `pivot` is found exactly once.
    """
    return [
        pivoted_at(rule, i, before, pivot, behind, negated)
        for i, atom in enumerate(rule.atoms)
        if pivot.may_match(atom)
    ]


def pivoted_at(rule: Rule, i: int, before: F, pivot: F, behind: F, negated: F) -> Extended[F]:
    """The rule pivoted at one of its positive atoms."""
    return reading(rule, (*[before] * i, pivot, *[behind] * (len(rule.atoms) - i - 1)), negated)


def guarded(rule: Rule, guards: F, facts: F, negated: F) -> Extended[F]:
    """The first atom reads `guards`, the other positive ones `facts`."""
    return reading(rule, (guards, *[facts] * (len(rule.atoms) - 1)), negated)


@lru_cache(maxsize=20_000)
def with_body(rule: Rule, *atoms: Atom) -> Rule:
    """The rule with these atoms put in front of its body."""
    return replace(rule, body=(*atoms, *rule.body))
