"""Knowledge bases made of random programs, with what the oracle knows about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import tidelog
from tests.explain.naive import Naive
from tests.oracle.histories import State, random_history
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact


@contextmanager
def random_world(seed: int, state: int = 0) -> Iterator[tuple[KnowledgeBase, Naive, Random]]:
    """A state of a random history in memory."""
    found = random_history(seed).states[state]
    with tidelog.open() as kb:
        kb.apply(add=list(found.facts), add_rules=found.rules)
        yield kb, Naive(kb.rules, found.facts, found.model), Random(seed)


def some(random: Random, facts: frozenset[Fact] | set[Fact], count: int) -> list[Fact]:
    ordered = sorted(facts)
    return random.sample(ordered, min(count, len(ordered)))


def near_misses(random: Random, state: State | Naive, count: int) -> list[Fact]:
    """Facts that do not hold: facts that do, with one argument changed."""
    model = state.model if isinstance(state, State) else state.I
    ordered = sorted(fact for fact in model if fact.args)
    terms = sorted({t for fact in ordered for t in fact.args})
    found = []
    for fact in random.choices(ordered, k=count) if ordered else ():
        at = random.randrange(len(fact.args))
        changed = Fact(fact.predicate, (*fact.args[:at], random.choice(terms), *fact.args[at + 1 :]))
        found += [changed] if changed not in model else []
    return found
