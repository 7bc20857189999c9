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

Bodies under construction: literals, and equations with individuals that are put in place when the rule is made.

`{ann} and Person` is not `?x = ann, Person(?x)` but `Person(ann)`: with equality axiomatised (or rewritten) this also
holds for everything that is the same as ann.

Class expressions on the left: the ways in which something is known to be a member, each a body.

    Named          [?x, rdf:type, C]
    P some D       [?x, P, ?y], and y in D
    P value a      [?x, P, a]
    {a, b}         x is a; or x is b
    C and D        every way of C with every way of D
    C or D         every way of either

Where the ways would multiply beyond `MOST`, a part gets an auxiliary predicate with a rule for each of its ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count, product
from math import prod

from tidelog.model.terms import TRIPLE, Term, is_literal
from tidelog.owl.axiom_reader import TYPES
from tidelog.owl.axioms import Known, Restriction
from tidelog.owl.expressions import (
    NOTHING,
    SAME_AS,
    THING,
    AllValuesFrom,
    And,
    AtMost,
    ClassExpression,
    Datatype,
    Foreign,
    HasValue,
    NamedClass,
    Not,
    OneOf,
    OntologyGraph,
    Or,
    Property,
    RuleTerm,
    SomeValuesFrom,
    owl,
)
from tidelog.rules.analysis.normalise import replace_in_atom, replace_in_literal
from tidelog.rules.syntax import Atom, Call, Condition, Literal, Variable


@dataclass(frozen=True, slots=True)
class Same:
    """A variable is a certain individual, or another variable."""

    variable: Variable
    value: RuleTerm


BodyPart = Literal | Same
BodyParts = tuple[BodyPart, ...]


def fresh() -> Iterator[Variable]:
    """Variables for one rule: x y z u v w, then v1, v2 …"""
    return map(Variable, chain("xyzuvw", (f"v{n}" for n in count(1))))


def same(x: RuleTerm, y: RuleTerm) -> BodyParts:
    """The step that says that two places hold the same individual."""
    if x == y:
        return ()
    if isinstance(x, Variable):
        return (Same(x, y),)
    return (Same(y, x),) if isinstance(y, Variable) else (Atom(TRIPLE, (x, SAME_AS, y)),)


def resolve(heads: Sequence[Atom], steps: BodyParts) -> tuple[tuple[Atom, ...], tuple[Literal, ...]]:
    """Heads and body with the equations substituted; each literal once."""
    values: dict[Variable, RuleTerm] = {}
    equal: list[Literal] = []
    for step in steps:
        if isinstance(step, Same):
            for equation in same(_value(step.variable, values), _value(step.value, values)):
                if isinstance(equation, Same):
                    values[equation.variable] = equation.value
                else:
                    equal.append(equation)
    final = {variable: _value(variable, values) for variable in values}
    body = [replace_in_literal(step, final) for step in steps if not isinstance(step, Same)]
    return tuple(replace_in_atom(h, final) for h in heads), tuple(dict.fromkeys([*body, *equal]))


def _value(term: RuleTerm, values: dict[Variable, RuleTerm]) -> RuleTerm:
    """Follow the equations to their end."""
    while isinstance(term, Variable) and term in values:
        term = values[term]
    return term


def condition(function: str, *args: RuleTerm | Term) -> Condition:
    return Condition(Call(function, args))


def unequal(x: RuleTerm, y: RuleTerm) -> Condition:
    """Two places hold different terms."""
    return Condition(Call("NOT", (Call("SAMETERM", (x, y)),)))


MOST = 16


