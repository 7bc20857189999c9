"""Class expressions on the right: what follows from being a member, each a conclusion with what it needs besides.

    Named          [?x, rdf:type, C]
    C and D        what follows from either
    P only D       given [?x, P, ?y]: what follows from y in D
    P value a      [?x, P, a]
    not D          given that x is in D: a contradiction
    P max 0 D      given [?x, P, ?y], y in D: a contradiction
    P max 1 D      given two such: they are the same
    a datatype     given another value: a contradiction

What says that there is something without saying what (`P some D`, `C or D` …) has no rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidelog.model.terms import Term, is_literal
from tidelog.model.vocabulary import TRIPLE
from tidelog.owl.axiom_reader import TYPES
from tidelog.owl.bodies import Bodies, auxiliary
from tidelog.owl.expressions import (
    NOTHING,
    THING,
    And,
    AtMost,
    Datatype,
    Expression,
    Foreign,
    HasValue,
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Place,
    Property,
    Some,
)
from tidelog.owl.graph import Graph
from tidelog.owl.names import SAME_AS, owl
from tidelog.owl.steps import Step, Steps, unequal
from tidelog.rules.syntax import Atom, Call, Condition, Variable


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Heads (none: a contradiction) and the steps that they need besides the left-hand side."""

    heads: tuple[Atom, ...]
    steps: Steps = ()

    def given(self, *steps: Step) -> Conclusion:
        return Conclusion(self.heads, (*steps, *self.steps))


Conclusions = Iterator[Conclusion]


class Heads:
    """Conclusions of class expressions."""

    def __init__(self, bodies: Bodies, graph: Graph) -> None:
        self.bodies = bodies
        self.graph = graph

    def of(self, expression: Expression, x: Place, fresh: Iterator[Variable]) -> Conclusions:
        """What follows from x being a member; what has no rule goes to the problems of the bodies."""
        match expression:
            case Named(term):
                yield from self._named(expression, term, x)
            case And(parts):
                for part in parts:
                    yield from self.of(part, x, fresh)
            case Only(over, filler):
                yield Conclusion((auxiliary(expression, x),))
                y = next(fresh)
                yield from (c.given(over.atom(x, y)) for c in self.of(filler, y, fresh))
            case HasValue(over, value) if over.inverse and is_literal(value):
                self._none(expression, "a literal has no properties")
            case HasValue(over, value):
                yield Conclusion((over.atom(x, value),))
            case Not(part):
                yield from (Conclusion((), steps) for steps in self.bodies.of(part, x, fresh))
            case AtMost(number, over, filler):
                yield from self._at_most(number, over, filler, x, fresh)
            case Datatype(term):
                yield Conclusion((), (Condition(Call("NOT", (Call("ISVALUEOF", (x, term)),))),))
            case Some():
                yield Conclusion((auxiliary(expression, x),))
                self._none(expression, "it speaks of an individual that has no name")
            case Or() | OneOf():
                self._none(expression, "it does not say which")
            case Foreign(_, why):
                self._none(expression, why)

    def _none(self, expression: Expression, why: str) -> None:
        self.bodies.problems.append(f"`{expression}` on the right: {why}")

    def _named(self, name: Named, term: Term, x: Place) -> Conclusions:
        if term in TYPES:
            self._none(name, "the axioms would depend on the data; use the rule set OWL2RL instead")
        elif name == NOTHING:
            yield Conclusion(())
        elif name != THING:
            yield Conclusion((name.atom(x),))

    def _at_most(
        self, number: int, over: Property, filler: Expression, x: Place, fresh: Iterator[Variable]
    ) -> Conclusions:
        y = next(fresh)
        ways = self.bodies.of(filler, y, fresh)
        if number == 0:
            yield from (Conclusion((), (over.atom(x, y), *steps)) for steps in ways)
            return
        z = next(fresh)
        others = self.bodies.of(filler, z, fresh)
        for steps in ways:
            for other in others:
                both = (over.atom(x, y), *steps, over.atom(x, z), *other, unequal(y, z))
                yield from self._equal(over, y, z, both)

    def _equal(self, over: Property, y: Variable, z: Variable, both: Steps) -> Conclusions:
        """Individuals are made the same; data values are the same or not."""
        individuals = over.inverse or self.graph.has_type(over.term, owl("ObjectProperty"))
        data = not over.inverse and self.graph.has_type(over.term, owl("DatatypeProperty"))
        if not data:
            resources = () if individuals else (_literal(y, False), _literal(z, False))
            yield Conclusion((Atom(TRIPLE, (y, SAME_AS, z)),), (*both, *resources))
        if not individuals:
            literals = () if data else (_literal(y, True), _literal(z, True))
            values = tuple(Call("CANONICAL", (v,)) for v in (y, z))
            yield Conclusion((), (*both, *literals, Condition(Call("NOT", (Call("SAMETERM", values),)))))


def _literal(variable: Variable, wanted: bool) -> Condition:
    test = Call("ISLITERAL", (variable,))
    return Condition(test if wanted else Call("NOT", (test,)))
