"""From the triples of an ontology to its rules: read the axioms, translate each, add equality if something needs it.

A compiled ontology: its rules, the facts it states about individuals, and what has no rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypedDict, overload

from tidelog.errors import UsageError
from tidelog.model.facts import Fact
from tidelog.model.terms import OWL, RDF, RDFS, TRIPLE, Term
from tidelog.owl import translation as equality_rules
from tidelog.owl.axiom_reader import AxiomReader
from tidelog.owl.class_reader import OntologyGraph, TermTriple
from tidelog.owl.expressions import DIFFERENT_FROM, NOTHING, SAME_AS, SWRL, TYPE, owl, swrl
from tidelog.owl.swrl_reader import read_implications
from tidelog.owl.translation import Translation
from tidelog.rules.parsing.tokens import NAME, STANDARD_PREFIXES
from tidelog.rules.printer import format_rule
from tidelog.rules.syntax import Rule, Variable

_NAMESPACE = re.compile(r"<([a-z][\w+.-]*:[^<>\s]*[#/])[\w-]+>")
_PREFIX = re.compile(NAME)


@dataclass(frozen=True, slots=True)
class Outside:
    """An axiom, or a direction of one, that has no rule, and why."""

    axiom: str
    why: str

    def __str__(self) -> str:
        return f"{self.axiom}: {self.why}"


class OntologyChange(TypedDict):
    """What `KnowledgeBase.apply` takes to go from one ontology to another."""

    add: list[Fact]
    remove: list[Fact]
    add_rules: list[Rule]
    remove_rules: list[Rule]


@dataclass(frozen=True)
class Ontology(Sequence[Rule]):
    """Rules, one or more for each axiom. `str(ontology)` is a program that can be saved and edited.

    `facts` are what the ontology itself states about individuals; `outside` lists the axioms that have no rules.
    """

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...] = ()
    outside: tuple[Outside, ...] = ()

    @cached_property
    def prefixes(self) -> Mapping[str, str]:
        """Short names for the namespaces of the rules, for printing."""
        names = Counter(match[1] for rule in self for match in _NAMESPACE.finditer(repr((rule.heads, rule.body))))
        found: dict[str, str] = {}
        for namespace in (n for n, _ in names.most_common() if n not in STANDARD_PREFIXES.values()):
            stem = "-".join(re.findall(r"[^\W_]+", re.sub(r"\.\w{1,4}$", "", namespace[:-1].rpartition("/")[2])))
            prefix = stem if _PREFIX.fullmatch(stem) and stem not in STANDARD_PREFIXES else "ns"
            found[prefix if prefix not in found else f"{prefix}{len(found)}"] = namespace
        return found

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Rule]: ...
    def __getitem__(self, index: int | slice) -> Rule | Sequence[Rule]:
        return self.rules[index]

    def __str__(self) -> str:
        prefixes = [f"@prefix {prefix}: <{expansion}> ." for prefix, expansion in self.prefixes.items()]
        lines = [*prefixes, *(format_rule(rule, self.prefixes) for rule in self.rules)]
        return "".join(f"{line}\n" for line in lines)

    def changed_to(self, new: Ontology) -> OntologyChange:
        """What to add and remove to put a new ontology in the place of this one: `kb.apply(**old.changed_to(new))`.

        Rules and facts that both have are not in it.
        """
        before, after = {r.key: r for r in self}, {r.key: r for r in new}
        facts, new_facts = dict.fromkeys(self.facts), dict.fromkeys(new.facts)
        return {
            "add": [f for f in new_facts if f not in facts],
            "remove": [f for f in facts if f not in new_facts],
            "add_rules": [r for key, r in after.items() if key not in before],
            "remove_rules": [r for key, r in before.items() if key not in after],
        }


Equality = Literal["auto", "axioms", "none"]

_SCHEMA = tuple(f"<{namespace}" for namespace in (RDF, RDFS, OWL, SWRL))
_ABOUT_INDIVIDUALS = {SAME_AS, DIFFERENT_FROM}


def compile_ontology(triples: Iterable[TermTriple], equality: Equality = "auto") -> Ontology:
    """The rules of an ontology. `equality`: with the rules of owl:sameAs if some axiom derives it, always, or never."""
    if equality not in ("auto", "axioms", "none"):
        raise UsageError(f'equality is {equality!r}; expected "auto", "axioms" or "none"')
    graph = OntologyGraph(triples)
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


def _nothing(graph: OntologyGraph) -> list[Rule]:
    """An ontology that speaks of owl:Nothing refuses data that do."""
    mentioned = any(NOTHING.term in triple for triple in graph.triples)
    return [Rule((), (NOTHING.atom(Variable("x")),), report=True, name="cls-nothing2")] if mentioned else []


def _equality(wanted: Equality, rules: Iterable[Rule], facts: Iterable[Fact]) -> list[Rule]:
    concluded = {h.args[1] for rule in rules for h in rule.heads if h.predicate == TRIPLE}
    concluded |= {fact.args[1] for fact in facts}
    if wanted == "axioms" or (wanted == "auto" and SAME_AS in concluded):
        return [*equality_rules.axioms(), *equality_rules.difference()]
    return equality_rules.difference() if {SAME_AS, DIFFERENT_FROM} & concluded else []


def _facts(graph: OntologyGraph, reader: AxiomReader) -> Iterable[Fact]:
    """What the ontology states about individuals: all triples that are not of its vocabulary."""
    parts = {s for kind in (owl("Axiom"), owl("Annotation"), swrl("Imp")) for s in graph.instances(kind)}
    for triple in graph.triples:
        if triple[0] not in parts and _is_fact(*triple, reader):
            yield Fact(TRIPLE, triple)


def _is_fact(s: Term, p: Term, o: Term, reader: AxiomReader) -> bool:
    if p == TYPE:
        return o == owl("Thing") or not (o.startswith(_SCHEMA) or reader.classes.is_expression(o))
    return p in _ABOUT_INDIVIDUALS or not p.startswith(_SCHEMA)