class Bodies:
    """Bodies of class expressions; `defined` holds those whose auxiliary predicate needs rules."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.defined: dict[ClassExpression, None] = {}
        self.problems: list[str] = []

    def of(self, expression: ClassExpression, x: RuleTerm, fresh: Iterator[Variable]) -> list[BodyParts]:
        """Each way in which x can be seen to be a member; those that no rule can see go to `problems`."""
        match expression:
            case NamedClass():
                return [] if expression == NOTHING else [()] if expression == THING else [(expression.atom(x),)]
            case Datatype(term):
                return [(condition("ISVALUEOF", x, term),)]
            case HasValue(over, value):
                return [(over.atom(x, value),)]
            case OneOf(individuals):
                return [same(x, individual) for individual in individuals]
            case And(parts):
                return self._all(parts, x, fresh)
            case Or(parts):
                return [way for part in parts for way in self.of(part, x, fresh)]
            case SomeValuesFrom():
                return [*self._some(expression, x, fresh), *self._known(expression, x)]
            case AllValuesFrom():
                return self._known(expression, x) or self._none(expression, "nothing says that there are no others")
            case Not() | AtMost():
                return self._none(expression, "nothing says what is not the case")
            case Foreign(_, why):
                return self._none(expression, why)

    def _none(self, expression: ClassExpression, why: str) -> list[BodyParts]:
        self.problems.append(f"`{expression}` on the left: {why}")
        return []

    def _all(self, parts: tuple[ClassExpression, ...], x: RuleTerm, fresh: Iterator[Variable]) -> list[BodyParts]:
        ways = [self.of(part, x, fresh) for part in parts]
        if prod(map(len, ways)) > MOST:
            self.defined |= dict.fromkeys(p for p, w in zip(parts, ways, strict=True) if len(w) > 1)
            ways = [w if len(w) == 1 else [(auxiliary(p, x),)] for p, w in zip(parts, ways, strict=True)]
        return [tuple(step for steps in choice for step in steps) for choice in product(*ways)]

    def _some(self, some: SomeValuesFrom, x: RuleTerm, fresh: Iterator[Variable]) -> list[BodyParts]:
        y = next(fresh)
        return [(some.property.atom(x, y), *steps) for steps in self.of(some.filler, y, fresh)]

    def _known(self, restriction: Restriction, x: RuleTerm) -> list[BodyParts]:
        """The members that follow from axioms about classes alone."""
        return [steps for low in self.known.below(restriction) for steps in self._given(low, x)]

    def _given(self, low: Restriction, x: RuleTerm) -> list[BodyParts]:
        if low in self.known.unnamed:
            return [(auxiliary(low, x),)]
        return [(name.atom(x),) for name in self.known.named[low]]


def auxiliary(expression: ClassExpression, x: RuleTerm) -> Atom:
    """The atom of the predicate that stands for an expression."""
    return Atom(predicate(expression), (x,))


def predicate(expression: ClassExpression) -> str:
    """A name that depends on the expression alone, so that the same axiom gives the same rules in another version."""
    readable = re.sub(r"\W+", "-", str(expression)).strip("-")[:60].strip("-")
    return f"owl-{readable}-{sha256(repr(expression).encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Heads (none: a contradiction) and the steps that they need besides the left-hand side."""

    heads: tuple[Atom, ...]
    steps: BodyParts = ()

    def given(self, *steps: BodyPart) -> Conclusion:
        return Conclusion(self.heads, (*steps, *self.steps))


Conclusions = Iterator[Conclusion]


class Heads:
    """Conclusions of class expressions."""

    def __init__(self, bodies: Bodies, graph: OntologyGraph) -> None:
        self.bodies = bodies
        self.graph = graph

    def of(self, expression: ClassExpression, x: RuleTerm, fresh: Iterator[Variable]) -> Conclusions:
        """What follows from x being a member; what has no rule goes to the problems of the bodies."""
        match expression:
            case NamedClass(term):
                yield from self._named(expression, term, x)
            case And(parts):
                for part in parts:
                    yield from self.of(part, x, fresh)
            case AllValuesFrom(over, filler):
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
            case SomeValuesFrom():
                yield Conclusion((auxiliary(expression, x),))
                self._none(expression, "it speaks of an individual that has no name")
            case Or() | OneOf():
                self._none(expression, "it does not say which")
            case Foreign(_, why):
                self._none(expression, why)

    def _none(self, expression: ClassExpression, why: str) -> None:
        self.bodies.problems.append(f"`{expression}` on the right: {why}")

    def _named(self, name: NamedClass, term: Term, x: RuleTerm) -> Conclusions:
        if term in TYPES:
            self._none(name, "the axioms would depend on the data; use the rule set OWL2RL instead")
        elif name == NOTHING:
            yield Conclusion(())
        elif name != THING:
            yield Conclusion((name.atom(x),))

    def _at_most(
        self, number: int, over: Property, filler: ClassExpression, x: RuleTerm, fresh: Iterator[Variable]
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

    def _equal(self, over: Property, y: Variable, z: Variable, both: BodyParts) -> Conclusions:
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
