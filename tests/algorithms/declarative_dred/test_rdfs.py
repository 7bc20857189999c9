"""RDF/S over one predicate: the counts that the paper derives in section 3.3, and its split by constants."""

from __future__ import annotations

from collections import Counter

from tests.algorithms.declarative_dred.running import Run, differences, run, split
from tests.oracle.histories import State
from tests.reference.selection import selection, split_triples
from tidelog import rulesets
from tidelog.model.terms import RDF, RDF_TYPE, RDFS, TRIPLE, Fact, Term, iri
from tidelog.rules.maintenance_rules import MINUS, PLUS, maintenance_program
from tidelog.rules.parsing.parser import parse_facts, parse_rules
from tidelog.rules.syntax import Atom, Rule

RULES = list(rulesets.get("rdfs-volz"))
# The paper counts 15 rules with 21 body predicates. Its figure prints 13 with 20, its text another, t :- t_ext.
# A fifteenth is not printed; to agree with the count it can have no body predicate, so here it is an axiom.
AXIOM = Rule((Atom(TRIPLE, (Term(RDF_TYPE), Term(RDF_TYPE), iri(f"{RDF}Property"))),), ())
FACTS = """[dog, rdfs:subClassOf, mammal] . [mammal, rdfs:subClassOf, animal] . [rex, rdf:type, dog] .
           [hasPet, rdfs:range, animal] . [ann, hasPet, rex] . [hasPet, rdfs:subPropertyOf, knows] .
           [knows, rdfs:domain, person] ."""


def kinds(rules: list[Rule]) -> Counter[str]:
    """How many rules define each kind of maintenance predicate."""
    return Counter(rule.heads[0].predicate.removeprefix(f"{TRIPLE}^") for rule in rules)


def test_the_rules_that_the_figure_prints() -> None:
    counts = kinds(maintenance_program(RULES))
    assert counts == {"Del": 21, "Ins": 21, "Red": 14, "New": 3, "Plus": 1, "Minus": 1}


def test_all_that_the_paper_counts() -> None:
    counts = kinds(maintenance_program([*RULES, AXIOM]))
    assert (counts["Del"], counts["Ins"], counts["Red"]) == (21, 21, 15)
    assert counts["New"] + counts["Plus"] + counts["Minus"] == 5
    assert counts.total() == 62


def change(rules: list[Rule], remove: str, add: str = "") -> tuple[State, State]:
    facts = frozenset(parse_facts(FACTS))
    after = (facts - set(parse_facts(remove))) | set(parse_facts(add))
    return State.of(facts, tuple(rules)), State.of(after, tuple(rules))


def test_the_program_of_the_figure_computes_the_change() -> None:
    before, after = change(RULES, "[dog, rdfs:subClassOf, mammal] .", "[rex, knows, tom] .")
    found = run(before, after)
    assert {mark: found[mark] for mark in (PLUS, MINUS)} == differences(before, after, {TRIPLE})
    assert Fact(TRIPLE, (iri("rex"), Term(RDF_TYPE), iri("mammal"))) in found[MINUS]
    assert Fact(TRIPLE, (iri("rex"), Term(RDF_TYPE), iri("animal"))) not in found[MINUS]  # the range of hasPet


def in_parts(before: State, after: State) -> Run:
    part = selection(RULES, TRIPLE, 1)
    assert part is not None
    return run(split(part, before), split(part, after), views={TRIPLE})


def test_the_split_program_computes_the_same_change() -> None:
    before, after = change(RULES, "[hasPet, rdfs:range, animal] .", "[ann, hasPet, tom] .")
    found, whole = in_parts(before, after), run(before, after)
    for mark in (PLUS, MINUS):
        assert {f for f in found[mark] if f.predicate == TRIPLE} == whole[mark] != set()


def test_a_change_reaches_only_some_parts() -> None:
    """Which parts were looked at; without the split there is one part, the whole."""
    symmetric = parse_rules("t(?x, inDynasty, ?y) :- t(?y, inDynasty, ?x) . t(?x, old, ?y) :- t(?x, older, ?y) .")
    part = selection(symmetric, "t", 1)
    assert part is not None
    facts = frozenset(parse_facts("t(a, inDynasty, b) . t(a, older, b) . t(a, likes, b) ."))
    before = split(part, State.of(facts, tuple(symmetric)))
    after = split(part, State.of(facts - set(parse_facts("t(a, inDynasty, b) .")), tuple(symmetric)))
    found = run(before, after, views={"t"})
    deleted = {f.predicate for f in found.model if f.predicate.endswith("^Del")}
    assert deleted == {"t^inDynasty_2^Ext^Del", "t^inDynasty_2^Del", "t^Del"}


def test_triples_are_split_by_predicate_and_types_by_class() -> None:
    rules = parse_rules(
        "[?x, rdf:type, Person] :- [?x, rdf:type, Student] . [?x, rdf:type, ?d] :- [?p, rdfs:domain, ?d], [?x, ?p, _] ."
    )
    program, (by_predicate, by_class) = split_triples(rules)
    assert by_predicate.points == (RDF_TYPE, f"<{RDFS}domain>")
    assert by_class.points == (iri("Person"), iri("Student"))
    assert set(parse_rules(TYPES)) <= set(program)
    triples = "[ann, rdf:type, Student] . [takes, rdfs:domain, Student] . [bob, takes, logic] ."
    states = [
        State.of(frozenset(parse_facts(facts)), tuple(rules)) for facts in (triples, triples.replace("[ann", "[cid"))
    ]
    before, after = (split(by_class, split(by_predicate, s)) for s in states)
    found = run(before, after, views={TRIPLE, by_class.predicate})
    for mark, facts in differences(states[0], states[1], {TRIPLE}).items():
        assert {f for f in found[mark] if f.predicate == TRIPLE} == facts != set()


TYPES = f"""
    <triple^{RDF}type_2^Person_3>(?x, rdf:type, Person) :- <triple^{RDF}type_2^Student_3>(?x, rdf:type, Student) .
    <triple^{RDF}type_2^Rest>(?x, rdf:type, ?d) :- <triple^{RDFS}domain_2>(?p, rdfs:domain, ?d), [?x, ?p, _] .
    <triple^{RDF}type_2^Student_3>(?x1, ?x2, Student) :- <triple^{RDF}type_2^Rest>(?x1, ?x2, Student) .
    <triple^{RDF}type_2>(?x1, ?x2, ?x3) :- <triple^{RDF}type_2^Rest>(?x1, ?x2, ?x3) .
    [?x1, rdf:type, ?x3] :- <triple^{RDF}type_2>(?x1, rdf:type, ?x3) ."""
