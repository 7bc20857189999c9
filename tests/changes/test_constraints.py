"""Constraints: refused or reported, and looked for only where a change can have led to a match."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from random import Random

import pytest

import tidelog
from tests.rulesets.cases import Triples, facts
from tests.rulesets.random_ontologies import random_history
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import RuleChange, Update
from tidelog.changes.constraints import Inconsistency, check_constraints
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import ConstraintError
from tidelog.model.terms import RDF_TYPE, TRIPLE, Fact, Term, iri
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.syntax import Variable

CLASH = "[cat, owl:disjointWith, dog] . [rex, rdf:type, cat] . [rex, rdf:type, dog] ."


def test_an_inconsistency_is_reported_by_default() -> None:
    with tidelog.open() as kb:
        kb.apply(add_rules=tidelog.rulesets.OWL2RL)
        kb.apply(add=CLASH)
        (found,) = kb.inconsistencies()
        assert str(found) == f"cax-dw: {CLASH}"
        assert found.rule in kb.rules
        assert [row[0] for row in found.facts] == ["triple"] * 3
        kb.apply(remove="[rex, rdf:type, dog] .")
        assert kb.inconsistencies() == []


def test_lists_are_not_shown_as_they_are_kept() -> None:
    with tidelog.open() as kb:
        members = "[l, rdf:first, cat] . [l, rdf:rest, m] . [m, rdf:first, dog] . [m, rdf:rest, rdf:nil] ."
        clash = "[rex, rdf:type, cat] . [rex, rdf:type, dog] ."
        axiom = "[a, rdf:type, owl:AllDisjointClasses] . [a, owl:members, l] ."
        kb.apply(add=axiom + members + clash, add_rules=tidelog.rulesets.OWL2RL)
        (found,) = kb.inconsistencies()
        assert set(found.matched) <= set(parse_facts(axiom + members + clash))


def test_strict_refuses_and_changes_nothing() -> None:
    with tidelog.open(strict=True) as kb:
        kb.apply(add_rules=tidelog.rulesets.OWL2RL)
        before = len(kb.all_facts())
        with pytest.raises(ConstraintError, match="cax-dw"):
            kb.apply(add=CLASH)
        assert (len(kb.all_facts()), kb.version) == (before, 1)


def test_a_reported_constraint_becomes_one_that_is_refused() -> None:
    rule = ":- parent(?x, ?x) ."
    with tidelog.open() as kb:
        kb.apply(add="parent(ann, ann) .", add_rules=f"#[report] {rule}")
        assert len(kb.inconsistencies()) == 1
        with pytest.raises(ConstraintError):
            kb.apply(add_rules=rule)
        kb.apply(remove="parent(ann, ann) .", add_rules=rule)
        with pytest.raises(ConstraintError):
            kb.apply(add="parent(bob, bob) .")


def test_a_limit_of_inconsistencies() -> None:
    with tidelog.open() as kb:
        kb.apply(add="p(a) . p(b) . p(c) .", add_rules="#[report] :- p(?x) .")
        assert (len(kb.inconsistencies()), len(kb.inconsistencies(limit=2))) == (3, 2)


# rules, facts, what is removed and added next, and whether that is refused
CHANGES = [
    (":- p(?x), q(?x) .", "p(a) . q(b) .", "", "q(a) .", True),
    (":- p(?x), q(?x) .", "p(a) . q(b) .", "", "q(c) .", False),
    (":- p(?x), ~q(?x) .", "p(a) . q(a) .", "q(a) .", "", True),
    (":- p(?x), ~q(?x, _) .", "p(a) . q(a, b) . q(a, c) .", "q(a, b) .", "", False),
    (":- p(?x), ~q(?x, _) .", "p(a) . q(a, b) . q(a, c) .", "q(a, b) . q(a, c) .", "", True),
    (":- p(?x), ~q(?x) .", "p(a) . q(a) .", "q(a) . p(a) .", "", False),
    (":- ~q(a) .", "q(a) .", "q(a) .", "", True),
    (":- p(?x), p(?y), ?x < ?y . q(?x) :- p(?x) .", "p(1) .", "", "p(2) .", True),
    (":- d(?x), ~e(?x) . d(?y) :- p(?x, ?y) . e(?x) :- p(?x, ?y) .", "p(a, b) . p(b, a) .", "p(a, b) .", "", True),
]


@pytest.mark.parametrize(("rules", "facts", "remove", "add", "refused"), CHANGES)
def test_a_change_is_refused(rules: str, facts: str, remove: str, add: str, refused: bool) -> None:
    with tidelog.open() as kb:
        kb.apply(add=facts, add_rules=rules)
        if not refused:
            kb.apply(remove=remove, add=add)
            return
        with pytest.raises(ConstraintError):
            kb.apply(remove=remove, add=add)


class Watched(LocalEngine):
    """Notes the size of the smallest set that each search for matches reads."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []

    def instances(
        self, rule: SourcedRule[LocalFacts], variables: Sequence[Variable], limit: int | None = None
    ) -> Iterator[tuple[Term, ...]]:
        self.read.append(min(map(len, rule.sources)))
        return super().instances(rule, variables, limit)


