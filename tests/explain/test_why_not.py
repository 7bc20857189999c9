"""Why facts do not hold: what is said to match does, what is said to be missing is, and no rule is left out."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import tidelog
from tests.explain.worlds import near_misses, random_world
from tests.reference.engine import ReferenceFacts, matches
from tidelog.algebra.sourced_rule import all_from
from tidelog.explain.proof import grounded
from tidelog.explain.why_not import Failure
from tidelog.model.terms import Fact
from tidelog.rules.printer import format_literal
from tidelog.rules.syntax import Aggregate, Atom, Literal, Rule, Variable


def match_together(literals: Iterable[Literal], model: ReferenceFacts) -> bool:
    return bool(matches(all_from(Rule((), tuple(literals)), model)))


def check_failure(failure: Failure, fact: Fact, model: ReferenceFacts) -> None:
    """What is reached matches, also with the nearest bindings; with what is missing it does not."""
    assert match_together(failure.reached, model)
    for binding in failure.nearest:
        assert match_together((grounded(literal, binding) for literal in failure.reached), model)
    if failure.missing is not None:
        assert not match_together((*failure.reached, failure.missing), model)
    else:
        rule = failure.numbered.rule
        assert len(failure.reached) == len(rule.body)
        assert rule.aggregate is not None
        assert failure.value != fact.args[rule.heads[0].args.index(rule.aggregate)]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_missing_is_missing(seed: int) -> None:
    with random_world(seed) as (kb, naive, random):
        model = ReferenceFacts(naive.I)
        for fact in near_misses(random, naive, 6):
            why = kb.why_not(fact)
            assert (why.holds, why.known) == (False, True)
            assert {f.numbered.rule.key for f in why.failures} == {r.key for r in kb.rules if may_derive(r, fact)}
            for failure in why.failures:
                check_failure(failure, fact, model)


def may_derive(rule: Rule, fact: Fact) -> bool:
    """Whether a head unifies with the fact."""
    heads = (
        Atom(h.predicate, tuple(Variable("#") if isinstance(a, Aggregate) else a for a in h.args)) for h in rule.heads
    )
    return any(
        matches(all_from(Rule((), (head,)), ReferenceFacts([fact])))
        for head in heads
        if head.predicate == fact.predicate
    )


CASES = [
    ("p(a) .", "", "q(a)", "q(a) does not hold: no fact and no rule has q"),
    ("p(a) .", "", "p(b)", "p(b) does not hold: it is not explicit, and no rule has a head that could be this fact"),
    ("p(a) .", "", "p(a)", "p(a) holds; explain says why"),
    (
        "p(a) .",
        "q(b) :- p(?x) . q(?x) :- p(?x), ?x != a .",
        "q(a)",
        "q(a) does not hold: it is not explicit, and no rule derives it\n"
        "rule 2: q(?x) :- p(?x), ?x != a .\n  matches  p(a)\n  missing  a != a\nother heads: rule 1",
    ),
    (
        "p(a) . r(a) .",
        "q(?x) :- p(?x), ~r(?x) .",
        "q(a)",
        "q(a) does not hold: it is not explicit, and no rule derives it\n"
        "rule 1: q(?x) :- p(?x), ~r(?x) .\n  matches  p(a)\n  missing  not r(a)",
    ),
    (
        "p(a, 1) . p(a, 2) .",
        "n(?x, #count(?y)) :- p(?x, ?y) .",
        "n(a, 3)",
        "n(a, 3) does not hold: it is not explicit, and no rule derives it\n"
        "rule 1: n(?x, #count(?y)) :- p(?x, ?y) .\n  matches  p(a, ?y)\n  nearest  ?x = a, ?y = 1; ?x = a, ?y = 2\n"
        "  gives    2",
    ),
    (
        "e(a, b) . e(b, c) . f(x, d) .",
        '#[name("far")] g(?x, ?z) :- e(?x, ?y), e(?y, ?w), f(?w, ?z) .',
        "g(a, d)",
        "g(a, d) does not hold: it is not explicit, and no rule derives it\n"
        'rule far: #[name("far")] g(?x, ?z) :- e(?x, ?y), e(?y, ?w), f(?w, ?z) .\n'
        "  matches  e(a, ?y), e(?y, ?w)\n  nearest  ?y = b, ?w = c\n  missing  f(?w, d)",
    ),
]


@pytest.mark.parametrize(("facts", "rules", "fact", "text"), CASES)
def test_the_text(facts: str, rules: str, fact: str, text: str) -> None:
    kb = tidelog.open()
    kb.apply(add=facts, add_rules=rules)
    assert kb.why_not(fact).tree() == text


def test_many_other_heads_are_only_counted() -> None:
    kb = tidelog.open()
    kb.apply(add="q(a) .", add_rules=" ".join(f"p(c{i}) :- q(?x) ." for i in range(9)))
    assert kb.why_not("p(a)").tree().endswith("\nother heads: 9 rules")
    assert len(kb.why_not("p(a)").others) == 9


def test_what_hangs_on_nothing_is_not_reached() -> None:
    kb = tidelog.open()
    kb.apply(add="r(b, c) . s(a) .", add_rules="p(?x) :- s(?x), q(?x, ?y), r(?y, ?z) .")
    (failure,) = kb.why_not("p(a)").failures
    assert list(map(format_literal, failure.reached)) == ["s(a)"]
    assert failure.missing is not None
    assert format_literal(failure.missing) == "q(a, ?y)"


RANKED = """
    #[name("far")] q(?x) :- a(?x), b(?x), c(?x) .
    #[name("near")] q(?x) :- p(?x), a(?x) .
    #[name("middle")] q(?x) :- p(?x), b(?x), c(?x) .
    #[name("nearest")] q(?x) :- p(?x), r(?x), c(?x) .
