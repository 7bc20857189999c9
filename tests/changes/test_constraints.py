"""Constraints: refused or reported, and looked for only where a change can have led to a match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

import tidelog
from tidelog.algebra.engine import Work
from tidelog.algebra.sourced_rule import SourcedRule
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import RuleChange, Update
from tidelog.changes.constraints import check_constraints
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
