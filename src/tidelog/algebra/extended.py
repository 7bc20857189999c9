"""Extended atoms: `B[S]` is the atom B matched in the fact set S, and a rule whose atoms each say where they read.

    H <- B1[I - N], B2[N], ~B3[I]

is `extend(rule, (I - N, N, I))`: one source for each positive or negated body atom, in body order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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


def pivots(rule: Rule, old: F, new: F, all_: F) -> list[Extended[F]]:
    """The semi-naive variants of a rule: each instance with a positive atom in `new` exactly once.

        H <- B1[old] .. B(i-1)[old], Bi[new], B(i+1)[all] .. Bn[all]      for each i

    where `all` = `old | new`, disjoint. A variant whose pivot cannot match is left out. Negated atoms read `all`:
    what they name is complete before this stratum runs.
    """
    variants: list[Extended[F]] = []
    positions = [b for b in rule.body if isinstance(b, Atom | Negation)]
    for i, pivot in enumerate(positions):
        if isinstance(pivot, Atom) and new.may_match(pivot):
            sources = tuple(
                all_ if isinstance(b, Negation) or j > i else new if j == i else old for j, b in enumerate(positions)
            )
            variants.append(Extended(rule, sources))
    return variants


def with_body(rule: Rule, *atoms: Atom) -> Rule:
    """The rule with these atoms put in front of its body."""
    return replace(rule, body=(*atoms, *rule.body))
