"""Proofs of random facts: each checks, is as low as any, and all of them are found."""

from __future__ import annotations

import pytest

from tests.explain.worlds import random_world, some
from tests.reference.checking import check

FACTS = 6
MOST = 200  # proofs of one fact that are counted


def check_shortest(seed: int) -> int:
    with random_world(seed) as (kb, naive, random):
        chosen = some(random, naive.I - naive.E, FACTS) + some(random, naive.E, 1)
        for fact in chosen:
            found = kb.explain(fact)
            assert check(found.proof, kb.rules, naive.E, naive.I) == []
            assert found.proof.fact == fact
            assert found.depth == naive.heights[fact], fact
        return len(chosen)


@pytest.mark.parametrize("seed", range(40))
def test_proofs_check_and_are_lowest(seed: int) -> None:
    check_shortest(seed)


@pytest.mark.usefixtures("long_tier")
def test_many_more() -> None:
    assert sum(map(check_shortest, range(40, 600))) > 2000


def check_every(seed: int) -> int:
    """Facts with few proofs: as many as by the book, of the same heights and sizes, in that order."""
    with random_world(seed) as (kb, naive, random):
        chosen = [f for f in some(random, naive.I, 3) if naive.is_small(f, MOST)]
        for fact in chosen:
            found = kb.explain(fact, all_proofs=MOST + 1)
            assert [(p.height, p.size) for p in found.proofs] == sorted(naive.trees(fact)), fact
            for proof in found.proofs:
                assert check(proof, kb.rules, naive.E, naive.I) == []
        return len(chosen)


def small(seeds: range) -> list[int]:
    """Programs whose model is small enough to build all trees."""
    found = []
    for seed in seeds:
        with random_world(seed) as (_, naive, _):
            if 5 < len(naive.instances) < 40:
                found.append(seed)
    return found


def test_all_proofs() -> None:
    assert sum(check_every(seed) for seed in small(range(60))) > 20
