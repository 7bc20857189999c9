"""From the triples of an ontology to its rules: read the axioms, translate each, add the rules of equality if needed.

The left-hand side of an axiom becomes bodies, the right-hand side becomes heads. Axioms without rules are listed in
`Ontology.outside`. The rules of equality are Table 4 of the OWL 2 RL profile without the reflexive ones: no rule
derives that a term is the same as itself, so a query that means "equal or identical" must say both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Literal, TypedDict, overload

from tidelog.errors import RuleError, UsageError
from tidelog.model.terms import OWL, RDF, RDFS, TRIPLE, Fact, Term, is_helper
from tidelog.owl.axiom_reader import STATEMENTS, AxiomReader
from tidelog.owl.axioms import (
    Axiom,
    ClassAtom,
    Different,
    Disjoint,
    Domain,
    EqualAtom,
    HasKey,
    Implication,
    Irreflexive,
    Membership,
    NotRelated,
    RestrictionMembers,
    RuleAtom,
    SubClass,
    SubProperty,
)
from tidelog.owl.expressions import (
    DIFFERENT_FROM,
    NOTHING,
    SAME_AS,
    SWRL,
    THING,
    TYPE,
    ClassExpression,
    OntologyGraph,
    Property,
    TermTriple,
    owl,
    swrl,
)
from tidelog.owl.rule_parts import (
    Bodies,
    BodyParts,
    Conclusion,
    Conclusions,
    Heads,
    auxiliary,
    fresh,
    resolve,
    same,
    unequal,
)
from tidelog.owl.swrl_reader import read_implications
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.parsing.tokens import NAME, STANDARD_PREFIXES
from tidelog.rules.printer import format_rule
from tidelog.rules.syntax import Assignment, Atom, Condition, Rule, Variable, literal_variables


class Translation:
    """The rules of the axioms, and in `outside` the axioms without rules, with the reasons."""

    def __init__(self, axioms: Sequence[Axiom], graph: OntologyGraph) -> None:
        self.bodies = Bodies(RestrictionMembers(axioms))
        self.heads = Heads(self.bodies, graph)
        self.outside: list[tuple[str, str]] = []
        rules = [rule for axiom in axioms for rule in self._rules(axiom)]
        self.rules = _needed([*rules, *self._definitions()])

    def _rules(self, axiom: Axiom) -> Iterator[Rule]:
        for conclusion in self._conclusions(axiom):
            yield from self._rule(axiom.text, conclusion)
        problems, self.bodies.problems = self.bodies.problems, []
        if problems and isinstance(axiom, Implication):
            raise RuleError(f"SWRL rule {axiom.text!r}: {problems[0]}; change the rule or take it out of the file")
        self.outside += ((axiom.text, problem) for problem in problems)

    def _conclusions(self, axiom: Axiom) -> Conclusions:
        names = fresh()
        match axiom:
            case SubClass(_, sub, sup):
                yield from self._sub_class(sub, sup, next(names), names)
            case Domain(_, over, domain):
                x, y = next(names), next(names)
                yield from (c.given(over.atom(x, y)) for c in self.heads.of(domain, x, names))
            case SubProperty(_, chain, sup):
                yield from self._sub_property(chain, sup, names)
            case Disjoint(_, first, second):
                x, y = next(names), next(names)
                yield Conclusion((), (first.atom(x, y), second.atom(x, y)))
            case Irreflexive(_, over):
                x = next(names)
                yield Conclusion((), (over.atom(x, x),))
            case HasKey(_, of, properties):
                yield from self._key(of, properties, names)
            case Membership(_, individual, of):
                yield from self.heads.of(of, individual, names)
            case NotRelated(_, subject, over, value):
                yield Conclusion((), (over.atom(subject, value),))
            case Implication(_, body, head):
                used = axiom.variables()
                yield from self._implication(body, head, (v for v in names if v not in used))
            case Different(_, individuals):
                different = Property(DIFFERENT_FROM)
                yield Conclusion(tuple(different.atom(*pair) for pair in combinations(individuals, 2)))

    def _sub_class(
        self, sub: ClassExpression, sup: ClassExpression, x: Variable, names: Iterator[Variable]
    ) -> Conclusions:
        if sup == THING:
            return
        ways = self.bodies.of(sub, x, names)
        used = Atom(TRIPLE, (next(names), next(names), x))  # the values of a datatype are those that the data use
        ways = [(used, *way) if way and all(isinstance(s, Condition) for s in way) else way for way in ways]
        for conclusion in self.heads.of(sup, x, names):
            yield from (conclusion.given(*steps) for steps in ways)

    def _sub_property(self, chain: tuple[Property, ...], sup: Property, names: Iterator[Variable]) -> Conclusions:
        if sup.term in STATEMENTS:
            self.bodies.problems.append(
                f"`{sup}` on the right: the axioms would depend on the data; use the rule set OWL2RL instead"
            )
            return
        ends = [next(names) for _ in range(len(chain) + 1)]
        steps = tuple(over.atom(ends[i], ends[i + 1]) for i, over in enumerate(chain))
        yield Conclusion((sup.atom(ends[0], ends[-1]),), steps)

    def _key(self, of: ClassExpression, properties: tuple[Property, ...], names: Iterator[Variable]) -> Conclusions:
        x, y = next(names), next(names)
        shared = [(over.atom(x, z), over.atom(y, z)) for over, z in zip(properties, names, strict=False)]
        values = tuple(atom for pair in shared for atom in pair)
        for first, second in product(self.bodies.of(of, x, names), self.bodies.of(of, y, names)):
            yield Conclusion((Atom(TRIPLE, (x, SAME_AS, y)),), (*first, *second, *values, unequal(x, y)))

    def _implication(
        self, body: tuple[RuleAtom, ...], head: tuple[RuleAtom, ...], names: Iterator[Variable]
    ) -> Conclusions:
        ways = [tuple(s for steps in way for s in steps) for way in product(*(self._ways(a, names) for a in body))]
        conclusions = [c for atom in head for c in self._head(atom, names)] if head else [Conclusion(())]
        for conclusion in conclusions:
            yield from (conclusion.given(*steps) for steps in ways)

    def _ways(self, atom: RuleAtom, names: Iterator[Variable]) -> list[BodyParts]:
        if isinstance(atom, ClassAtom):
            return self.bodies.of(atom.of, atom.individual, names)
        if isinstance(atom, EqualAtom):
            return [same(atom.first, atom.second), (atom.as_triple(),)]
        return [(atom,)]

    def _head(self, atom: RuleAtom, names: Iterator[Variable]) -> Conclusions:
        if isinstance(atom, ClassAtom):
            return self.heads.of(atom.of, atom.individual, names)
        if isinstance(atom, EqualAtom):
            return iter([Conclusion((atom.as_triple(),), (unequal(atom.first, atom.second),))])
        assert isinstance(atom, Atom)
        return iter([Conclusion((atom,))])

    def _rule(self, text: str, conclusion: Conclusion) -> Iterator[Rule]:
        heads, body = resolve(conclusion.heads, conclusion.steps)
        bound = {v for literal in body if isinstance(literal, Atom | Assignment) for v in literal_variables(literal)}
        if any(v not in bound for head in heads for v in head.variables()) or not (heads or body):
            self.outside.append((text, "owl:Thing on the left: it would be true of every term"))
        elif not heads or not set(heads) <= set(body):
            yield Rule(heads, body, report=not heads, name=text)

    def _definitions(self) -> Iterator[Rule]:
        """Rules for the auxiliary predicates. Such a rule may use further auxiliary predicates."""
        done: set[ClassExpression] = set()
        while waiting := [e for e in self.bodies.defined if e not in done]:
            done.update(waiting)
            for expression in waiting:
                names = fresh()
                x = next(names)
                for steps in self.bodies.of(expression, x, names):
                    yield from self._rule(str(expression), Conclusion((auxiliary(expression, x),), steps))


def _needed(rules: list[Rule]) -> list[Rule]:
    """The rules without those for auxiliary predicates that no body reads, and those that read one without rules."""
    read = {TRIPLE, *(atom.predicate for rule in rules for atom in rule.atoms)}
    derived = {TRIPLE, *(head.predicate for rule in rules for head in rule.heads)}
    used = [r for r in rules if not r.heads or any(h.predicate in read for h in r.heads)]
    kept = [r for r in used if all(atom.predicate in derived or not is_helper(atom.predicate) for atom in r.atoms)]
    return rules if len(kept) == len(rules) else _needed(kept)


_EQUALITY_RULES = """
    #[name("eq-sym")]   [?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .
    #[name("eq-trans")] [?x, owl:sameAs, ?z] :- [?x, owl:sameAs, ?y], [?y, owl:sameAs, ?z], NOT(SAMETERM(?x, ?z)) .
    #[name("eq-rep-s")] [?t, ?p, ?o] :- [?s, owl:sameAs, ?t], [?s, ?p, ?o], NOT(SAMETERM(?p, owl:sameAs)) .
    #[name("eq-rep-p")] [?s, ?q, ?o] :- [?p, owl:sameAs, ?q], [?s, ?p, ?o] .
    #[name("eq-rep-o")] [?s, ?p, ?u] :- [?o, owl:sameAs, ?u], [?s, ?p, ?o], NOT(SAMETERM(?p, owl:sameAs)) .
    #[name("eq-diff1")] #[report] :- [?x, owl:sameAs, ?y], [?x, owl:differentFrom, ?y] .
