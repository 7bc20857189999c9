"""Class expressions and property expressions; `str` gives Manchester syntax with local names.

A class expression stands on the left of an axiom (what makes something a member) or on the right (what follows from
being one); `bodies` and `heads` say what each means there.

The terms of RDFS, OWL and SWRL that an ontology is written with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidelog.model.terms import OWL, RDF, RDFS, TRIPLE, Term, iri
from tidelog.rules.syntax import Atom, Variable

SWRL = "http://www.w3.org/2003/11/swrl#"
SWRL_BUILTINS = "http://www.w3.org/2003/11/swrlb#"


def rdf(name: str) -> Term:
    return iri(RDF + name)


def rdfs(name: str) -> Term:
    return iri(RDFS + name)


def owl(name: str) -> Term:
    return iri(OWL + name)


def swrl(name: str) -> Term:
    return iri(SWRL + name)


TYPE = rdf("type")
SAME_AS = owl("sameAs")
DIFFERENT_FROM = owl("differentFrom")
SUB_CLASS = rdfs("subClassOf")
SUB_PROPERTY = rdfs("subPropertyOf")
INVERSE_OF = owl("inverseOf")


def local(term: Term) -> str:
    """A short name for messages: what follows the last `#`, `/` or `:` of an IRI, any other term as it is."""
    if term[0] != "<":
        return term
    text = term[1:-1].rstrip("#/")
    return text[max(text.rfind(c) for c in "#/:") + 1 :] or text


RuleTerm = Variable | Term


@dataclass(frozen=True, slots=True)
class Property:
    term: Term
    inverse: bool = False

    def inverted(self) -> Property:
        return Property(self.term, not self.inverse)

    def atom(self, x: RuleTerm, y: RuleTerm) -> Atom:
        subject, object_ = (y, x) if self.inverse else (x, y)
        return Atom(TRIPLE, (subject, self.term, object_))

    def __str__(self) -> str:
        return f"inverse {local(self.term)}" if self.inverse else local(self.term)


@dataclass(frozen=True, slots=True)
class NamedClass:
    term: Term

    def atom(self, x: RuleTerm) -> Atom:
        return Atom(TRIPLE, (x, TYPE, self.term))

    def __str__(self) -> str:
        return local(self.term)


@dataclass(frozen=True, slots=True)
class Datatype:
    term: Term

    def __str__(self) -> str:
        return local(self.term)


@dataclass(frozen=True, slots=True)
class SomeValuesFrom:
    property: Property
    filler: ClassExpression

    def __str__(self) -> str:
        return f"{self.property} some {inner(self.filler)}"


@dataclass(frozen=True, slots=True)
class AllValuesFrom:
    property: Property
    filler: ClassExpression

    def __str__(self) -> str:
        return f"{self.property} only {inner(self.filler)}"


@dataclass(frozen=True, slots=True)
class HasValue:
    property: Property
    value: Term

    def __str__(self) -> str:
        return f"{self.property} value {local(self.value)}"


@dataclass(frozen=True, slots=True)
class AtMost:
    number: int
    property: Property
    filler: ClassExpression

    def __str__(self) -> str:
        return f"{self.property} max {self.number} {inner(self.filler)}"


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[ClassExpression, ...]

    def __str__(self) -> str:
        return " and ".join(map(inner, self.parts))


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[ClassExpression, ...]

    def __str__(self) -> str:
        return " or ".join(map(inner, self.parts))


@dataclass(frozen=True, slots=True)
class Not:
    part: ClassExpression

    def __str__(self) -> str:
        return f"not {inner(self.part)}"


@dataclass(frozen=True, slots=True)
class OneOf:
    individuals: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(map(local, self.individuals))}}}"


@dataclass(frozen=True, slots=True)
class Foreign:
    """An expression that has no rule on either side, and why."""

    text: str
    why: str

    def __str__(self) -> str:
        return self.text


ClassExpression = (
    NamedClass | Datatype | SomeValuesFrom | AllValuesFrom | HasValue | AtMost | And | Or | Not | OneOf | Foreign
)

THING, NOTHING = NamedClass(owl("Thing")), NamedClass(owl("Nothing"))


def inner(expression: ClassExpression) -> str:
    """The text of an expression inside another."""
    plain = isinstance(expression, NamedClass | Datatype | OneOf)
    return str(expression) if plain else f"({expression})"


def parts(expression: ClassExpression) -> tuple[ClassExpression, ...]:
    """The expressions directly inside another."""
    match expression:
        case SomeValuesFrom(_, filler) | AllValuesFrom(_, filler) | AtMost(_, _, filler):
            return (filler,)
        case And(members) | Or(members):
            return members
        case Not(part):
            return (part,)
        case _:
            return ()


def walk(expression: ClassExpression) -> Iterator[ClassExpression]:
    """An expression and all inside it."""
    yield expression
    for part in parts(expression):
        yield from walk(part)