def test_a_small_change_looks_at_little() -> None:
    """Each search starts from the facts that changed, however many there are; a constraint that is new looks at all."""
    engine = Watched()
    rules = (*tidelog.rulesets.OWL2RL, *parse_rules(":- [?x, rdf:type, cat], ~[?x, tail, _] ."))
    some = [Fact(TRIPLE, (iri(f"x{i}"), Term(RDF_TYPE), iri("animal"))) for i in range(1000)]
    E = engine.fact_set([*some, *parse_facts("[cat, owl:disjointWith, dog] . [x1, tail, t1] .")])
    nothing = engine.fact_set(())
    run = ALGORITHMS["bf"]
    first = run(Update(engine, RuleChange((), rules), E, nothing, nothing, E, Work()))
    check_constraints(engine, RuleChange((), rules), first, strict=True)
    assert min(engine.read) >= 1000
    engine.read.clear()
    new = engine.fact_set(parse_facts("[x1, rdf:type, cat] ."))
    program = RuleChange(rules, rules)
    second = run(Update(engine, program, E | new, first.I, nothing, new, Work()))
    check_constraints(engine, program, second, strict=True)
    assert engine.read
    assert max(engine.read) <= len(second.added) <= 3


def shown(found: Sequence[Inconsistency]) -> set[tuple[str, frozenset[Fact]]]:
    return {(each.name, frozenset(each.matched)) for each in found}


def test_a_change_says_what_it_contradicts() -> None:
    kb = tidelog.open()
    kb.apply(add_rules=tidelog.rulesets.OWL2RL)
    assert list(kb.apply(add="[cat, owl:disjointWith, dog] . [rex, rdf:type, cat] .").inconsistencies) == []
    preview = kb.preview(add="[rex, rdf:type, dog] .")
    change = kb.apply(add="[rex, rdf:type, dog] .")
    for each in (preview, change):
        assert [i.name for i in each.inconsistencies] == ["cax-dw"]
        assert shown(each.inconsistencies) == shown(kb.inconsistencies())
    assert pickle.loads(pickle.dumps(change.inconsistencies)) == list(change.inconsistencies)
    assert list(kb.apply(add="[rex, age, 7] .").inconsistencies) == []
    assert list(kb.apply(remove="[rex, rdf:type, dog] .").inconsistencies) == []


RULES = """
    #[name("loop")] #[report] :- r(?x, ?x) .
    #[name("alone")] #[report] :- p(?x), ~q(?x) .
    #[name("large")] #[report] :- r(?x, ?y), r(?y, ?z), ?s = ?x + ?z, ?s > 3, ~p(?s) .
    r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .
    q(?x) :- r(?x, _) .
"""