"""


def test_the_nearest_three_rules_come_first() -> None:
    kb = tidelog.open()
    kb.apply(add="p(1) . r(1) .", add_rules=RANKED)
    why = kb.why_not("q(1)")
    assert [f.numbered.rule.name for f in why.failures] == ["nearest", "near", "middle", "far"]
    assert [f.distance for f in why.failures] == [1, 1, 2, 3]
    assert [line.split(":")[0] for line in str(why).splitlines() if line.startswith("rule")] == [
        "rule nearest",
        "rule near",
        "rule middle",
    ]
    assert "1 more rules are further away; limit=None shows them all" in str(why)
    assert "rule far" in str(kb.why_not("q(1)", limit=None))
    assert len(kb.why_not("q(1)", limit=1).to_dict()["rules"]) == 1  # type: ignore[arg-type]
    with pytest.raises(tidelog.errors.UsageError, match="limit is 0"):
        kb.why_not("q(1)", limit=0)


@pytest.mark.parametrize("classes", [2, 5, 40])
def test_a_missing_helper_fact_is_explained_by_what_it_lacks(classes: int) -> None:
    """An intersection of classes: all but one of them are there."""
    nodes = " ".join(
        f"[l{i}, rdf:first, c{i}] . [l{i}, rdf:rest, {f'l{i + 1}' if i + 1 < classes else 'rdf:nil'}] ."
        for i in range(classes)
    )
    kb = tidelog.open()
    kb.apply(add_rules=tidelog.rulesets.OWL2RL, add=f"[both, owl:intersectionOf, l0] . {nodes}")
    kb.apply(add=" ".join(f"[x, rdf:type, c{i}] ." for i in range(classes - 1)))
    if classes <= 5:
        lines = str(kb.why_not("[x, rdf:type, both]")).splitlines()
        assert lines[1].startswith("rule cls-int1")
        assert f"  missing  [x, rdf:type, c{classes - 1}]" in lines[:5]
        assert not [line for line in lines if "use:" in line and not line.startswith("rule")]
    else:
        assert kb.why_not("[x, rdf:type, both]").failures
