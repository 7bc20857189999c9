"""Many histories as one: their predicates are renamed apart, so that one job serves all of them.

Of triples it is their own predicates that are renamed. Where a variable may stand for any of them, a history is united
only with such as have no triples. Every rule change and every round of one program meets those of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from tests.oracle.histories import RandomHistory, State, random_history
from tidelog.model.terms import TRIPLE, Fact, Term, iri
from tidelog.rules.syntax import Atom, Literal, Negation, Rule, Variable

T = TypeVar("T")


def united(seeds: Iterable[int]) -> list[State]:
    """The states of all these histories, side by side."""
    histories = [[_renamed(state, seed) for state in _history(seed).states] for seed in seeds]
    return [_together(states) for states in zip(*histories, strict=True)]


@lru_cache(maxsize=128)
def _history(seed: int) -> RandomHistory:
    """Kept from the look at its rules until it is united."""
    return random_history(seed)


def batches(seeds: Iterable[int], size: int) -> Iterator[list[int]]:
    """Seeds in batches of this size that can be united; what is left over comes last, in small ones."""
    plain: list[int] = []  # without triples: these go with anything
    named: list[int] = []  # triples whose predicates are named
    any_: list[int] = []  # triples with any predicate
    for seed in seeds:
        has_triples = any(s.predicate == TRIPLE for s in _history(seed).program.signatures)
        (any_ if _has_any_predicate(seed) else named if has_triples else plain).append(seed)
        if len(named) == size:
            yield named
            named = []
        if len(plain) == size - 1:
            yield [*plain, *any_[-1:]]
            plain, any_ = [], any_[:-1]
    yield from filter(None, ([*plain, *any_[-1:]], named, *([seed] for seed in any_[:-1])))


@lru_cache(maxsize=128)
def _has_any_predicate(seed: int) -> bool:
    """Whether a variable stands for the predicate of a triple."""
    rules = {rule for state in _history(seed).states for rule in state.rules}
    literals = [b.atom if isinstance(b, Negation) else b for rule in rules for b in (*rule.heads, *rule.body)]
    return any(isinstance(b, Atom) and b.predicate == TRIPLE and isinstance(b.args[1], Variable) for b in literals)


def _together(states: Sequence[State]) -> State:
    return State(
        frozenset().union(*(s.facts for s in states)),
        tuple(rule for s in states for rule in s.rules),
        frozenset().union(*(s.model for s in states)),
    )


def _renamed(state: State, seed: int) -> State:
    rules = tuple(_rule(rule, seed) for rule in state.rules)
    return State(_facts(state.facts, seed), rules, _facts(state.model, seed))


def _facts(facts: Iterable[Fact], seed: int) -> frozenset[Fact]:
    return frozenset(Fact(*_apart(fact.predicate, fact.args, seed)) for fact in facts)


def _rule(rule: Rule, seed: int) -> Rule:
    heads = tuple(_atom(head, seed) for head in rule.heads)
    return replace(rule, heads=heads, body=tuple(_literal(literal, seed) for literal in rule.body))


def _literal(literal: Literal, seed: int) -> Literal:
    if isinstance(literal, Negation):
        return Negation(_atom(literal.atom, seed))
    return _atom(literal, seed) if isinstance(literal, Atom) else literal


def _atom(atom: Atom, seed: int) -> Atom:
    return Atom(*_apart(atom.predicate, atom.args, seed))


def _apart(predicate: str, args: tuple[T, ...], seed: int) -> tuple[str, tuple[T | Term, ...]]:
    if predicate != TRIPLE:
        return f"{predicate}_{seed}", args
    if _has_any_predicate(seed):
        return predicate, args
    subject, name, object_ = args
    return TRIPLE, (subject, iri(f"{name[1:-1]}_{seed}") if isinstance(name, str) else name, object_)