"""
_DIFFERENCE_RULE = '#[name("eq-diff1")] #[report] :- [?x, owl:differentFrom, ?x] .'


_NAMESPACE = re.compile(r"<([a-z][\w+.-]*:[^<>\s]*[#/])[\w-]+>")
_PREFIX = re.compile(NAME)


@dataclass(frozen=True, slots=True)
class Outside:
    """An axiom, or one direction of an axiom, without a rule, and the reason."""

    axiom: str
    why: str

    def __str__(self) -> str:
        return f"{self.axiom}: {self.why}"


class OntologyChange(TypedDict):
    """The arguments of `KnowledgeBase.apply` that replace one ontology by another."""

    add: list[Fact]
    remove: list[Fact]
    add_rules: list[Rule]
    remove_rules: list[Rule]


@dataclass(frozen=True)
class Ontology(Sequence[Rule]):
    """A compiled ontology: a sequence of rules. `str(ontology)` is a program that can be saved and edited.

    `facts` are the facts about individuals that the ontology states; `outside` lists the axioms without rules.
    `missing_imports` are the IRIs of the ontologies that it imports and that are not among the sources.
    """

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...] = ()
    outside: tuple[Outside, ...] = ()
    missing_imports: tuple[str, ...] = ()

    @cached_property
    def prefixes(self) -> Mapping[str, str]:
        """Prefixes for the namespaces of the rules, for printing."""
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
        """The change that replaces this ontology by `new`, without common rules and facts.

        Use it as `kb.apply(**old.changed_to(new))`.
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
    """Compile the triples of an ontology. See `tidelog.ontology` for `equality`."""
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
    missing = tuple(dict.fromkeys(term[1:-1] for term in reader.imported))
    return Ontology(tuple(unique.values()), facts, tuple(outside), missing)


