"""Translates class expressions to the parts of rules: `Bodies` on the left of an axiom, `Heads` on the right.

On the left an expression becomes bodies, one for each way to show that x is a member:

    Named          [?x, rdf:type, C]
    P some D       [?x, P, ?y], and y in D
    P value a      [?x, P, a]
    {a, b}         x is a; or x is b
    C and D        each body of C with each body of D
    C or D         each body of C and each body of D

If `and` would give more than `MAX_BODIES` bodies, a part gets an auxiliary predicate with one rule for each of its
bodies.

On the right an expression becomes conclusions, each with additional body literals:

    Named          [?x, rdf:type, C]
    C and D        the conclusions of C and of D
    P only D       given [?x, P, ?y]: the conclusions of y in D
    P value a      [?x, P, a]
    not D          given that x is in D: a contradiction
    P max 0 D      given [?x, P, ?y], y in D: a contradiction
    P max 1 D      given two such y: they are the same
    a datatype     given another value: a contradiction

`P some D` and `C or D` have no rule on the right, because no rule can name the individual or choose the class.

Equations between variables and individuals are substituted: `{ann} and Person` is `Person(ann)`, not
`?x = ann, Person(?x)`. So with axiomatised or rewritten equality it also holds for all terms that are the same as ann.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count, product
from math import prod

from tidelog.model.terms import TRIPLE, Term, is_literal
from tidelog.owl.axiom_reader import AXIOM_TYPES
from tidelog.owl.axioms import Restriction, RestrictionMembers
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
class Equation:
    """A variable equals an individual or another variable."""

    variable: Variable
    value: RuleTerm


BodyPart = Literal | Equation
BodyParts = tuple[BodyPart, ...]


def fresh() -> Iterator[Variable]:
    """The variables of one rule: x y z u v w, then v1, v2 …"""
    return map(Variable, chain("xyzuvw", (f"v{n}" for n in count(1))))


def same(x: RuleTerm, y: RuleTerm) -> BodyParts:
    """The body part for the equality of x and y."""
    if x == y:
        return ()
    if isinstance(x, Variable):
        return (Equation(x, y),)
    return (Equation(y, x),) if isinstance(y, Variable) else (Atom(TRIPLE, (x, SAME_AS, y)),)


def resolve(heads: Sequence[Atom], steps: BodyParts) -> tuple[tuple[Atom, ...], tuple[Literal, ...]]:
    """Heads and body with the equations substituted; each literal once."""
    values: dict[Variable, RuleTerm] = {}
    equal: list[Literal] = []
    for step in steps:
        if isinstance(step, Equation):
            for equation in same(_value(step.variable, values), _value(step.value, values)):
                if isinstance(equation, Equation):
                    values[equation.variable] = equation.value
                else:
                    equal.append(equation)
    final = {variable: _value(variable, values) for variable in values}
    body = [replace_in_literal(step, final) for step in steps if not isinstance(step, Equation)]
    return tuple(replace_in_atom(h, final) for h in heads), tuple(dict.fromkeys([*body, *equal]))


def _value(term: RuleTerm, values: dict[Variable, RuleTerm]) -> RuleTerm:
    """Follow the equations to their end."""
    while isinstance(term, Variable) and term in values:
        term = values[term]
    return term


def condition(function: str, *args: RuleTerm | Term) -> Condition:
    return Condition(Call(function, args))


def unequal(x: RuleTerm, y: RuleTerm) -> Condition:
    """The condition that x and y are different terms."""
    return Condition(Call("NOT", (Call("SAMETERM", (x, y)),)))


MAX_BODIES = 16


class Bodies:
    """Translates expressions on the left. `defined` has the expressions whose auxiliary predicates need rules."""

    def __init__(self, known: RestrictionMembers) -> None:
        self.known = known
        self.defined: dict[ClassExpression, None] = {}
        self.problems: list[str] = []

    def of(self, expression: ClassExpression, x: RuleTerm, fresh: Iterator[Variable]) -> list[BodyParts]:
        """The bodies that show that x is a member. Expressions without a body are added to `problems`."""
        match expression:
            case NamedClass():
                return [] if expression == NOTHING else [()] if expression == THING else [(expression.atom(x),)]
            case Datatype(term):
                return [(condition("ISVALUEOF", x, term),), (auxiliary(expression, x),)]
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
        if prod(map(len, ways)) > MAX_BODIES:
            self.defined |= dict.fromkeys(p for p, w in zip(parts, ways, strict=True) if len(w) > 1)
            ways = [w if len(w) == 1 else [(auxiliary(p, x),)] for p, w in zip(parts, ways, strict=True)]
        return [tuple(step for steps in choice for step in steps) for choice in product(*ways)]

    def _some(self, some: SomeValuesFrom, x: RuleTerm, fresh: Iterator[Variable]) -> list[BodyParts]:
        y = next(fresh)
        return [(some.property.atom(x, y), *steps) for steps in self.of(some.filler, y, fresh)]

    def _known(self, restriction: Restriction, x: RuleTerm) -> list[BodyParts]:
        """The bodies for members that follow from axioms about classes alone."""
        return [steps for low in self.known.below(restriction) for steps in self._given(low, x)]

    def _given(self, low: Restriction, x: RuleTerm) -> list[BodyParts]:
        if low in self.known.unnamed:
            return [(auxiliary(low, x),)]
        return [(name.atom(x),) for name in self.known.named[low]]


def auxiliary(expression: ClassExpression, x: RuleTerm) -> Atom:
    """The atom that x is in the auxiliary predicate of an expression."""
    return Atom(predicate(expression), (x,))


def predicate(expression: ClassExpression) -> str:
    """The auxiliary predicate. The name depends only on the expression, so every version gives the same rules."""
    readable = re.sub(r"\W+", "-", str(expression)).strip("-")[:60].strip("-")
    return f"owl-{readable}-{sha256(repr(expression).encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Heads (none: a contradiction), and the body parts they need in addition to those of the left-hand side."""

    heads: tuple[Atom, ...]
    steps: BodyParts = ()

    def given(self, *steps: BodyPart) -> Conclusion:
        return Conclusion(self.heads, (*steps, *self.steps))


Conclusions = Iterator[Conclusion]


class Heads:
    """Translates expressions on the right."""

    def __init__(self, bodies: Bodies, graph: OntologyGraph) -> None:
        self.bodies = bodies
        self.graph = graph

    def of(self, expression: ClassExpression, x: RuleTerm, fresh: Iterator[Variable]) -> Conclusions:
        """The conclusions from x being a member. Expressions without a rule are added to `bodies.problems`."""
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
                yield Conclusion((auxiliary(expression, x),))
                yield Conclusion((), (Condition(Call("NOT", (Call("ISVALUEOF", (x, term)),))),))
            case SomeValuesFrom():
                yield Conclusion((auxiliary(expression, x),))
                self._none(expression, "it is about an individual that has no name")
            case Or() | OneOf():
                self._none(expression, "it does not say which")
            case Foreign(_, why):
                self._none(expression, why)

    def _none(self, expression: ClassExpression, why: str) -> None:
        self.bodies.problems.append(f"`{expression}` on the right: {why}")

    def _named(self, name: NamedClass, term: Term, x: RuleTerm) -> Conclusions:
        if term in AXIOM_TYPES:
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
        """Two individuals are the same; two different data values are a contradiction."""
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
