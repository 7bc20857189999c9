"""Random requests of SPARQL 1.1 Update, for comparison with pyoxigraph's store."""

from __future__ import annotations

from random import Random

from tests.queries.sparql.random_graphs import NODES, OBJECTS, PREDICATES
from tests.queries.sparql.random_queries import QueryMaker

TERMS = [term for term in OBJECTS if term[0] != "_"]


def random_request(random: Random) -> str:
    """A few operations."""
    return " ;\n".join(_operation(random) for _ in range(random.choice((1, 1, 2, 3, 4))))


def _operation(random: Random) -> str:
    kind = random.choice(("INSERT DATA", "DELETE DATA", "DELETE WHERE", "DELETE", "INSERT", "both", "both", "CLEAR"))
    if kind in ("INSERT DATA", "DELETE DATA"):
        return f"{kind} {{ {_data(random)} }}"
    if kind == "CLEAR":
        return "CLEAR ALL" if random.random() < 0.2 else "CLEAR NAMED"
    maker = QueryMaker(random)
    maker.sets = True  # graphs are sets
    if kind == "DELETE WHERE":
        return f"DELETE WHERE {{ {_without_blanks(maker.triples())} }}"
    where, deleted, inserted = maker.group(1), _template(random, maker), _template(random, maker)
    parts = {"DELETE": (deleted, ""), "INSERT": ("", inserted)}.get(kind, (deleted, inserted))
    texts = (f"{verb} {{ {part} }}" for verb, part in zip(("DELETE", "INSERT"), parts, strict=True) if part)
    return f"{' '.join(texts)} WHERE {where}"


def _data(random: Random) -> str:
    """Triples of which some may be there."""
    triples = ((random.choice(NODES), random.choice(PREDICATES), random.choice(TERMS)) for _ in range(3))
    return " . ".join(map(" ".join, triples))


def _template(random: Random, maker: QueryMaker) -> str:
    return " . ".join(f"{maker.variable()} {random.choice(PREDICATES)} {maker.variable()}" for _ in range(2))


def _without_blanks(triples: str) -> str:
    return triples.replace("_:x", "?x")