def _nothing(graph: OntologyGraph) -> list[Rule]:
    """The constraint that owl:Nothing is empty, if the ontology mentions owl:Nothing."""
    mentioned = any(NOTHING.term in triple for triple in graph.triples)
    return [Rule((), (NOTHING.atom(Variable("x")),), report=True, name="cls-nothing2")] if mentioned else []


def _equality(wanted: Equality, rules: Iterable[Rule], facts: Iterable[Fact]) -> list[Rule]:
    concluded = {h.args[1] for rule in rules for h in rule.heads if h.predicate == TRIPLE}
    concluded |= {fact.args[1] for fact in facts}
    if wanted == "axioms" or (wanted == "auto" and SAME_AS in concluded):
        return [*parse_rules(_EQUALITY_RULES), *parse_rules(_DIFFERENCE_RULE)]
    return parse_rules(_DIFFERENCE_RULE) if {SAME_AS, DIFFERENT_FROM} & concluded else []


def _facts(graph: OntologyGraph, reader: AxiomReader) -> Iterable[Fact]:
    """The facts about individuals: all triples that do not use the OWL vocabulary."""
    parts = {s for kind in (owl("Axiom"), owl("Annotation"), swrl("Imp")) for s in graph.instances(kind)}
    for triple in graph.triples:
        if triple[0] not in parts and _is_fact(*triple, reader):
            yield Fact(TRIPLE, triple)


def _is_fact(s: Term, p: Term, o: Term, reader: AxiomReader) -> bool:
    if p == TYPE:
        return o == owl("Thing") or not (o.startswith(_SCHEMA) or reader.classes.is_expression(o))
    return p in _ABOUT_INDIVIDUALS or not p.startswith(_SCHEMA)
