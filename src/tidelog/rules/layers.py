"""Layers: the strata of the rules before and after a change together, as coarse as negation and aggregates allow.

Within a layer no rule negates or aggregates what another rule of the layer derives, so the papers' algorithms for
plain Datalog apply to it as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from tidelog.rules.strata import stratify
from tidelog.rules.syntax import Rule


@dataclass(frozen=True)
class Layer:
    """Rules that stay, that are removed, and that are added."""

    kept: tuple[Rule, ...]
    removed: tuple[Rule, ...] = ()
    added: tuple[Rule, ...] = ()

    @cached_property
    def kept_plain(self) -> tuple[Rule, ...]:
        """Rules that stay and are neither aggregates nor axioms; always the same tuple, so that nobody compares it."""
        return tuple(r for r in self.kept if r.aggregate is None and r.atoms)

    @cached_property
    def kept_aggregates(self) -> tuple[Rule, ...]:
        return tuple(r for r in self.kept if r.aggregate is not None)

    @cached_property
    def kept_axioms(self) -> tuple[Rule, ...]:
        return tuple(r for r in self.kept if not r.atoms)


def layers(before: Iterable[Rule], after: Iterable[Rule]) -> list[Layer]:
    """The layers of a change of rules. Raises `RuleError` when old and new rules cannot be ordered together."""
    old = {r.key: r for r in before}
    new = {r.key: r for r in after}
    groups: list[list[Rule]] = [[]]
    for stratum in stratify({**old, **new}.values()):
        if any(r.negations or r.aggregate for r in stratum.rules):
            groups.append([])
        groups[-1].extend(stratum.rules)
    return [divided(group, old.keys(), new.keys()) for group in groups if group]


def divided(rules: Iterable[Rule], old: Set[str], new: Set[str]) -> Layer:
    """The rules of one layer by what becomes of them, given the keys of all rules before and after."""
    together = tuple(rules)
    return Layer(
        kept=tuple(r for r in together if r.key in old and r.key in new),
        removed=tuple(r for r in together if r.key not in new),
        added=tuple(r for r in together if r.key not in old),
    )
