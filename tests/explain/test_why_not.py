"""Why facts do not hold: what is said to match does, what is said to be missing is, and no rule is left out."""

from __future__ import annotations

import pytest

import tidelog
from tests.explain.worlds import near_misses, random_world
from tidelog.algebra.extended import over
from tidelog.engines.reference.engine import matches
from tidelog.engines.reference.fact_set import ReferenceFacts
from tidelog.explain.absence import Failure
from tidelog.explain.subject import agree
from tidelog.model.facts import Fact
from tidelog.rules.syntax import Atom, Literal, Rule, literal_variables


def match_together(literals: tuple[Literal, ...], model: ReferenceFacts) -> bool:
    """Whether there is a match; a negated atom's own variables may be anything, and are in no other literal."""
    return bool(matches(over(Rule((), literals), model)))


def check_failure(failure: Failure, fact: Fact, model: ReferenceFacts) -> None:
    body = failure.numbered.rule.body
    assert len(failure.reached) + 1 <= max(1, len(body)) or failure.missing is None
    assert match_together(failure.reached, model)
    if failure.missing is not None:
        assert not match_together((*failure.reached, failure.missing), model)
    else:
        assert failure.numbered.rule.aggregate is not None or not body
        assert failure.value not in fact.args or failure.value is None or failure.numbered.rule.aggregate
    for binding in failure.nearest:
        bound = {v for literal in failure.reached for v in literal_variables(literal)}
        assert binding.keys() - {v for v in binding if v not in bound} <= bound


@pytest.mark.parametrize("seed", range(40))
def test_what_is_missing_is_missing(seed: int) -> None:
    with random_world(seed) as (kb, naive, random):
        model = ReferenceFacts(naive.I)
        for fact in near_misses(random, naive, 6):
            why = kb.why_not(fact)
            assert not why.holds and why.known
            heads = [(r, h) for r in kb.rules for h in r.heads]
            may = [r for r, h in heads if agree(_without_aggregate(h), fact)]
            assert {f.numbered.rule.key for f in why.failures} == {r.key for r in may}
            for failure in why.failures:
                check_failure(failure, fact, model)
            assert str(why).splitlines()[0].endswith(("derives it", "this fact"))


def _without_aggregate(head: Atom) -> Atom:
    from tidelog.explain.subject import _plain_head

    return _plain_head(head)


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
