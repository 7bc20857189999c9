"""From the triples of an ontology to its rules: read the axioms, translate each, add equality if something needs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tidelog.errors import UsageError
from tidelog.model.facts import Fact
from tidelog.model.terms import Term
from tidelog.model.vocabulary import OWL, RDF, RDFS, TRIPLE
from tidelog.owl import equality as equality_rules
from tidelog.owl.axiom_reader import AxiomReader
from tidelog.owl.expressions import NOTHING
from tidelog.owl.graph import Graph, Triple
from tidelog.owl.names import DIFFERENT_FROM, SAME_AS, SWRL, TYPE, owl, swrl
from tidelog.owl.ontology import Ontology, Outside
from tidelog.owl.swrl_reader import read_implications
from tidelog.owl.translation import Translation
from tidelog.rules.syntax import Rule, Variable

Equality = Literal["auto", "axioms", "none"]

_SCHEMA = tuple(f"<{namespace}" for namespace in (RDF, RDFS, OWL, SWRL))
_ABOUT_INDIVIDUALS = {SAME_AS, DIFFERENT_FROM}


def compile_ontology(triples: Iterable[Triple], equality: Equality = "auto") -> Ontology:
    """The rules of an ontology. `equality`: with the rules of owl:sameAs if some axiom derives it, always, or never."""
    if equality not in ("auto", "axioms", "none"):
        raise UsageError(f'equality is {equality!r}; expected "auto", "axioms" or "none"')
    graph = Graph(triples)
    reader = AxiomReader(graph)
    axioms = [*reader.axioms(), *read_implications(graph, reader.classes)]
    translation = Translation(axioms, graph)
    facts = tuple(_facts(graph, reader))
    rules = [*translation.rules, *_nothing(graph), *_equality(equality, translation.rules, facts)]
    unique: dict[str, Rule] = {}
    for rule in rules:
        unique.setdefault(rule.key, rule)
    outside = dict.fromkeys(Outside(*pair) for pair in (*reader.outside, *translation.outside))
    return Ontology(tuple(unique.values()), facts, tuple(outside))


def _nothing(graph: Graph) -> list[Rule]:
    """An ontology that speaks of owl:Nothing refuses data that do."""
    mentioned = any(NOTHING.term in triple for triple in graph.triples)
    return [Rule((), (NOTHING.atom(Variable("x")),), report=True, name="cls-nothing2")] if mentioned else []


def _equality(wanted: Equality, rules: Iterable[Rule], facts: Iterable[Fact]) -> list[Rule]:
    concluded = {h.args[1] for rule in rules for h in rule.heads if h.predicate == TRIPLE}
    concluded |= {fact.args[1] for fact in facts}
    if wanted == "axioms" or (wanted == "auto" and SAME_AS in concluded):
        return [*equality_rules.axioms(), *equality_rules.difference()]
    return equality_rules.difference() if {SAME_AS, DIFFERENT_FROM} & concluded else []


def _facts(graph: Graph, reader: AxiomReader) -> Iterable[Fact]:
    """What the ontology states about individuals: all triples that are not of its vocabulary."""
    parts = {s for kind in (owl("Axiom"), owl("Annotation"), swrl("Imp")) for s in graph.instances(kind)}
    for triple in graph.triples:
        if triple[0] not in parts and _is_fact(*triple, reader):
            yield Fact(TRIPLE, triple)


def _is_fact(s: Term, p: Term, o: Term, reader: AxiomReader) -> bool:
    if p == TYPE:
        return o == owl("Thing") or not (o.startswith(_SCHEMA) or reader.classes.is_expression(o))
    return p in _ABOUT_INDIVIDUALS or not p.startswith(_SCHEMA)
