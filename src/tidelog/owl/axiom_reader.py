"""Reads axioms from RDF. Each property and class of the OWL vocabulary has a method of `AxiomReader`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from tidelog.model.terms import Term, is_blank, is_iri
from tidelog.owl.axioms import (
    Axiom,
    Different,
    Disjoint,
    Domain,
    HasKey,
    Irreflexive,
    Membership,
    NotRelated,
    SubClass,
    SubProperty,
)
from tidelog.owl.expressions import (
    DEFINING,
    INVERSE_OF,
    NOTHING,
    SUB_CLASS,
    SUB_PROPERTY,
    THING,
    TYPE,
    And,
    AtMost,
    ClassExpression,
    ClassReader,
    MalformedError,
    OntologyGraph,
    Or,
    Property,
    local,
    owl,
    rdfs,
)

Axioms = Iterator[Axiom]


class AxiomReader:
    """Reads the axioms of one graph. `outside` collects the statements without rules, with the reasons."""

    def __init__(self, graph: OntologyGraph) -> None:
        self.graph = graph
        self.classes = ClassReader(graph)
        self.outside: list[tuple[str, str]] = []
        self.imported: list[Term] = []  # ontologies that are imported and not in the graph

    def axioms(self) -> Axioms:
        """The axioms, in the order of their triples."""
        for triple in self.graph.triples:
            try:
                yield from self._axioms(*triple)
            except MalformedError as error:
                self.outside.append((" ".join(map(local, triple)), str(error)))

    def _axioms(self, s: Term, p: Term, o: Term) -> Axioms:
        if p == TYPE:
            yield from self._typed(s, o)
        elif read := STATEMENTS.get(p):
            yield from read(self, s, o)
        elif p in DEFINING and is_iri(s) and not self.classes.is_datatype(s):
            yield from self._equivalent(s, self.classes.defined(s, p, o))
        elif p in _WITHOUT_RULES:
            self.outside.append((f"{local(s)} {local(p)} {local(o)}", _WITHOUT_RULES[p]))

    def _typed(self, s: Term, kind: Term) -> Axioms:
        if characteristic := _CHARACTERISTICS.get(kind):
            over = self.classes.property(s)
            yield characteristic(f"{over} {local(kind).removesuffix('Property')}", over)
        elif read := _TYPES.get(kind):
            yield from read(self, s)
        elif kind in _WITHOUT_RULES:
            self.outside.append((f"{local(s)} {local(kind)}", _WITHOUT_RULES[kind]))
        elif is_blank(kind) and (of := self.classes.definition(kind)):
            yield Membership(f"{local(s)} Type {of}", s, of)

    # Classes

    def sub_class(self, s: Term, o: Term) -> Axioms:
        sub, sup = self.classes.expression(s), self.classes.expression(o)
        yield SubClass(f"{sub} SubClassOf {sup}", sub, sup)

    def equivalent_class(self, s: Term, o: Term) -> Axioms:
        yield from self._equivalent(s, self.classes.expression(o))

    def _equivalent(self, s: Term, other: ClassExpression) -> Axioms:
        one = self.classes.expression(s)
        text = f"{one} EquivalentTo {other}"
        yield SubClass(text, one, other)
        yield SubClass(text, other, one)

    def disjoint_with(self, s: Term, o: Term) -> Axioms:
        yield from self._disjoint(f"{local(s)} DisjointWith {self.classes.expression(o)}", [s, o])

    def _disjoint(self, text: str, nodes: Iterable[Term]) -> Axioms:
        for pair in combinations(map(self.classes.expression, nodes), 2):
            yield SubClass(text, And(pair), NOTHING)

    def all_disjoint_classes(self, s: Term) -> Axioms:
        nodes = self._members(s)
        yield from self._disjoint(f"DisjointClasses {self._listed(nodes)}", nodes)

    def disjoint_union(self, s: Term, o: Term) -> Axioms:
        nodes = self.graph.members(o)
        text = f"{local(s)} DisjointUnionOf {self._listed(nodes)}"
        whole = self.classes.expression(s)
        union = Or(tuple(map(self.classes.expression, nodes)))
        yield SubClass(text, union, whole)
        yield SubClass(text, whole, union)
        yield from self._disjoint(text, nodes)

    def key(self, s: Term, o: Term) -> Axioms:
        nodes = self.graph.members(o)
        yield HasKey(f"{local(s)} HasKey {self._listed(nodes)}", self.classes.expression(s), self._properties(nodes))

    # Properties

    def domain(self, s: Term, o: Term) -> Axioms:
        of, domain = self.classes.property(s), self.classes.expression(o)
        yield Domain(f"{of} Domain {domain}", of, domain)

    def range(self, s: Term, o: Term) -> Axioms:
        of, range_ = self.classes.property(s), self.classes.expression(o)
        yield Domain(f"{of} Range {range_}", of.inverted(), range_)

    def sub_property(self, s: Term, o: Term) -> Axioms:
        sub, sup = self.classes.property(s), self.classes.property(o)
        yield SubProperty(f"{sub} SubPropertyOf {sup}", (sub,), sup)

    def equivalent_property(self, s: Term, o: Term) -> Axioms:
        yield from self._same_property("EquivalentTo", self.classes.property(s), self.classes.property(o))

    def inverse(self, s: Term, o: Term) -> Axioms:
        if is_iri(s):  # for a blank node this triple defines an expression, not an axiom
            yield from self._same_property("InverseOf", self.classes.property(s), self.classes.property(o).inverted())

    def _same_property(self, word: str, one: Property, other: Property) -> Axioms:
        text = f"{one} {word} {other.inverted() if word == 'InverseOf' else other}"
        yield SubProperty(text, (one,), other)
        yield SubProperty(text, (other,), one)

    def chain(self, s: Term, o: Term) -> Axioms:
        sup, chain = self.classes.property(s), self._properties(self.graph.members(o))
        yield SubProperty(f"{' o '.join(map(str, chain))} SubPropertyOf {sup}", chain, sup)

    def disjoint_property(self, s: Term, o: Term) -> Axioms:
        one, other = self.classes.property(s), self.classes.property(o)
        yield Disjoint(f"{one} DisjointWith {other}", one, other)

    def all_disjoint_properties(self, s: Term) -> Axioms:
        nodes = self._members(s)
        for one, other in combinations(self._properties(nodes), 2):
            yield Disjoint(f"DisjointProperties {self._listed(nodes)}", one, other)

    # Individuals

    def not_related(self, s: Term) -> Axioms:
        source, over = self.graph.value(s, owl("sourceIndividual")), self.graph.value(s, owl("assertionProperty"))
        target = self.graph.value(s, owl("targetIndividual")) or self.graph.value(s, owl("targetValue"))
        if source is None or over is None or target is None:
            self.outside.append((f"NegativePropertyAssertion {local(s)}", "its subject, property or value is missing"))
            return
        of = self.classes.property(over)
        yield NotRelated(f"not {local(source)} {of} {local(target)}", source, of, target)

    def all_different(self, s: Term) -> Axioms:
        nodes = self._members(s)
        yield Different(f"DifferentIndividuals {self._listed(nodes)}", nodes)

    def imports(self, s: Term, o: Term) -> Axioms:
        versions = (version for _, version in self.graph.pairs(owl("versionIRI")))
        if not self.graph.has_type(o, owl("Ontology")) and o not in versions:
            self.imported.append(o)
            self.outside.append((f"{local(s)} imports {o}", "imports are not fetched; give that file too"))
        return iter(())

    def _members(self, node: Term) -> tuple[Term, ...]:
        lists = [o for p in ("members", "distinctMembers") for o in self.graph.objects(node, owl(p))]
        return tuple(m for part in lists for m in self.graph.members(part))

    def _properties(self, nodes: Iterable[Term]) -> tuple[Property, ...]:
        return tuple(map(self.classes.property, nodes))

    def _listed(self, nodes: Iterable[Term]) -> str:
        return ", ".join(local(n) if is_iri(n) else str(self.classes.expression(n)) for n in nodes)


_R = AxiomReader
STATEMENTS: dict[Term, Callable[[AxiomReader, Term, Term], Axioms]] = {
    SUB_CLASS: _R.sub_class,
    owl("equivalentClass"): _R.equivalent_class,
    owl("disjointWith"): _R.disjoint_with,
    owl("disjointUnionOf"): _R.disjoint_union,
    owl("hasKey"): _R.key,
    SUB_PROPERTY: _R.sub_property,
    owl("equivalentProperty"): _R.equivalent_property,
    INVERSE_OF: _R.inverse,
    owl("propertyChainAxiom"): _R.chain,
    owl("propertyDisjointWith"): _R.disjoint_property,
    rdfs("domain"): _R.domain,
    rdfs("range"): _R.range,
    owl("imports"): _R.imports,
}
_CHARACTERISTICS: dict[Term, Callable[[str, Property], Axiom]] = {
    owl("TransitiveProperty"): lambda text, over: SubProperty(text, (over, over), over),
    owl("SymmetricProperty"): lambda text, over: SubProperty(text, (over.inverted(),), over),
    owl("AsymmetricProperty"): lambda text, over: Disjoint(text, over, over.inverted()),
    owl("IrreflexiveProperty"): Irreflexive,
    owl("FunctionalProperty"): lambda text, over: SubClass(text, THING, AtMost(1, over, THING)),
    owl("InverseFunctionalProperty"): lambda text, over: SubClass(text, THING, AtMost(1, over.inverted(), THING)),
}
_TYPES: dict[Term, Callable[[AxiomReader, Term], Axioms]] = {
    owl("AllDisjointClasses"): _R.all_disjoint_classes,
    owl("AllDisjointProperties"): _R.all_disjoint_properties,
    owl("NegativePropertyAssertion"): _R.not_related,
    owl("AllDifferent"): _R.all_different,
}
AXIOM_TYPES = _CHARACTERISTICS.keys() | _TYPES.keys()
_WITHOUT_RULES = {
    owl("ReflexiveProperty"): "every term would be related to itself; OWL 2 RL has no rules for it",
    owl("onProperties"): "restrictions on several properties have no rules in OWL 2 RL",
    owl("onDatatype"): "restricted datatypes have no rules in OWL 2 RL",
    owl("withRestrictions"): "restricted datatypes have no rules in OWL 2 RL",
    owl("datatypeComplementOf"): "data ranges have no rules in OWL 2 RL",
}
