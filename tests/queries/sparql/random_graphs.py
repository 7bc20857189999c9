"""Small random graphs with many joins: shared terms, cycles, blank nodes, numbers of several types, tagged strings.

Numbers are written as pyoxigraph writes them, which keeps values and not texts: `STR` must see the same in both.
"""

from __future__ import annotations

from random import Random

from tidelog.model.terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, Term, iri, literal, string

PREFIX = "http://example.org/"
NODES = [iri(f"{PREFIX}n{i}") for i in range(4)]
PREDICATES = [iri(f"{PREFIX}p{i}") for i in range(3)]
BLANKS = [Term(f"_:b{i}") for i in range(3)]
NUMBERS = [
    *(literal(str(i), INTEGER) for i in (0, 1, 2, 3, -1, 10)),
    *(literal(text, DECIMAL) for text in ("1", "1.5", "-0.25", "2.5")),
    *(literal(text, DOUBLE) for text in ("1", "2.5", "0.5")),
]
STRINGS = [*map(string, ("", "a", "b", "ab", "10"))]
OTHERS = [
    literal("a", language="en"),
    literal("b", language="en"),
    literal("a", language="en-gb"),
    literal("c", language="de"),
]
OTHERS += [literal("true", BOOLEAN), literal("false", BOOLEAN), literal("x", f"{PREFIX}datatype")]
OBJECTS = [*NODES, *BLANKS, *NUMBERS, *STRINGS, *OTHERS]

Triple = tuple[Term, Term, Term]


def random_graph(random: Random) -> list[Triple]:
    """Distinct triples; some graphs are mostly links, some mostly values."""
    links = random.choice((0.3, 0.6, 0.9))
    predicates = PREDICATES[: random.choice((1, 2, 3, 3, 3))]
    size = random.choice((0, 6, 12, 20, 20, 30, 30, 40, 40, 40))
    return list(dict.fromkeys(_triple(random, predicates, links) for _ in range(size)))


def _triple(random: Random, predicates: list[Term], links: float) -> Triple:
    subject = random.choice(NODES if random.random() < 0.8 else BLANKS)
    return subject, random.choice(predicates), random.choice(NODES if random.random() < links else OBJECTS)
