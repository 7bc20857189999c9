"""Lookups find what the engine's joins find, wherever one hands over to the other."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

import tidelog
from tidelog import tuning
from tidelog.queries.sparql import Solutions, execute
from tidelog.queries.sparql.evaluate import basic_patterns

NODES = [f"n{i}" for i in range(12)]
PREDICATES = ["p", "q", "r"]


def graph(random: Random, size: int) -> str:
    ends = [(random.choice(NODES), random.choice(PREDICATES), random.choice(NODES)) for _ in range(size)]
    return " ".join(f"[{', '.join(triple)}] ." for triple in ends)


def basic_query(random: Random) -> str:
    variables = [f"?{name}" for name in "abcd"]

    def node() -> str:
        return f"<{random.choice(NODES)}>" if random.random() < 0.3 else random.choice(variables)

    triples = " . ".join(
        f"{node()} <{random.choice(PREDICATES)}> {node()}" for _ in range(random.choice((1, 2, 2, 3, 3, 4)))
    )
    chosen = " ".join(random.sample(variables, random.randint(1, 4)))
    return f"SELECT {chosen} {{ {triples} }}"


def answer(kb: tidelog.KnowledgeBase, query: str) -> Counter[tuple[object, ...]]:
    found = kb.sparql(query)
    assert isinstance(found, Solutions)
    return Counter(found)


@pytest.mark.parametrize("few", [0, 1, 5, 2048])
@pytest.mark.parametrize("seed", range(3))
def test_lookups_agree_with_joins(monkeypatch: pytest.MonkeyPatch, few: int, seed: int) -> None:
    random = Random(f"lookups {seed}")
    with tidelog.open() as kb:
        kb.apply(add=graph(random, 90))
        for _ in range(seed):  # further runs, and rows that are gone
            kb.apply(add=graph(random, 9), remove=graph(random, 4))
        queries = [basic_query(random) for _ in range(60)]
        monkeypatch.setattr(tuning, "LOOKUP_BINDINGS", few)
        found = [answer(kb, query) for query in queries]
        for module in (basic_patterns, execute):
            monkeypatch.setattr(module, "look_up", lambda *_: None)
        for query, rows in zip(queries, found, strict=True):
            assert rows == answer(kb, query), query


def test_bindings_of_other_patterns_are_kept() -> None:
    with tidelog.open() as kb:
        kb.apply(add="[a, p, b] . [a, p, c] . [b, q, d] . [c, q, d] . [d, r, e] .")
        query = "SELECT * { VALUES (?x ?y) { (<a> 1) (<a> 2) } ?x <p> ?z . ?z <q> ?w OPTIONAL { ?w <r> ?v } }"
        assert answer(kb, query) == Counter([("a", n, z, "d", "e") for n in (1, 2) for z in ("b", "c")])
