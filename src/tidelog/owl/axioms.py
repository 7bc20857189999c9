"""The kinds of axiom to which all of OWL 2 RL is reduced. Their `text` is the axiom as the ontology states it.

A transitive property is a super-property of its own chain, a symmetric property is a super-property of its inverse, a
functional property has at most one value, and disjoint classes have an empty intersection.

`RestrictionMembers` finds members of restrictions that follow from axioms about classes alone. An example is
`GraduateStudent SubClassOf takesCourse some GraduateCourse`: no rule can name the course. But the rule set OWL2RL
derives that a graduate student is in `takesCourse some Course`, because restrictions are ordered by their properties
and fillers (scm-svf1, scm-svf2, scm-avf1, scm-avf2). So if such a restriction is on the left of an axiom, the members
of all restrictions below it are its members, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from tidelog.model.terms import TRIPLE, Term
from tidelog.owl.expressions import (
    SAME_AS,
    THING,
    AllValuesFrom,
    And,
    ClassExpression,
    NamedClass,
    Or,
    Property,
    SomeValuesFrom,
    walk,
)
from tidelog.rules.syntax import Atom, Literal, Variable, literal_variables


class SubClass(NamedTuple):
    text: str
    sub: ClassExpression
    sup: ClassExpression


class Domain(NamedTuple):
    """A subject of the property is in the class. A range is the domain of the inverse."""

    text: str
    property: Property
    domain: ClassExpression


class SubProperty(NamedTuple):
    """A chain of properties (often only one) is a sub-property of `sup`."""

    text: str
    chain: tuple[Property, ...]
    sup: Property


class Disjoint(NamedTuple):
    """No pair of individuals has both properties. An asymmetric property is disjoint with its inverse."""

    text: str
    first: Property
    second: Property


class Irreflexive(NamedTuple):
    text: str
    property: Property


class HasKey(NamedTuple):
    text: str
    of: ClassExpression
    properties: tuple[Property, ...]


class Membership(NamedTuple):
    """An individual is in a class without a name."""

    text: str
    individual: Term
    of: ClassExpression


class NotRelated(NamedTuple):
    """A negative property assertion."""

    text: str
    subject: Term
    property: Property
    object: Term


class Different(NamedTuple):
    """The individuals are pairwise different."""

    text: str
    individuals: tuple[Term, ...]


class ClassAtom(NamedTuple):
    """An atom of a SWRL rule: an individual is in a class."""

    of: ClassExpression
    individual: Variable | Term


class EqualAtom(NamedTuple):
    """An atom of a SWRL rule: two individuals are the same."""

    first: Variable | Term
    second: Variable | Term

    def as_triple(self) -> Atom:
        return Atom(TRIPLE, (self.first, SAME_AS, self.second))


RuleAtom = Literal | ClassAtom | EqualAtom


class Implication(NamedTuple):
    """A SWRL rule."""

    text: str
    body: tuple[RuleAtom, ...]
    head: tuple[RuleAtom, ...]

    def variables(self) -> set[Variable]:
        return {v for atom in (*self.body, *self.head) for v in _variables(atom)}


def _variables(atom: RuleAtom) -> set[Variable]:
    if isinstance(atom, ClassAtom):
        return {atom.individual} if isinstance(atom.individual, Variable) else set()
    return literal_variables(atom.as_triple() if isinstance(atom, EqualAtom) else atom)


Axiom = (
    SubClass
    | Domain
    | SubProperty
    | Disjoint
    | Irreflexive
    | HasKey
    | Membership
    | NotRelated
    | Different
    | Implication
)


Restriction = SomeValuesFrom | AllValuesFrom
GraphNode = TypeVar("GraphNode")


class RestrictionMembers:
    """The restrictions that have members by axiom, and their order.

    `named`: restriction -> classes whose members are in it. `unnamed`: restrictions that have other members.
    """

    def __init__(self, axioms: Iterable[Axiom]) -> None:
        listed = list(axioms)
        self.named: dict[Restriction, list[NamedClass]] = defaultdict(list)
        self.unnamed: set[Restriction] = set()
        for axiom in listed:
            self._add(axiom)
        expressions = dict.fromkeys(e for axiom in listed for top in _expressions(axiom) for e in walk(top))
        order = _SubclassOrder(listed, expressions)
        self._below: dict[ClassExpression, list[Restriction]] = defaultdict(list)
        for restriction in [e for e in expressions if e in self.named or e in self.unnamed]:
            for above in order.above(restriction):
                self._below[above].append(restriction)  # type: ignore[arg-type]

    def below(self, restriction: Restriction) -> list[Restriction]:
        """The restrictions with members by axiom that are below `restriction`."""
        return self._below.get(restriction, [])

    def _add(self, axiom: Axiom) -> None:
        match axiom:
            case SubClass(_, NamedClass() as name, of) if name != THING:
                self._put(name, of)
            case SubClass(_, _, of) | Domain(_, _, of) | Membership(_, _, of):
                self._put(None, of)
            case Implication(_, _, head):
                for atom in head:
                    if isinstance(atom, ClassAtom):
                        self._put(None, atom.of)

    def _put(self, name: NamedClass | None, expression: ClassExpression) -> None:
        """The members of the class `name` are in the expression; None: some other individuals are."""
        if isinstance(expression, And):
            for part in expression.parts:
                self._put(name, part)
        elif isinstance(expression, SomeValuesFrom | AllValuesFrom):
            if name is None:
                self.unnamed.add(expression)
            else:
                self.named[expression].append(name)
            if isinstance(expression, AllValuesFrom):
                self._put(None, expression.filler)


def _expressions(axiom: Axiom) -> tuple[ClassExpression, ...]:
    match axiom:
        case SubClass(_, sub, sup):
            return (sub, sup)
        case Domain(_, _, of) | HasKey(_, of, _) | Membership(_, _, of):
            return (of,)
        case Implication(_, body, head):
            return tuple(atom.of for atom in (*body, *head) if isinstance(atom, ClassAtom))
        case _:
            return ()


class _SubclassOrder:
    """The subclass order of class expressions by the schema rules of OWL 2 RL. Expressions are numbered."""

    def __init__(self, axioms: list[Axiom], expressions: Iterable[ClassExpression]) -> None:
        self._numbers = {expression: number for number, expression in enumerate(expressions)}
        self._numbers.setdefault(THING, len(self._numbers))
        self._expressions = list(self._numbers)
        self._up: dict[int, set[int]] = defaultdict(set)
        self._wider: dict[Property, set[Property]] = defaultdict(set)
        self._narrower: dict[Property, set[Property]] = defaultdict(set)
        for axiom in axioms:
            self._add(axiom)
        for expression, number in self._numbers.items():
            self._add_parts(expression, number)
        self._compare()

    def above(self, expression: ClassExpression) -> list[ClassExpression]:
        """The expression and all expressions above it."""
        return [self._expressions[number] for number in _reached(self._up, self._numbers[expression])]

    def _add(self, axiom: Axiom) -> None:
        if isinstance(axiom, SubClass):
            self._up[self._numbers[axiom.sub]].add(self._numbers[axiom.sup])
        elif isinstance(axiom, SubProperty) and len(axiom.chain) == 1:
            self._wider[axiom.chain[0]].add(axiom.sup)
            self._narrower[axiom.sup].add(axiom.chain[0])

    def _add_parts(self, expression: ClassExpression, number: int) -> None:
        if isinstance(expression, And):
            self._up[number].update(self._numbers[part] for part in expression.parts)
        if isinstance(expression, Or):
            for part in expression.parts:
                self._up[self._numbers[part]].add(number)

    def _compare(self) -> None:
        """Order the restrictions of each kind by property and filler, up to a fixpoint."""
        kinds: dict[tuple[type, Property], dict[int, int]] = defaultdict(dict)
        for expression, number in self._numbers.items():
            if isinstance(expression, SomeValuesFrom | AllValuesFrom):
                kinds[type(expression), expression.property][self._numbers[expression.filler]] = number
        lows = [(kind, over, filler, low) for (kind, over), lows in kinds.items() for filler, low in lows.items()]
        growing = True
        while growing:
            growing = False
            for kind, over, filler, low in lows:
                same = kinds[kind, over]
                wider = _reached(self._wider if kind is SomeValuesFrom else self._narrower, over)
                fillers = _reached(self._up, filler) | {self._numbers[THING]}
                found = {same[other] for other in fillers if other in same}
                found |= {kinds[kind, p][filler] for p in wider if filler in kinds.get((kind, p), ())}
                growing |= not found <= self._up[low] | {low}
                self._up[low] |= found - {low}


def _reached(edges: dict[GraphNode, set[GraphNode]], start: GraphNode) -> set[GraphNode]:
    """The start and all nodes that can be reached from it."""
    reached, waiting = {start}, [start]
    while waiting:
        new = edges.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached
