"""The few kinds of axiom that all of OWL 2 RL comes down to; each says in `text` what the ontology says.

A transitive property is a chain of itself, a symmetric one is above its inverse, a functional one has at most one
value, disjoint classes have an intersection that is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidelog.model.terms import Term
from tidelog.model.vocabulary import TRIPLE
from tidelog.owl.expressions import Expression, Property
from tidelog.owl.names import SAME_AS
from tidelog.rules.syntax import Atom, Literal, Variable, literal_variables


@dataclass(frozen=True, slots=True)
class SubClass:
    text: str
    sub: Expression
    sup: Expression


@dataclass(frozen=True, slots=True)
class Domain:
    """What has the property is in the class; a range is the domain of the inverse."""

    text: str
    property: Property
    domain: Expression


@dataclass(frozen=True, slots=True)
class SubProperty:
    """A chain of properties (mostly of one) is below a property."""

    text: str
    chain: tuple[Property, ...]
    sup: Property


@dataclass(frozen=True, slots=True)
class Disjoint:
    """No pair has both properties; an asymmetric property is disjoint with its inverse."""

    text: str
    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class Irreflexive:
    text: str
    property: Property


@dataclass(frozen=True, slots=True)
class Key:
    text: str
    of: Expression
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """An individual is in a class that has no name."""

    text: str
    individual: Term
    of: Expression


@dataclass(frozen=True, slots=True)
class NotRelated:
    """A negative property assertion."""

    text: str
    subject: Term
    property: Property
    object: Term


@dataclass(frozen=True, slots=True)
class Different:
    """No two of these individuals are one."""

    text: str
    individuals: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ClassAtom:
    """An atom of a SWRL rule that says that something is in a class."""

    of: Expression
    individual: Variable | Term


@dataclass(frozen=True, slots=True)
class EqualAtom:
    """An atom of a SWRL rule that says that two individuals are one."""

    first: Variable | Term
    second: Variable | Term

    def as_triple(self) -> Atom:
        return Atom(TRIPLE, (self.first, SAME_AS, self.second))


RuleAtom = Literal | ClassAtom | EqualAtom


@dataclass(frozen=True, slots=True)
class Implication:
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


Axiom = SubClass | Domain | SubProperty | Disjoint | Irreflexive | Key | Member | NotRelated | Different | Implication
