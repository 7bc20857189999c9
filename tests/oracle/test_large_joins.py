"""Joins of thousands of matches, cut into small blocks, against clingo: what the small random programs cannot reach."""

from __future__ import annotations

from random import Random

import pytest

from tests.oracle.clingo_model import clingo_model
from tests.oracle.ways import SMALL_BLOCKS, semi_naive
from tidelog.algebra.engine import Work
from tidelog.engines.local.engine import LocalEngine
from tidelog.model.terms import Fact, Term, integer, iri, string
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Atom, Rule

# Over edge(x, y), weight(x, y, n), colour(x, c), box(x, y, z, u), triples [x, p, y], and the skewed out(x, y) and
# back(x, y), on NODES nodes.
PROGRAMS = {
    "two hops": "hop(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .",
    "two hops by a node": "hop(?x, ?z, ?y) :- edge(?x, ?y), edge(?y, ?z) .",
    "closure": "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .",
    "closure by halves": """reach(?x, ?y) :- edge(?x, ?y), colour(?x, ?c), colour(?y, ?c) .
                            reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z) .""",
    "triangle": "triangle(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z), edge(?z, ?x) .",
    "loops": "loop(?x) :- edge(?x, ?x) . pair(?x, ?y) :- loop(?x), edge(?x, ?y), edge(?y, ?y) .",
    "same generation": """same(?x, ?y) :- edge(?p, ?x), edge(?p, ?y), colour(?p, n1) .
                          same(?x, ?y) :- edge(?p, ?x), same(?p, ?q), colour(?q, ?y) .""",
    "negation after a join": "far(?x, ?z) :- edge(?x, ?y), edge(?y, ?z), ~edge(?x, ?z) .",
    "negation with a variable of its own": """plain(?x, ?y) :- edge(?x, ?y), ~colour(?y, ?e) .
                                              apart(?x, ?y) :- edge(?x, ?y), ~box(?y, ?x, ?e, ?e) .""",
    "counts": "degree(?x, #count(?z)) :- edge(?x, ?y), edge(?y, ?z) .",
    "sums": "total(?x, #sum(?n, ?z)) :- edge(?x, ?y), weight(?y, ?z, ?n) . all(#max(?n)) :- total(_, ?n) .",
    "comparison": "near(?x, ?z, ?m) :- weight(?x, ?y, ?n), weight(?y, ?z, ?k), ?n < ?k, ?m = ?n + ?k .",
    "predicates as data": """[?x, ?q, ?y] :- [?x, ?p, ?y], [?p, sub, ?q] .
                             [?y, back, ?x] :- [?x, ?p, ?y], ?p != sub .""",
    "negation over all predicates": """apart(?x, ?y) :- edge(?x, ?y), ~[?x, _, ?y] .
                                       alone(?x, ?y) :- edge(?x, ?y), ~[?y, ?e, ?e], ~[?x, ?f, n3] .""",
    "marks from one node": "[n1, mark, n1] :- edge(n1, _) . [?y, mark, n1] :- [?x, mark, n1], edge(?x, ?y) .",
    "each binding its own next atom": "meet(?x, ?y, ?z) :- edge(?x, ?y), out(?y, ?z), back(?x, ?z) .",
    "most of the body is complete": """reach(n1, ?y, ?c) :- edge(n1, ?y), colour(?y, ?c) .
        reach(?x, ?z, ?d) :- reach(?x, ?y, ?c), edge(?y, ?z), colour(?z, ?d), edge(?z, _), ~back(?x, ?z) .""",
    "four columns": """box(?u, ?x, ?y, ?z) :- box(?x, ?y, ?z, ?u) . twice(?x, ?y) :- box(?x, ?x, ?y, ?y) .
                       mid(?y, ?z) :- box(n1, ?y, ?z, n2) .""",
    "wide join": "wide(?x, ?c) :- edge(?x, ?y), box(?y, ?z, ?u, ?x), colour(?z, ?c), ~edge(?z, ?u) .",
}
NODES = 45
WITNESS = "witness"


def random_data(random: Random) -> list[Fact]:
    nodes = [iri(f"n{i}") for i in range(NODES)]
    properties = [*(iri(f"p{i}") for i in range(4)), iri("sub")]
    numbers = [integer(n) for n in range(-3, 20)]

    def some(predicate: str, count: int, *columns: list[Term]) -> set[Fact]:
        return {Fact(predicate, tuple(map(random.choice, columns))) for _ in range(count)}

    facts = some("edge", 400, nodes, nodes[: NODES // 2]) | some("edge", 100, nodes[: NODES // 2], nodes)
    facts |= some("weight", 300, nodes, nodes, numbers) | some("colour", 60, nodes, nodes[:6])
    facts |= some("box", 1500, nodes[:12], nodes[:12], nodes[:12], nodes[:12])
    low, high = nodes[: NODES // 2], nodes[NODES // 2 :]
    facts |= some("out", 500, low, nodes) | some("out", 30, high, nodes)
    facts |= some("back", 500, high, nodes) | some("back", 30, low, nodes)
    facts |= some("triple", 300, nodes, properties[:4], nodes)
    facts |= some("triple", 3, properties[:4], [iri("sub")], properties)
    return sorted(facts)


@pytest.mark.parametrize("name", PROGRAMS)
def test_local_engine_and_clingo_agree(name: str) -> None:
    """On the model, and on how many rule instances it has."""
    rules = parse_rules(PROGRAMS[name])
    facts = random_data(Random(name))
    witnessed = clingo_model([*rules, *map(witness, rules)], facts)
    expected = frozenset(fact for fact in witnessed if fact.predicate != WITNESS)
    assert len(expected) > len(facts)
    work = Work()
    assert semi_naive(LocalEngine(SMALL_BLOCKS), rules, facts, work) == expected
    assert work.derivations == len(witnessed) - len(expected)


def witness(rule: Rule) -> Rule:
    """A rule that derives one fact for each instance of the given one."""
    variables = dict.fromkeys(v for atom in rule.atoms for v in atom.variables())
    return Rule((Atom(WITNESS, (string(str(rule)), *variables)),), rule.body)
