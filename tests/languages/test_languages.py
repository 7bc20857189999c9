"""Rule languages of others as data: programs and the rules they become, wrong programs and their exact errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidelog
from tests.rules.cases import Case, cases
from tidelog.errors import TidelogError
from tidelog.languages import LANGUAGES
from tidelog.languages.n3 import BUILT_INS
from tidelog.model.terms import Fact, to_term
from tidelog.rules.analysis.safety import check_arity, check_rules
from tidelog.rules.analysis.strata import stratify
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.printer import format_fact, format_program
from tidelog.rules.syntax import RuleFile

DOCUMENT = Path(__file__).parents[2] / "docs" / "languages.md"


def checked(ending: str, text: str) -> RuleFile:
    """A program as a knowledge base takes it."""
    program = LANGUAGES[ending](text, "<text>")
    check_rules(program.rules, check_arity(program.facts))
    stratify(program.rules)
    return program


def of(kind: str) -> list[tuple[str, Case]]:
    return [(ending, case) for ending in LANGUAGES for case in cases(f"../languages/{kind}_{ending[1:]}.txt")]


@pytest.mark.parametrize(("ending", "case"), of("right"), ids=str)
def test_right_programs(ending: str, case: Case) -> None:
    assert format_program(checked(ending, case.program)).rstrip("\n") == case.expected


@pytest.mark.parametrize(("ending", "case"), of("right"), ids=str)
def test_our_language_says_the_same(ending: str, case: Case) -> None:
    program = checked(ending, case.program)
    again = parse_program(format_program(program))
    assert (again.rules, again.facts) == (program.rules, program.facts)


@pytest.mark.parametrize(("ending", "case"), of("wrong"), ids=str)
def test_wrong_programs(ending: str, case: Case) -> None:
    with pytest.raises(TidelogError) as caught:
        checked(ending, case.program)
    assert str(caught.value) == case.expected


@pytest.mark.parametrize(("ending", "case"), of("closures"), ids=str)
def test_what_follows(ending: str, case: Case, tmp_path: Path) -> None:
    path = tmp_path / f"program{ending}"
    path.write_text(case.program, encoding="utf-8")
    kb = tidelog.open()
    kb.load(path)
    names = {head.predicate for rule in kb.rules for head in rule.heads}
    derived = {Fact(name, tuple(map(to_term, row))) for name in names for row in kb.facts(name, "derived")}
    assert sorted(map(format_fact, derived)) == case.expected.splitlines()


def test_every_built_in_of_n3_is_tested_and_documented() -> None:
    tested = " ".join(case.program for case in cases("../languages/right_n3.txt"))
    documented = DOCUMENT.read_text(encoding="utf-8")
    names = [name.replace("#", ":") for name in BUILT_INS]
    assert [name for name in names if f" {name} " not in tested] == []
    assert [name for name in names if f"`{name}`" not in documented] == []