@pytest.mark.parametrize("seed", range(12))
def test_the_inconsistencies_of_a_change_are_the_new_ones(seed: int) -> None:
    random = Random(seed)
    kb = tidelog.open()
    rules = parse_rules(RULES)
    for _ in range(8):
        before = shown(kb.inconsistencies())
        parts = [f"r({random.randrange(4)}, {random.randrange(4)}) . p({random.randrange(8)}) ." for _ in range(4)]
        some = random.sample(rules, 2)
        change = kb.apply(
            add=" ".join(parts[:2]),
            remove=" ".join(parts[2:]),
            add_rules=some[:1],
            remove_rules=[rule for rule in some[1:] if rule in kb.rules],
        )
        after = shown(kb.inconsistencies())  # a new match may have the same facts as an old one
        assert after - before <= shown(change.inconsistencies) <= after
        if not before & shown(change.inconsistencies):
            assert shown(change.inconsistencies) == after - before


@pytest.mark.parametrize("seed", range(6))
def test_the_inconsistencies_of_random_ontologies(seed: int) -> None:
    """A match over helper facts may be new although its other facts contradicted each other before."""
    kb = tidelog.open()
    kb.apply(add_rules=tidelog.rulesets.OWL2RL)
    known: Triples = frozenset()
    for triples in random_history(seed, steps=6):
        before = shown(kb.inconsistencies())
        change = kb.apply(add=list(facts(triples - known)), remove=list(facts(known - triples)))
        after = shown(kb.inconsistencies())
        assert after - before <= shown(change.inconsistencies) <= after
        known = triples


def repaired(kb: tidelog.KnowledgeBase, found: Inconsistency) -> None:
    """Each proposal ends the inconsistency and is minimal."""
    proposals = kb.repair(found, limit=3)
    assert proposals or proposals.reason
    for proposal in proposals:
        E = list(kb.all_facts("explicit").texts())
        for kept in (None, *proposal.facts):
            other = tidelog.open()
            other.apply(add=E, add_rules=list(kb.rules))
            other.apply(remove=[fact for fact in proposal.facts if fact != kept])
            there = shown(other.inconsistencies())
            assert ((found.name, frozenset(found.matched)) in there) == (kept is not None)


@pytest.mark.parametrize("seed", range(6))
def test_an_inconsistency_can_be_repaired(seed: int) -> None:
    random = Random(seed)
    kb = tidelog.open()
    parts = [f"r({random.randrange(3)}, {random.randrange(3)}) . p({random.randrange(8)}) ." for _ in range(3)]
    kb.apply(add=" ".join(parts), add_rules=RULES)
    for found in kb.inconsistencies()[:6]:
        repaired(kb, found)


def test_an_inconsistency_of_owl_can_be_repaired() -> None:
    members = "[l, rdf:first, cat] . [l, rdf:rest, m] . [m, rdf:first, dog] . [m, rdf:rest, rdf:nil] ."
    clash = "[rex, rdf:type, cat] . [rex, rdf:type, puppy] . [puppy, rdfs:subClassOf, dog] ."
    kb = tidelog.open()
    kb.apply(
        add=f"[a, rdf:type, owl:AllDisjointClasses] . [a, owl:members, l] . {members} {clash}",
        add_rules=tidelog.rulesets.OWL2RL,
    )
    (found,) = kb.inconsistencies()
    proposals = kb.repair(found, keep=["[?x, owl:members, ?y]", "[?x, rdf:first, ?y]", "[?x, rdf:rest, ?y]"])
    assert proposals.complete
    assert {proposal.texts()[0] for proposal in proposals} == {
        "[a, rdf:type, owl:AllDisjointClasses] .",
        "[rex, rdf:type, cat] .",
        "[rex, rdf:type, puppy] .",
        "[puppy, rdfs:subClassOf, dog] .",
    }
    repaired(kb, found)
    kb.apply(remove="[rex, rdf:type, cat] .")
    assert "does not hold" in kb.repair(found).reason
