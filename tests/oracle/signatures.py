"""The predicates of a random program: name, columns and level; and random terms and facts for them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tidelog.model.terms import TRIPLE, Fact, Term, integer, iri, string

ANY, NUMBER, PROPERTY = "any", "number", "property"

NAMES = tuple(iri(name) for name in ("a", "b", "c", "d", "e"))
PROPERTIES = tuple(iri(name) for name in ("p", "q", "a"))
NUMBERS = tuple(integer(number) for number in range(-1, 4))
# Terms whose plain text equals that of another one, or needs escaping: they must never be taken for each other.
ODD_TERMS = (string("a"), string('say "b"\n'), iri("http://example.org/a"), string("1"), Term('"a"@en'))


@dataclass(frozen=True)
class Signature:
    """A predicate: what its columns hold and on which level it stands; level 0 has no rules."""

    predicate: str
    columns: tuple[str, ...]
    level: int


def random_signatures(random: Random) -> list[Signature]:
    """Two to four predicates without rules, two to five with rules on up to three levels, and often `triple`."""
    given = [_signature(random, f"base{i}", 0) for i in range(random.randint(2, 4))]
    derived = [_signature(random, f"idea{i}", random.choice((1, 1, 2, 2, 3))) for i in range(random.randint(2, 5))]
    triples = [Signature(TRIPLE, (ANY, PROPERTY, ANY), random.choice((0, 0, 1, 1, 2)))] if random.random() < 0.5 else []
    return [*given, *triples, *derived]


def _signature(random: Random, predicate: str, level: int) -> Signature:
    arity = random.choices((0, 1, 2, 3, 4), (3, 12, 18, 6, 2))[0]
    columns = random.choices((ANY, NUMBER), (7, 4), k=arity)
    return Signature(predicate, tuple(columns), level)


def random_term(random: Random, column: str) -> Term:
    if column == NUMBER:
        return random.choice(NUMBERS)
    if column == PROPERTY:
        return random.choice(PROPERTIES)
    roll = random.random()
    return random.choice(NUMBERS if roll < 0.1 else ODD_TERMS if roll < 0.17 else NAMES)


def random_fact(random: Random, signature: Signature) -> Fact:
    return Fact(signature.predicate, tuple(random_term(random, column) for column in signature.columns))


def random_facts(random: Random, signature: Signature) -> list[Fact]:
    """Facts of one predicate: a few where rules derive more; none at all now and then."""
    if random.random() < (0.55 if signature.level else 0.12):
        return []
    most = 3 if signature.level else 14
    return sorted({random_fact(random, signature) for _ in range(random.randint(1, most))})
