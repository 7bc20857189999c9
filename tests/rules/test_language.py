"""The rule language as data: programs and what they print as, wrong programs and their exact errors, strata."""

from __future__ import annotations

import pytest

from tests.rules.cases import Case, cases
from tests.rules.checked import checked
from tidelog.errors import ParseError, TidelogError
from tidelog.model.terms import integer
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.analysis.strata import Stratum
from tidelog.rules.parsing.parser import parse_facts, parse_program, parse_query, parse_rules
from tidelog.rules.printer import format_literal, format_program, format_rule


@pytest.mark.parametrize("case", cases("right_programs.txt"), ids=str)
def test_right_programs(case: Case) -> None:
    program, _ = checked(case.program)
    assert format_program(program).rstrip("\n") == case.expected


@pytest.mark.parametrize("case", cases("right_programs.txt"), ids=str)
def test_what_is_printed_is_read_back(case: Case) -> None:
    program = parse_program(case.program)
    assert parse_program(format_program(program)) == program


@pytest.mark.parametrize("case", cases("wrong_programs.txt"), ids=str)
def test_wrong_programs(case: Case) -> None:
    with pytest.raises(TidelogError) as caught:
        checked(case.program)
    assert str(caught.value) == case.expected


def _shown(stratum: Stratum) -> str:
    return "\n".join(["recursive" if stratum.recursive else "once", *(f"    {format_rule(r)}" for r in stratum.rules)])


@pytest.mark.parametrize("case", cases("strata.txt"), ids=str)
def test_strata(case: Case) -> None:
    _, strata = checked(case.program)
    assert "\n".join(map(_shown, strata)) == case.expected


@pytest.mark.parametrize(
    ("text", "body", "variables"),
    [
        ("ancestor(ann, ?x), age(?x, ?n), ?n > 30", "ancestor(ann, ?x), age(?x, ?n), ?n > 30", "xn"),
        ("p(?b, _), q(?a, ?b + 1) .", "p(?b, ?_1), ?_2 = ?b + 1, q(?a, ?_2)", "ba"),
        ("ex:p(?x), ?y = ?x", "<http://example.org/p>(?x), ?y = ?x", "xy"),
        ("p(a)", "p(a)", ""),
    ],
)
def test_queries(text: str, body: str, variables: str) -> None:
    literals, found = parse_query(text, {"ex": "http://example.org/"})
    assert ", ".join(map(format_literal, literals)) == body
    assert "".join(v.name for v in found) == variables


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("p(?x) q(?x)", "<query>:1:7: expected `,` or the end of the query, found `q`"),
        ("p(?x) . q(?x)", "<query>:1:9: expected `,` or the end of the query, found `q`"),
        ("", "<query>:1:1: expected an atom or a comparison, found the end of the text"),
        ("p(?x) :- q(?x)", "<query>:1:7: expected `,` or the end of the query, found `:-`"),
    ],
)
def test_wrong_queries(text: str, error: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_query(text)
    assert str(caught.value).partition("\n")[0] == error


def test_rules_only_and_facts_only() -> None:
    prefix = "@prefix ex: <http://example.org/> . @base <http://example.org/> . "
    assert len(parse_rules(prefix + "p(?x) :- q(?x) .")) == 1
    assert len(parse_facts(prefix + "p(a) . ex:p(ex:a) . [a, b, c] .")) == 3
    with pytest.raises(ParseError, match="expected rules only, found a fact"):
        parse_rules("p(a) .")
    with pytest.raises(ParseError, match="expected facts only, found a rule"):
        parse_facts("p(a) . p(?x) :- q(?x) .")
    with pytest.raises(ParseError, match="expected facts only, found the directive `@export`"):
        parse_facts("@export p :- csv{} .")


def test_a_given_parameter_replaces_the_default() -> None:
    text = "@parameter $n = 1 . p($n) ."
    assert [f.args for f in parse_program(text).facts] == [(integer(1),)]
    assert [f.args for f in parse_program(text, parameters={"n": integer(2)}).facts] == [(integer(2),)]


def test_a_product_may_be_allowed_for_all_rules() -> None:
    rules = parse_rules("pair(?x, ?y) :- man(?x), woman(?y) .")
    assert check_rules(rules, allow_cartesian=True) == {"triple": 3, "pair": 2, "man": 1, "woman": 1}


def test_arities_known_from_elsewhere_count() -> None:
    with pytest.raises(TidelogError, match="`q` has 1 argument here but 2 elsewhere"):
        check_rules(parse_rules("p(?x) :- q(?x) ."), {"q": 2})
