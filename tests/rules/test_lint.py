"""Lints as data: programs, and what is found in them."""

from __future__ import annotations

import pytest

import tidelog
from tests.rules.cases import Case, cases
from tidelog.rules.analysis.lint import lint
from tidelog.rules.parsing.parser import parse_program


@pytest.mark.parametrize("case", cases("lints.txt"), ids=str)
def test_lints(case: Case) -> None:
    found = lint(parse_program(case.program))
    assert "\n".join(f"{f.kind}: {f}" for f in found) == case.expected


def test_relations_with_facts_elsewhere_are_known() -> None:
    program = parse_program("p(a) . q(?x) :- r(?x) .")
    assert [f.kind for f in lint(program)] == ["unknown relation"]
    assert lint(program, {"r"}) == []


def test_a_change_notes_constants_that_look_like_variables() -> None:
    kb = tidelog.open()
    change = kb.apply(add_rules="p(X) :- q(X) .")
    assert [note.split("\n")[0] for note in change.notes] == [
        "<text>:1:1: `X` is a constant here; a variable is written ?X"
    ]
