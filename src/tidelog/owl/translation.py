"""Axioms to rules: the left-hand side becomes bodies, the right-hand side heads; what has no rule is listed.

The rules of equality (Table 4 of the OWL 2 RL profile), without the reflexive ones.

Nothing is derived to be the same as itself: a query that means "equal or the same as" has to say both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from tidelog.errors import RuleError
from tidelog.model.terms import TRIPLE
from tidelog.owl.axiom_reader import STATEMENTS
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
    Known,
    Membership,
    NotRelated,
    RuleAtom,
    SubClass,
    SubProperty,
)
from tidelog.owl.class_reader import OntologyGraph
from tidelog.owl.expressions import DIFFERENT_FROM, SAME_AS, THING, ClassExpression, Property
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
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Assignment, Atom, Rule, Variable, literal_variables


class Translation:
    """The rules of some axioms, and those that have none."""

    def __init__(self, axioms: Sequence[Axiom], graph: OntologyGraph) -> None:
        self.bodies = Bodies(Known(axioms))
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
            self.outside.append((text, "owl:Thing on the left: it would hold of everything there is"))
        elif not heads or not set(heads) <= set(body):
            yield Rule(heads, body, report=not heads, name=text)

    def _definitions(self) -> Iterator[Rule]:
        """Rules for the auxiliary predicates; defining one may need others."""
        done: set[ClassExpression] = set()
        while waiting := [e for e in self.bodies.defined if e not in done]:
            done.update(waiting)
            for expression in waiting:
                names = fresh()
                x = next(names)
                for steps in self.bodies.of(expression, x, names):
                    yield from self._rule(str(expression), Conclusion((auxiliary(expression, x),), steps))


def _needed(rules: list[Rule]) -> list[Rule]:
    """Without the rules for auxiliary predicates that no body reads."""
    read = {TRIPLE, *(atom.predicate for rule in rules for atom in rule.atoms)}
    kept = [r for r in rules if not r.heads or any(h.predicate in read for h in r.heads)]
    return rules if len(kept) == len(rules) else _needed(kept)


_AXIOMS = """
    #[name("eq-sym")]   [?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .
    #[name("eq-trans")] [?x, owl:sameAs, ?z] :- [?x, owl:sameAs, ?y], [?y, owl:sameAs, ?z], NOT(SAMETERM(?x, ?z)) .
    #[name("eq-rep-s")] [?t, ?p, ?o] :- [?s, owl:sameAs, ?t], [?s, ?p, ?o], NOT(SAMETERM(?p, owl:sameAs)) .
    #[name("eq-rep-p")] [?s, ?q, ?o] :- [?p, owl:sameAs, ?q], [?s, ?p, ?o] .
    #[name("eq-rep-o")] [?s, ?p, ?u] :- [?o, owl:sameAs, ?u], [?s, ?p, ?o], NOT(SAMETERM(?p, owl:sameAs)) .
    #[name("eq-diff1")] #[report] :- [?x, owl:sameAs, ?y], [?x, owl:differentFrom, ?y] .
"""
_ALWAYS = '#[name("eq-diff1")] #[report] :- [?x, owl:differentFrom, ?x] .'


def difference() -> list[Rule]:
    """Nothing differs from itself: what remains to be checked where equal terms are rewritten to one."""
    return parse_rules(_ALWAYS)


def axioms() -> list[Rule]:
    """Equality as rules: symmetric, transitive, and equal things have the same triples."""
    return parse_rules(_AXIOMS)
