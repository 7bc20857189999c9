"""Fact sets behave like Python sets, over long random chains of `| - &` on relations large enough for several runs.

A chain keeps every set it made: making a new one must not change an old one.
"""

from __future__ import annotations

from itertools import islice, product
from random import Random

import pytest

from tests.oracle.ways import SMALL_BLOCKS
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import with_sources
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.model.terms import Fact, Term, iri
from tidelog.rules.syntax import Atom, Rule, Variable

STEPS = 30
# While there are at most this many terms, rows of four columns are packed into one word.
TIGHT = 1 << 15


def random_rows(random: Random, arity: int, most: int, terms: list[Term]) -> set[Fact]:
    return {
        Fact(f"p{arity}", tuple(random.choice(terms) for _ in range(arity))) for _ in range(random.randint(0, most))
    }


@pytest.mark.parametrize("arity", range(7))
@pytest.mark.parametrize("seed", range(3))
def test_chains_of_set_operations(arity: int, seed: int) -> None:
    random = Random(f"{arity} {seed}")
    terms = [iri(f"t{i}") for i in range(12)]
    engine = LocalEngine(SMALL_BLOCKS)
    made: list[tuple[set[Fact], LocalFacts]] = []
    for _ in range(STEPS):
        rows = random_rows(random, arity, random.choice((3, 30, 300)), terms)
        made.append((rows, engine.fact_set(rows)))
        (left, mine), (right, theirs) = random.choice(made[-8:]), random.choice(random.choice((made, made[-8:])))
        made += [(left | right, mine | theirs), (left - right, mine - theirs), (left & right, mine & theirs)]
    for expected, found in made:
        check(engine, expected, found, arity)


def test_rows_packed_tightly_before_the_dictionary_grew() -> None:
    """Ids from TIGHT on differ from small ones in a bit that the tight packing does not have."""
    engine = LocalEngine(SMALL_BLOCKS)
    terms = [iri(f"t{i}") for i in range(3)]
    old = {Fact("p4", row) for row in product(terms, repeat=4)}
    before = engine.fact_set(old)
    engine.fact_set(Fact("many", (iri(f"u{i}"),)) for i in range(TIGHT + 3))
    newer = [engine.dictionary.decode(TIGHT + i) for i in range(3)]
    new = {Fact("p4", row) for row in product(terms[:2] + newer, repeat=4)}
    after = engine.fact_set(new)
    check(engine, new - old, after - before, 4)
    check(engine, old - new, before - after, 4)
    check(engine, old & new, before & after, 4)
    check(engine, old | new, before | after, 4)


def check(engine: LocalEngine, expected: set[Fact], found: LocalFacts, arity: int) -> None:
    assert len(found) == len(expected)
    assert sorted(found) == sorted(expected)
    assert found.predicates() == ({f"p{arity}": len(expected)} if expected else {})
    assert sorted(found.of_predicate(f"p{arity}")) == sorted(expected)
    assert len(found.of_predicate("absent")) == 0
    assert joined(engine, expected, found, arity) == by_hand(expected, arity)


def joined(engine: LocalEngine, expected: set[Fact], found: LocalFacts, arity: int) -> set[Fact]:
    """The rows that match a sample of rows in all columns but one: a lookup in every order."""
    variables = tuple(Variable(f"v{i}") for i in range(arity))
    sample = engine.fact_set(islice(sorted(expected), 20))
    result: set[Fact] = set()
    for column in range(max(arity, 1)):
        other = tuple(Variable("w") if i == column else v for i, v in enumerate(variables))
        rule = Rule((Atom("out", other),), (Atom(f"p{arity}", variables), Atom(f"p{arity}", other)))
        result |= set(engine.derive([with_sources(rule, (sample, found))], Work()))
    return result


def by_hand(expected: set[Fact], arity: int) -> set[Fact]:
    sample = list(islice(sorted(expected), 20))
    return {
        Fact("out", fact.args)
        for fact in expected
        if any(sum(a != b for a, b in zip(fact.args, row.args, strict=True)) <= (arity > 0) for row in sample)
    }
