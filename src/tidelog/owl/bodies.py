"""Class expressions on the left: the ways in which something is known to be a member, each a body.

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
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from math import prod

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
    Some,
)
from tidelog.owl.known import Known, Restriction
from tidelog.owl.steps import Steps, condition, same
from tidelog.rules.syntax import Atom, Variable

MOST = 16


class Bodies:
    """Bodies of class expressions; `defined` holds those whose auxiliary predicate needs rules."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.defined: dict[Expression, None] = {}
        self.problems: list[str] = []

    def of(self, expression: Expression, x: Place, fresh: Iterator[Variable]) -> list[Steps]:
        """Each way in which x can be seen to be a member; those that no rule can see go to `problems`."""
        match expression:
            case Named():
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
            case Some():
                return [*self._some(expression, x, fresh), *self._known(expression, x)]
            case Only():
                return self._known(expression, x) or self._none(expression, "nothing says that there are no others")
            case Not() | AtMost():
                return self._none(expression, "nothing says what is not the case")
            case Foreign(_, why):
                return self._none(expression, why)

    def _none(self, expression: Expression, why: str) -> list[Steps]:
        self.problems.append(f"`{expression}` on the left: {why}")
        return []

    def _all(self, parts: tuple[Expression, ...], x: Place, fresh: Iterator[Variable]) -> list[Steps]:
        ways = [self.of(part, x, fresh) for part in parts]
        if prod(map(len, ways)) > MOST:
            self.defined |= dict.fromkeys(p for p, w in zip(parts, ways, strict=True) if len(w) > 1)
            ways = [w if len(w) == 1 else [(auxiliary(p, x),)] for p, w in zip(parts, ways, strict=True)]
        return [tuple(step for steps in choice for step in steps) for choice in product(*ways)]

    def _some(self, some: Some, x: Place, fresh: Iterator[Variable]) -> list[Steps]:
        y = next(fresh)
        return [(some.property.atom(x, y), *steps) for steps in self.of(some.filler, y, fresh)]

    def _known(self, restriction: Restriction, x: Place) -> list[Steps]:
        """The members that follow from axioms about classes alone."""
        return [steps for low in self.known.below(restriction) for steps in self._given(low, x)]

    def _given(self, low: Restriction, x: Place) -> list[Steps]:
        if low in self.known.unnamed:
            return [(auxiliary(low, x),)]
        return [(name.atom(x),) for name in self.known.named[low]]


def auxiliary(expression: Expression, x: Place) -> Atom:
    """The atom of the predicate that stands for an expression."""
    return Atom(predicate(expression), (x,))


def predicate(expression: Expression) -> str:
    """A name that depends on the expression alone, so that the same axiom gives the same rules in another version."""
    readable = re.sub(r"\W+", "-", str(expression)).strip("-")[:60].strip("-")
    return f"owl-{readable}-{sha256(repr(expression).encode()).hexdigest()[:8]}"
