"""Many histories as one: their predicates are renamed apart, so that one job serves all of them.

Triples cannot be renamed, because a variable may stand for any of their predicates: of several histories only one may
have some. In a united history every rule change and every round of one program meets those of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tests.oracle.histories import State, random_history
from tidelog.model.facts import Fact
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Atom, Literal, Negation, Rule


def united(seeds: Iterable[int]) -> list[State]:
    """The states of all these histories, side by side."""
    histories = [[_renamed(state, seed) for state in random_history(seed).states] for seed in seeds]
    return [_together(states) for states in zip(*histories, strict=True)]


def batches(seeds: Sequence[int], size: int) -> Iterator[list[int]]:
    """Seeds in batches of which only one has triples."""
    triples = [s for s in seeds if _has_triples(s)]
    others = [s for s in seeds if not _has_triples(s)]
    while triples or others:
        batch, others = others[: size - 1], others[size - 1 :]
        yield [*batch, *triples[:1]]
        triples = triples[1:]


def _has_triples(seed: int) -> bool:
    return any(s.predicate == TRIPLE for s in random_history(seed).program.signatures)


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
    return frozenset(Fact(_name(fact.predicate, seed), fact.args) for fact in facts)


def _rule(rule: Rule, seed: int) -> Rule:
    heads = tuple(_atom(head, seed) for head in rule.heads)
    return replace(rule, heads=heads, body=tuple(_literal(literal, seed) for literal in rule.body))


def _literal(literal: Literal, seed: int) -> Literal:
    if isinstance(literal, Negation):
        return Negation(_atom(literal.atom, seed))
    return _atom(literal, seed) if isinstance(literal, Atom) else literal


def _atom(atom: Atom, seed: int) -> Atom:
    return Atom(_name(atom.predicate, seed), atom.args)


def _name(predicate: str, seed: int) -> str:
    return predicate if predicate == TRIPLE else f"{predicate}_{seed}"
