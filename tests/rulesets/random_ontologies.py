"""Random triples of a small vocabulary, most of them axioms, and histories of adding and removing them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.rulesets.cases import Triples, turtle

CLASSES, PROPERTIES, THINGS, LISTS = (":A", ":B", ":C"), (":p", ":q", ":r"), (":a", ":b", ":c", ":d"), (":l", ":m")
PLACES = {"C": CLASSES, "P": PROPERTIES, "x": THINGS, "l": LISTS}
# A letter stands for a random name of that kind.
DATA = ("x P x", "x P x", "x a C", "x P 1", 'x P "01"^^xsd:integer', "x owl:sameAs x")
SCHEMA = (
    "C rdfs:subClassOf C",
    "P rdfs:subPropertyOf P",
    "P rdfs:domain C",
    "P rdfs:range C",
    "C a owl:Class",
    "C owl:equivalentClass C",
    "P owl:inverseOf P",
    "P a owl:TransitiveProperty",
    "P a owl:SymmetricProperty",
    "P a owl:FunctionalProperty",
    "P owl:propertyChainAxiom l",
    "C owl:intersectionOf l",
    "C owl:unionOf l",
    "C owl:hasKey l",
    "l rdf:first C",
    "l rdf:first P",
    "l rdf:rest l",
    "l rdf:rest rdf:nil",
    "C owl:onProperty P",
    "C owl:someValuesFrom C",
    "C owl:allValuesFrom C",
    "C owl:hasValue x",
    "C owl:maxCardinality 1",
    "C owl:disjointWith C",
    "P a rdfs:ContainerMembershipProperty",
    "C a rdfs:Class",
    "C a rdfs:Datatype",
)


def random_triples(random: Random, count: int) -> Triples:
    return turtle(" ".join(f"{_filled(random, random.choice((*SCHEMA, *DATA * 4)))} ." for _ in range(count)))


def _filled(random: Random, template: str) -> str:
    return " ".join(random.choice(PLACES.get(word, (word,))) for word in template.split(" "))


def random_history(seed: int, steps: int) -> Iterator[Triples]:
    """The explicit triples, first and after each step."""
    random = Random(f"ontology {seed}")
    triples = random_triples(random, 14)
    yield triples
    for _ in range(steps):
        gone = random.sample(sorted(triples), min(random.choice((0, 1, 1, 2)), len(triples)))
        triples = (triples - frozenset(gone)) | random_triples(random, random.choice((0, 1, 1, 2)))
        yield triples
