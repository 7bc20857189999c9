"""A sourced rule: each atom of its body names the fact set that it reads. `B[S]` is the atom B matched in S.

    H <- B1[I - N], B2[N], ~B3[I]

is `with_sources(rule, (I - N, N, I))`: one source for each positive or negated body atom, in body order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.rules.syntax import Atom, Rule

F = TypeVar("F", bound=FactSet)


@dataclass(frozen=True, slots=True)
class SourcedRule(Generic[F]):
    """A rule and, for each `Atom` or `Negation` of its body in order, the fact set it reads."""

    rule: Rule
    sources: tuple[F, ...]


def with_sources(rule: Rule, sources: Sequence[F]) -> SourcedRule[F]:
    assert len(sources) == len(rule.literals)
    return SourcedRule(rule, tuple(sources))


def all_from(rule: Rule, facts: F) -> SourcedRule[F]:
    """Every atom of the rule reads the same set."""
    return SourcedRule(rule, (facts,) * len(rule.literals))


def with_positive_sources(rule: Rule, sources: Sequence[F], negated: F) -> SourcedRule[F]:
    """One source for each positive atom, in order; every negated atom reads `negated`."""
    positive = iter(sources)
    atoms = rule.literals
    return with_sources(rule, [next(positive) if isinstance(b, Atom) else negated for b in atoms])


def pivoted(rule: Rule, left: F, pivot: F, right: F, negated: F) -> list[SourcedRule[F]]:
    """For each positive atom Bi that can match in `pivot`:

        H <- B1[left] .. B(i-1)[left], Bi[pivot], B(i+1)[right] .. Bn[right]

    With `left` = `right` - `pivot` each instance that has an atom in `pivot` is found exactly once.
    """
    return [
        pivoted_at(rule, i, left, pivot, right, negated) for i, atom in enumerate(rule.atoms) if pivot.may_match(atom)
    ]


def pivoted_at(rule: Rule, i: int, left: F, pivot: F, right: F, negated: F) -> SourcedRule[F]:
    """The rule pivoted at one of its positive atoms."""
    return with_positive_sources(rule, (*[left] * i, pivot, *[right] * (len(rule.atoms) - i - 1)), negated)


def guarded(rule: Rule, guards: F, facts: F, negated: F) -> SourcedRule[F]:
    """The first atom reads `guards`, the other positive ones `facts`."""
    return with_positive_sources(rule, (guards, *[facts] * (len(rule.atoms) - 1)), negated)


@lru_cache(maxsize=20_000)
def with_body(rule: Rule, *atoms: Atom) -> Rule:
    """The rule with these atoms put in front of its body."""
    return replace(rule, body=(*atoms, *rule.body))
