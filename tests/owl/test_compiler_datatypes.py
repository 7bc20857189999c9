"""Datatypes as sub-classes of others, and data ranges: the compiled rules agree with the rule set OWL2RL."""

from __future__ import annotations

from random import Random

import pytest

from tests.owl.cases import Case, by_rule_set, compiled, together
from tidelog.rules.analysis.safety import check_rules

CLASSES, PROPERTIES, INDIVIDUALS = (":A", ":B", ":C"), (":p", ":q"), ("i:u", "i:v", "i:w")
DATATYPES = ("xsd:integer", "xsd:decimal", "xsd:string", "xsd:byte", "xsd:boolean", ":d", ":e", "rdfs:Literal")
VALUES = ("1", "300", '"x"', "1.5", "true")


class RandomDatatypes:
    """An ontology about datatypes, and data, for each seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pick = self.random.choice

    def case(self) -> Case:
        declared = [f"{c} a owl:Class ." for c in CLASSES] + [f"{p} a owl:DatatypeProperty ." for p in PROPERTIES]
        axioms = [self._axiom() for _ in range(self.random.randint(2, 6))]
        data = [f"{self.pick(INDIVIDUALS)} a {self.pick(CLASSES)} ." for _ in range(2)]
        data += [f"{self.pick(INDIVIDUALS)} {self.pick(PROPERTIES)} {self.pick(VALUES)} ." for _ in range(3)]
        schema = [*declared, ":d a rdfs:Datatype . :e a rdfs:Datatype .", *axioms]
        return Case("", {"ontology": "\n".join(schema), "data": "\n".join(data)})

    def _range(self) -> str:
        one, other = self.pick(DATATYPES), self.pick(DATATYPES)
        union = f"[ a rdfs:Datatype ; owl:unionOf ( {one} {other} ) ]"
        both = f"[ a rdfs:Datatype ; owl:intersectionOf ( {one} {other} ) ]"
        return one if self.random.random() < 0.75 else self.pick([union, both])

    def _restriction(self, kind: str) -> str:
        return f"[ a owl:Restriction ; owl:onProperty {self.pick(PROPERTIES)} ; owl:{kind} {self._range()} ]"

    def _axiom(self) -> str:
        one, other = self.pick(DATATYPES), self.pick(DATATYPES)
        some, only, name = self._restriction("someValuesFrom"), self._restriction("allValuesFrom"), self.pick(CLASSES)
        return self.pick(
            [
                f"{one} rdfs:subClassOf {other} .",
                f"{one} rdfs:subClassOf {self._range()} .",
                f"{self.pick([':d', ':e'])} owl:equivalentClass {self._range()} .",
                f"{one} owl:disjointWith {other} .",
                f"{self.pick(PROPERTIES)} rdfs:range {self._range()} .",
                f"{some} rdfs:subClassOf {name} .",
                f"{name} owl:equivalentClass {some} .",
                f"{name} rdfs:subClassOf {only} .",
                f"{only} rdfs:subClassOf {name} .",
                f"{name} rdfs:subClassOf {some} .",
                ":p rdfs:subPropertyOf :q .",
            ]
        )


@pytest.mark.parametrize("seed", range(24))
def test_same_as_the_rule_set(seed: int) -> None:
    check(seed)


@pytest.mark.usefixtures("long_tier")
def test_same_as_the_rule_set_for_many() -> None:
    for seed in range(24, 400):
        check(seed)


def check(seed: int) -> None:
    case = RandomDatatypes(seed).case()
    rules, found, clashes = compiled(case.graph("ontology"), case.graph("data"))
    check_rules(rules.rules)
    closure = by_rule_set(together({seed: case}))
    text = f"seed {seed}\n{case.fields['ontology']}\n{case.fields['data']}\n{rules}"
    assert found == closure.of(seed), text
    assert bool(clashes) == bool(closure.contradictions), text
