"""Proofs by the book: every rule instance of a small model, heights by rounds, all trees by recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tests.reference.engine import Binding, ReferenceFacts, conclusions, ground, matches
from tidelog.algebra.sourced_rule import all_from
from tidelog.explain.explained_version import ground_atom, premises
from tidelog.model.terms import Fact, Term
from tidelog.rules.syntax import Rule


@dataclass(frozen=True)
class Instance:
    head: Fact
    rule: Rule
    binding: tuple[tuple[str, Term], ...]
    premises: tuple[Fact, ...]  # each once


class Naive:
    """All instances of some rules over their model."""

    def __init__(self, rules: Iterable[Rule], E: Iterable[Fact], I: Iterable[Fact]) -> None:
        self.E, self.I = frozenset(E), frozenset(I)
        self.rules = [r for r in rules if r.heads]

    @cached_property
    def instances(self) -> set[Instance]:
        model = ReferenceFacts(self.I)
        return {i for rule in self.rules if rule.body for i in _instances(rule, matches(all_from(rule, model)))}

    @cached_property
    def leaves(self) -> frozenset[Fact]:
        return self.E | {ground_atom(head, {}) for rule in self.rules if not rule.body for head in rule.heads}

    @cached_property
    def heights(self) -> dict[Fact, int]:
        """Round by round: a fact is one higher than the highest premise of its lowest instance."""
        known = dict.fromkeys(self.leaves, 0)
        while new := {
            i.head: 1 + max((known[p] for p in i.premises), default=0)
            for i in self.instances
            if i.head not in known and all(p in known for p in i.premises)
        }:
            known |= new
        return known

    def trees(self, fact: Fact, path: frozenset[Fact] = frozenset()) -> Iterator[tuple[int, int]]:
        """The (height, size) of every proof."""
        if fact in self.leaves:
            yield 0, 0
        path = path | {fact}
        for i in self.instances:
            if i.head == fact and path.isdisjoint(i.premises):
                for below in product(*(list(self.trees(p, path)) for p in i.premises)):
                    sizes = dict(zip(i.premises, (size for _, size in below), strict=True))
                    size = sum(sizes[p] for p in (i.premises if i.rule.aggregate else premises_of(i)))
                    yield 1 + max((height for height, _ in below), default=0), 1 + size

    def is_small(self, fact: Fact, most: int) -> bool:
        """Whether a fact has at most so many proofs, found out without building them all."""
        return len([None for _, _ in zip(range(most + 1), self.trees(fact), strict=False)]) <= most


def premises_of(instance: Instance) -> tuple[Fact, ...]:
    """The premises with repetitions."""
    binding = dict(instance.binding)
    return premises(instance.rule, {v: binding[v.name] for atom in instance.rule.atoms for v in atom.variables()})


def _instances(rule: Rule, found: Sequence[Binding]) -> Iterator[Instance]:
    if rule.aggregate is None:
        for match in found:
            facts, binding = tuple(dict.fromkeys(premises(rule, match))), _frozen(match)
            yield from (Instance(ground_atom(head, match), rule, binding, facts) for head in rule.heads)
        return
    (head,) = rule.heads
    groups: dict[tuple[Term, ...], list[Binding]] = {}
    for match in found:
        groups.setdefault(ground(head, match), []).append(match)
    for group in groups.values():
        facts = tuple(sorted({p for match in group for p in premises(rule, match)}))
        yield from (Instance(fact, rule, (), facts) for fact in set(conclusions(rule, group)))


def _frozen(match: Binding) -> tuple[tuple[str, Term], ...]:
    return tuple(sorted((v.name, t) for v, t in match.items()))
