"""Class expressions and property expressions of OWL, and their reader from RDF.

`str` of an expression is Manchester syntax with local names. On the left of an axiom an expression states a condition,
on the right a conclusion; `rule_parts` translates both. An expression that has no rule on either side is read as
`Foreign`, with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tidelog.model.terms import OWL, RDF, RDFS, TRIPLE, XSD, Term, iri, is_iri, is_literal, plain
from tidelog.rules.syntax import Atom, Variable

SWRL = "http://www.w3.org/2003/11/swrl#"
SWRL_BUILTINS = "http://www.w3.org/2003/11/swrlb#"


def _vocabulary(namespace: str) -> Callable[[str], Term]:
    """Return the function that makes the term of a name in a namespace."""
    return lambda name: iri(namespace + name)


rdf, rdfs, owl, swrl = map(_vocabulary, (RDF, RDFS, OWL, SWRL))

TYPE = rdf("type")
SAME_AS = owl("sameAs")
DIFFERENT_FROM = owl("differentFrom")
SUB_CLASS = rdfs("subClassOf")
SUB_PROPERTY = rdfs("subPropertyOf")
INVERSE_OF = owl("inverseOf")


def local(term: Term) -> str:
    """A short name for messages: the part of an IRI after the last `#`, `/` or `:`; other terms as they are."""
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
    """An expression that has no rule on either side, with the reason."""

    text: str
    why: str

    def __str__(self) -> str:
        return self.text


ClassExpression = (
    NamedClass | Datatype | SomeValuesFrom | AllValuesFrom | HasValue | AtMost | And | Or | Not | OneOf | Foreign
)

THING, NOTHING = NamedClass(owl("Thing")), NamedClass(owl("Nothing"))


def inner(expression: ClassExpression) -> str:
    """The text of an expression inside of another, in parentheses if needed."""
    plain = isinstance(expression, NamedClass | Datatype | OneOf)
    return str(expression) if plain else f"({expression})"


def parts(expression: ClassExpression) -> tuple[ClassExpression, ...]:
    """The direct parts of an expression."""
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
    """An expression and all its parts, at any depth."""
    yield expression
    for part in parts(expression):
        yield from walk(part)


TermTriple = tuple[Term, Term, Term]


class MalformedError(Exception):
    """Triples that are not a correct list or property."""


class OntologyGraph:
    """The triples of an ontology, indexed by subject and by predicate, in the given order."""

    def __init__(self, triples: Iterable[TermTriple]) -> None:
        self.triples: list[TermTriple] = list(dict.fromkeys(triples))
        self._by_subject: dict[Term, dict[Term, list[Term]]] = defaultdict(lambda: defaultdict(list))
        self._by_predicate: dict[Term, list[tuple[Term, Term]]] = defaultdict(list)
        for s, p, o in self.triples:
            self._by_subject[s][p].append(o)
            self._by_predicate[p].append((s, o))

    def pairs(self, predicate: Term) -> list[tuple[Term, Term]]:
        """The pairs of subject and object of a predicate."""
        return self._by_predicate.get(predicate, [])

    def objects(self, subject: Term, predicate: Term) -> list[Term]:
        return self._by_subject.get(subject, {}).get(predicate, [])

    def value(self, subject: Term, predicate: Term) -> Term | None:
        """The first object, or None."""
        return next(iter(self.objects(subject, predicate)), None)

    def predicates(self, subject: Term) -> Iterable[Term]:
        return self._by_subject.get(subject, {})

    def has_type(self, subject: Term, kind: Term) -> bool:
        return kind in self.objects(subject, TYPE)

    def instances(self, kind: Term) -> list[Term]:
        return [s for s, o in self.pairs(TYPE) if o == kind]

    def members(self, node: Term) -> tuple[Term, ...]:
        """The elements of the RDF list at `node`."""
        found: list[Term] = []
        seen: set[Term] = set()
        while node != rdf("nil"):
            first, rest = self.value(node, rdf("first")), self.value(node, rdf("rest"))
            if first is None or rest is None or node in seen:
                raise MalformedError(f"the list at {node} is broken: every node needs one rdf:first and one rdf:rest")
            seen.add(node)
            found.append(first)
            node = rest
        return tuple(found)


_DEEPEST = 50
_LITERAL_TYPES = {rdfs("Literal"), rdf("langString"), rdf("PlainLiteral"), rdf("XMLLiteral"), rdf("HTML")} | {
    owl("real"),
    owl("rational"),
}
_EXISTS = "it is about individuals that have no name"
_NOT_RL = "OWL 2 RL has no rules for it"


class ClassReader:
    """Reads the class and property expressions of one graph."""

    def __init__(self, graph: OntologyGraph) -> None:
        self.graph = graph
        self._open: list[Term] = []  # the expressions that are being read, to find those that contain themselves

    def property(self, node: Term) -> Property:
        """The property at `node`, or the inverse of a property."""
        of = None if is_iri(node) else self.graph.value(node, INVERSE_OF)
        found = Property(node) if of is None else Property(of, inverse=True)
        if is_literal(found.term):
            raise MalformedError(f"{found.term} is a literal, not a property")
        return found

    def expression(self, node: Term) -> ClassExpression:
        """The named class at `node`, or the expression of a blank node."""
        if is_literal(node):
            return Foreign(node, "a literal is not a class")
        if self.is_datatype(node):
            return Datatype(node) if is_iri(node) else self._data_range(node)
        return NamedClass(node) if is_iri(node) else self.definition(node) or NamedClass(node)

    def _data_range(self, node: Term) -> ClassExpression:
        """A union or intersection of datatypes; OWL 2 RL has no rules for other data ranges."""
        combined = any(self.graph.value(node, owl(by)) for by in ("unionOf", "intersectionOf"))
        return (self.definition(node) if combined else None) or Foreign("a data range", _NOT_RL)

    def is_datatype(self, node: Term) -> bool:
        known = node.startswith(f"<{XSD}") or node in _LITERAL_TYPES
        return known or any(self.graph.has_type(node, kind) for kind in (rdfs("Datatype"), owl("DataRange")))

    def is_expression(self, node: Term) -> bool:
        """Whether `node` is a blank node with a class expression."""
        return not is_iri(node) and any(p in DEFINING for p in self.graph.predicates(node))

    def definition(self, node: Term) -> ClassExpression | None:
        """The expression that the triples of a blank node define, or None."""
        defining = [by for by in self.graph.predicates(node) if by in DEFINING]
        found = [(by, value) for by in defining for value in self.graph.objects(node, by)]
        if len(found) > 1:
            return Foreign(", ".join(local(by) for by, _ in found), "one node has several definitions")
        return self.defined(node, *found[0]) if found else None

    def defined(self, node: Term, by: Term, value: Term) -> ClassExpression:
        """The expression that one triple defines, for example owl:unionOf."""
        if node in self._open or len(self._open) >= _DEEPEST:
            return Foreign(local(by), "its definition contains itself, or is nested too deeply")
        self._open.append(node)
        try:
            return self._defined(node, by, value)
        except MalformedError as error:
            return Foreign(f"{local(by)} {local(value)}", str(error))
        finally:
            self._open.pop()

    def _defined(self, node: Term, by: Term, value: Term) -> ClassExpression:
        match local(by):
            case "intersectionOf":
                return And(tuple(map(self.expression, self.graph.members(value))))
            case "unionOf":
                return Or(tuple(map(self.expression, self.graph.members(value))))
            case "oneOf":
                one_of = OneOf(self.graph.members(value))
                return Foreign(str(one_of), _NOT_RL) if any(map(is_literal, one_of.individuals)) else one_of
            case "complementOf":
                return Not(self.expression(value))
        on = self.graph.value(node, owl("onProperty"))
        if on is None:
            return Foreign(f"{local(by)} {local(value)}", "it has no owl:onProperty")
        return self._restriction(node, by, value, self.property(on))

    def _restriction(self, node: Term, by: Term, value: Term, over: Property) -> ClassExpression:
        match local(by):
            case "someValuesFrom":
                return SomeValuesFrom(over, self.expression(value))
            case "allValuesFrom":
                return AllValuesFrom(over, self.expression(value))
            case "hasValue":
                return HasValue(over, value)
            case "hasSelf":
                return Foreign(f"{over} Self", _NOT_RL)
            case kind:
                return self._cardinality(node, over, kind, value)

    def _cardinality(self, node: Term, over: Property, kind: str, value: Term) -> ClassExpression:
        on = self.graph.value(node, owl("onClass")) or self.graph.value(node, owl("onDataRange"))
        filler = THING if on is None else self.expression(on)
        number = plain(value) if is_literal(value) else local(value)
        if not kind.startswith("max"):
            word = "min" if kind.startswith("min") else "exactly"
            why = _EXISTS + ("; an upper bound can be written as owl:maxCardinality" if word == "exactly" else "")
            return Foreign(f"{over} {word} {number} {filler}", why)
        if number not in ("0", "1"):
            return Foreign(f"{over} max {number} {filler}", "only at most 0 and at most 1 have rules")
        return AtMost(int(number), over, filler)


# The properties that define an expression.
DEFINING = {
    *(owl(name) for name in ("intersectionOf", "unionOf", "oneOf", "complementOf")),
    *(owl(name) for name in ("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf")),
    *(owl(f"{bound}Cardinality") for bound in ("max", "min", "maxQualified", "minQualified", "qualified")),
    owl("cardinality"),
}
