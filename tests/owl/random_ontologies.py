"""Random ontologies and data in Turtle: axioms of every kind, nested class expressions, also outside the profile."""

from __future__ import annotations

from random import Random

CLASSES = [f":{name}" for name in "ABCDE"]
PROPERTIES = [f":{name}" for name in "pqrs"]
INDIVIDUALS = [f"i:{name}" for name in "uvwxyz"]


class RandomOntology:
    """One ontology for each seed; those of odd seeds are mostly about few restrictions, on both sides."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pick = self.random.choice
        self.narrow = seed % 2 == 1

    def schema(self) -> str:
        declared = [f"{c} a owl:Class ." for c in CLASSES] + [f"{p} a owl:ObjectProperty ." for p in PROPERTIES]
        return "\n".join([*declared, *(self._axiom() for _ in range(self.random.randint(3, 9)))])

    def data(self) -> str:
        types = [f"{self.pick(INDIVIDUALS)} a {self.pick(CLASSES)} ." for _ in range(self.random.randint(2, 6))]
        edges = [
            f"{self.pick(INDIVIDUALS)} {self.pick(PROPERTIES)} {self.pick(INDIVIDUALS)} ."
            for _ in range(self.random.randint(2, 8))
        ]
        return "\n".join([*types, *edges])

    def _axiom(self) -> str:
        if self.narrow and self.random.random() < 0.7:
            return self._restriction_axiom()
        kind = self.pick([self._class_axiom, self._class_axiom, self._class_axiom, self._property_axiom])
        return kind()

    def _restriction_axiom(self) -> str:
        kind, over = self.pick(["someValuesFrom", "allValuesFrom"]), self.pick(PROPERTIES[:2])
        restriction = f"[ a owl:Restriction ; owl:onProperty {over} ; owl:{kind} {self.pick(CLASSES[:3])} ]"
        sides = self.random.sample([self.pick(CLASSES), restriction], 2)
        axiom = f"{sides[0]} rdfs:subClassOf {sides[1]} ."
        return self.pick([axiom, axiom, axiom, ":A rdfs:subClassOf :B .", ":p rdfs:subPropertyOf :q ."])

    def _class_axiom(self) -> str:
        left, right = self._left(2), self._right(2)
        return self.pick(
            [
                f"{left} rdfs:subClassOf {right} .",
                f"{left} rdfs:subClassOf {right} .",
                f"{self.pick(CLASSES)} owl:equivalentClass {self._both(2)} .",
                f"{self.pick(CLASSES)} owl:disjointWith {self.pick(CLASSES)} .",
                f"{self.pick(INDIVIDUALS)} a {right} .",
                f"{self.pick(CLASSES)} rdfs:subClassOf {self._restriction('someValuesFrom', self._both(1))} .",
            ]
        )

    def _property_axiom(self) -> str:
        one, other, third = (self.pick(PROPERTIES) for _ in range(3))
        return self.pick(
            [
                f"{one} rdfs:subPropertyOf {other} .",
                f"{one} owl:equivalentProperty {other} .",
                f"{one} owl:inverseOf {other} .",
                f"{one} a owl:SymmetricProperty .",
                f"{one} a owl:TransitiveProperty .",
                f"{one} a owl:FunctionalProperty .",
                f"{one} a owl:InverseFunctionalProperty .",
                f"{one} a owl:AsymmetricProperty .",
                f"{one} owl:propertyDisjointWith {other} .",
                f"{one} owl:propertyChainAxiom ( {other} {third} ) .",
                f"{one} rdfs:domain {self._right(1)} .",
                f"{one} rdfs:range {self._right(1)} .",
                f"{self.pick(INDIVIDUALS)} owl:sameAs {self.pick(INDIVIDUALS)} .",
            ]
        )

    def _both(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.pick(CLASSES)
        return self.pick(
            [f"[ owl:intersectionOf ( {self._both(depth - 1)} {self._both(depth - 1)} ) ]", self._has_value()]
        )

    def _left(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.pick(CLASSES)
        return self.pick(
            [
                f"[ owl:intersectionOf ( {self._left(depth - 1)} {self._left(depth - 1)} ) ]",
                f"[ owl:unionOf ( {self._left(depth - 1)} {self._left(depth - 1)} ) ]",
                self._restriction("someValuesFrom", self._left(depth - 1)),
                self._restriction("allValuesFrom", self.pick(CLASSES)),
                self._has_value(),
                f"[ owl:oneOf ( {self.pick(INDIVIDUALS)} {self.pick(INDIVIDUALS)} ) ]",
            ]
        )

    def _right(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.pick(CLASSES)
        return self.pick(
            [
                f"[ owl:intersectionOf ( {self._right(depth - 1)} {self._right(depth - 1)} ) ]",
                self._restriction("allValuesFrom", self._right(depth - 1)),
                self._restriction("someValuesFrom", self.pick(CLASSES)),
                self._has_value(),
                f"[ owl:complementOf {self.pick(CLASSES)} ]",
                f"[ a owl:Restriction ; owl:onProperty {self.pick(PROPERTIES)} ; owl:maxCardinality 1 ]",
            ]
        )

    def _restriction(self, kind: str, filler: str) -> str:
        return f"[ a owl:Restriction ; owl:onProperty {self._over()} ; owl:{kind} {filler} ]"

    def _has_value(self) -> str:
        return self._restriction("hasValue", self.pick(INDIVIDUALS))

    def _over(self) -> str:
        over = self.pick(PROPERTIES)
        return over if self.random.random() < 0.8 else f"[ owl:inverseOf {over} ]"
