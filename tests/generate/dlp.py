"""The Description Logic Programs translation, as small as the univ-bench ontology needs: the oracle for its rules.

Works on rule texts, one per axiom, with variables named in a fixed way; `normal` brings a rule to that form.
Restrictions on the right-hand side are existential and have no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rdflib import OWL, RDF, RDFS, Graph, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

SIMPLE: dict[URIRef, str] = {
    RDFS.subClassOf: "[?a, rdf:type, {o}] :- [?a, rdf:type, {s}]",
    RDFS.subPropertyOf: "[?a, {o}, ?b] :- [?a, {s}, ?b]",
    RDFS.domain: "[?a, rdf:type, {o}] :- [?a, {s}, ?b]",
    RDFS.range: "[?a, rdf:type, {o}] :- [?b, {s}, ?a]",
}
TRANSITIVE = "[?a, {s}, ?b] :- [?a, {s}, ?c], [?c, {s}, ?b]"
INVERSE = "[?a, {o}, ?b] :- [?b, {s}, ?a]"


def translate(ontology: Graph) -> set[str]:
    """The rules of the ontology's datalog fragment, in normal form."""
    return {normal(rule) for rule in _rules(ontology)}


def normal(rule: str) -> str:
    """The rule with its variables renamed in order of appearance and its body sorted."""
    head, body = rule.strip().removesuffix(".").strip().split(":-")
    atoms = sorted(re.findall(r"\[[^]]*\]", body), key=lambda atom: re.sub(r"\?\w+", "?", atom))
    text = f"{head.strip()} :- {', '.join(atoms)}"
    names = list(dict.fromkeys(re.findall(r"\?\w+", text)))
    return re.sub(r"\?\w+", lambda m: f"?v{names.index(m[0])}", text)


def _rules(g: Graph) -> Iterator[str]:
    for predicate, form in SIMPLE.items():
        yield from (
            form.format(s=_name(s), o=_name(o)) for s, o in g.subject_objects(predicate) if isinstance(o, URIRef)
        )
    yield from (TRANSITIVE.format(s=_name(p)) for p in g.subjects(RDF.type, OWL.TransitiveProperty))
    for p, q in g.subject_objects(OWL.inverseOf):
        yield INVERSE.format(s=_name(p), o=_name(q))
        yield INVERSE.format(s=_name(q), o=_name(p))
    for defined, parts in g.subject_objects(OWL.intersectionOf):
        yield from _definition(g, defined, list(Collection(g, parts)))


def _definition(g: Graph, defined: Node, parts: list[Node]) -> Iterator[str]:
    """All parts make the defined class; the defined class makes each part that has a name."""
    body = ", ".join(_condition(g, part) for part in parts)
    yield f"[?a, rdf:type, {_name(defined)}] :- {body}"
    for part in parts:
        if isinstance(part, URIRef):
            yield f"[?a, rdf:type, {_name(part)}] :- [?a, rdf:type, {_name(defined)}]"


def _condition(g: Graph, part: Node) -> str:
    if isinstance(part, URIRef):
        return f"[?a, rdf:type, {_name(part)}]"
    over, filler = g.value(part, OWL.onProperty), g.value(part, OWL.someValuesFrom)
    assert over is not None
    assert filler is not None
    return f"[?a, {_name(over)}, ?b], [?b, rdf:type, {_name(filler)}]"


def _name(node: Node) -> str:
    return f"ub:{str(node).rpartition('#')[2]}"
