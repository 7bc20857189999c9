"""Small ontologies with data: read from text, run compiled, and run with the axiomatised rules of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import owlrl
from rdflib import OWL, RDF, RDFS, XSD, Graph, URIRef

import tidelog
from tests.reference.engine import ReferenceFacts, least_model, matches
from tidelog.algebra.sourced_rule import all_from
from tidelog.model.terms import RDF_TYPE, TRIPLE, Fact, Term, to_term
from tidelog.owl import Ontology
from tidelog.owl.expressions import SAME_AS
from tidelog.owl.files import ontology
from tidelog.rules.syntax import Rule

SCHEMA, DATA = "http://example.org/o#", "http://example.org/i#"
SWRL, SWRLB = "http://www.w3.org/2003/11/swrl#", "http://www.w3.org/2003/11/swrlb#"
PREFIXES = {
    "": SCHEMA,
    "i": DATA,
    "v": "urn:swrl:var#",
    "owl": OWL,
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "swrl": SWRL,
    "swrlb": SWRLB,
}
_ERROR = URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")

Triple = tuple[Term, Term, Term]
Triples = frozenset[Triple]


@dataclass(frozen=True)
class Case:
    """What an ontology and data give; `fields` are the lines of the case by their first word."""

    name: str
    fields: dict[str, str]

    def graph(self, *names: str) -> Graph:
        return turtle("\n".join(self.fields.get(name, "") for name in names))

    def expected(self) -> Triples:
        return about_data(terms(self.graph("ontology", "data", "gives")))


def read_cases(path: Path) -> Iterator[Case]:
    """Blocks of `word text` lines, each block from one `case` on; indented lines go on with the last word."""
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for block in re.split(r"^case\b", text, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        parts = re.findall(r"^(\w+) +(.*(?:\n +.*)*)", rest, flags=re.MULTILINE)
        yield Case(name.strip(), dict(parts))


def turtle(text: str) -> Graph:
    prefixes = "".join(f"@prefix {name}: <{namespace}> .\n" for name, namespace in PREFIXES.items())
    return Graph().parse(data=prefixes + text, format="turtle")


def about_data(triples: Iterable[Triple]) -> Triples:
    """The triples about individuals: in named classes, with properties of the ontology, or equal."""
    return frozenset(t for t in triples if _is_data(*t))


def _is_data(s: Term, p: Term, o: Term) -> bool:
    if not s.startswith(f"<{DATA}"):
        return False
    if p == RDF_TYPE:
        return o.startswith(f"<{SCHEMA}")
    return p.startswith(f"<{SCHEMA}") or p == SAME_AS


def without_reflexive(triples: Iterable[Triple]) -> Triples:
    """Others state of some or all things that they are the same as themselves."""
    return frozenset(t for t in triples if t[1] != SAME_AS or t[0] != t[2])


def terms(graph: Graph) -> list[Triple]:
    return [(to_term(s), to_term(p), to_term(o)) for s, p, o in graph]


def facts(graph: Graph) -> list[Fact]:
    return [Fact(TRIPLE, triple) for triple in terms(graph)]


def compiled(schema: Graph, data: Graph) -> tuple[Ontology, Triples, int]:
    """The rules of the schema, what they give with the data, and how many contradictions."""
    rules = ontology(schema)
    model = least_model([r for r in rules if not r.is_constraint], [*rules.facts, *facts(data)])
    return rules, _triples(model), contradictions(rules, model)


def contradictions(rules: Iterable[Rule], model: Iterable[Fact]) -> int:
    """How many matches the constraints have."""
    found = ReferenceFacts(model)
    return sum(len(matches(all_from(rule, found))) for rule in rules if rule.is_constraint)


def _triples(model: Iterable[Fact]) -> Triples:
    return about_data(fact.args for fact in model if fact.predicate == TRIPLE)  # type: ignore[misc]


@dataclass(frozen=True)
class Closure:
    """What rules that read ontologies as data give for many cases at once, each with its own names."""

    triples: tuple[Triple, ...]
    contradictions: tuple[str, ...]

    def of(self, number: int) -> Triples:
        """The triples of one case, as if it had been alone."""
        own = f"http://example.org/{number}/"
        texts = (" ".join(triple) for triple in self.triples if own in triple[0])
        lines = (text.replace(own, "http://example.org/") for text in texts)
        return without_reflexive(about_data((*line.split(" ", 2),) for line in lines))  # type: ignore[misc]


def together(cases: Mapping[int, Case]) -> Graph:
    """The ontologies and data of many cases, each with its own names."""
    result = Graph()
    for number, case in cases.items():
        text = case.graph("ontology", "data").serialize(format="nt")
        result.parse(data=text.replace("http://example.org/", f"http://example.org/{number}/"), format="nt")
    return result


def by_owlrl(graph: Graph) -> Closure:
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    return Closure(tuple(terms(graph)), tuple(str(message) for message in graph.objects(None, _ERROR)))


def by_rule_set(graph: Graph) -> Closure:
    with tidelog.open() as kb:
        kb.apply(add=graph, add_rules=tidelog.rulesets.OWL2RL)
        found = tuple((to_term(s), to_term(p), to_term(o)) for s, p, o in kb.facts(TRIPLE))
        return Closure(found, tuple(map(str, kb.inconsistencies())))
