"""Rules as the peers read them."""

from __future__ import annotations

import pytest

from bench.dialects import clingo_fact, clingo_rules, nemo_rules
from tidelog.rules.parsing.parser import parse_rules

RULES = [
    (
        "[?x, ub:type, person] :- [?x, worksFor, ?y] .",
        "triple(?x, <http://example.org/type>, <person>) :- triple(?x, <worksFor>, ?y) .\n",
        'triple(Vx, "<http://example.org/type>", "<person>") :- triple(Vx, "<worksFor>", Vy).\n',
    ),
    (
        "p(?x), q(?y, ?x) :- r(?x, ?y), ?x != ?y .",
        "p(?x), q(?y, ?x) :- r(?x, ?y), ?x != ?y .\n",
        "p(Vx) :- r(Vx, Vy), Vx != Vy.\nq(Vy, Vx) :- r(Vx, Vy), Vx != Vy.\n",
    ),
]
PREFIX = "@prefix ub: <http://example.org/> ."


@pytest.mark.parametrize(("rule", "nemo", "clingo"), RULES)
def test_rules(rule: str, nemo: str, clingo: str) -> None:
    rules = parse_rules(PREFIX + rule)
    assert (nemo_rules(rules), clingo_rules(rules)) == (nemo, clingo)


def test_negation_is_refused() -> None:
    with pytest.raises(ValueError, match="no workload has such a literal"):
        nemo_rules(parse_rules("p(?x) :- q(?x), ~r(?x) ."))


def test_fact_is_quoted() -> None:
    assert clingo_fact("p", ["<a>", '"b\\"c"']) == 'p("<a>","\\"b\\\\\\"c\\"").\n'
