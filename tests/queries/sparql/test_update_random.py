"""Random requests leave the graph that pyoxigraph has after them."""

from __future__ import annotations

from random import Random

import pyoxigraph as ox
import pytest

import tidelog
from tests.queries.sparql.against import quad
from tests.queries.sparql.bags import same
from tests.queries.sparql.expected import term
from tests.queries.sparql.random_graphs import random_graph
from tests.queries.sparql.random_updates import random_request
from tidelog.model.terms import TRIPLE, Fact, to_term

QUICK, LONG, PART = 30, 2000, 10  # graphs
REQUESTS = 4  # one after the other


def replay(seed: int) -> None:
    random = Random(f"update {seed}")
    triples = random_graph(random)
    store = ox.Store()
    store.extend(map(quad, triples))
    with tidelog.open() as kb:
        kb.apply(add=[Fact(TRIPLE, triple) for triple in triples])
        for _ in range(REQUESTS):
            request = random_request(random)
            store.update(request)
            kb.update(request)
            ours = [tuple(map(to_term, row)) for row in kb.facts(TRIPLE)]
            theirs = [(term(q.subject), term(q.predicate), term(q.object)) for q in store]
            assert same(ours, theirs), f"seed {seed}: {request}"


@pytest.mark.parametrize("first", range(0, QUICK, PART))
def test_random_requests(first: int) -> None:
    for seed in range(first, first + PART):
        replay(seed)


@pytest.mark.usefixtures("long_tier")
@pytest.mark.parametrize("first", range(QUICK, LONG, PART))
def test_many_random_requests(first: int) -> None:
    for seed in range(first, first + PART):
        replay(seed)
