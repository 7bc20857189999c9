"""Nemo programs give Nemo's results: every case in `cases/` on every engine, and the expectations against Nemo."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.nemo_runner.case import cases, read_case, read_lines
from tests.reference.engine import least_model
from tidelog.adapters.nemo_runner import RunOptions, run
from tidelog.model.terms import to_term
from tidelog.rules.parsing.parser import parse_program


@pytest.mark.parametrize("name", cases())
def test_run(name: str, tmp_path: Path) -> None:
    """`tidelog run`: imports, the local engine, exports."""
    case = read_case(name)
    out = tmp_path / "out"
    result = run(case.unpack(tmp_path), RunOptions(out=out)).knowledge_base
    found = {p: {tuple(map(to_term, row)) for row in result.facts(p)} for p in case.expect}
    assert found == case.expect
    assert {file: read_lines(out / file) for file in case.export} == case.export


@pytest.mark.parametrize("name", [name for name in cases() if not read_case(name).files])
def test_reference_engine(name: str) -> None:
    """The oracle agrees, on the cases that read no files."""
    case = read_case(name)
    program = parse_program(case.program)
    model = least_model(program.rules, program.facts)
    assert {p: {fact.args for fact in model if fact.predicate == p} for p in case.expect} == case.expect


@pytest.mark.parametrize("name", cases())
def test_expectations_are_nemos(name: str, tmp_path: Path) -> None:
    pytest.importorskip("nmo_python")
    from tests.adapters.nemo_runner.record import ask_nemo

    case = read_case(name)
    facts, exported = ask_nemo(case, tmp_path)
    assert facts == (case.nemo or case.expect)
    if not case.differs:
        assert exported == case.export


@pytest.mark.parametrize("name", cases())
def test_difference_has_a_reason(name: str) -> None:
    case = read_case(name)
    assert bool(case.differs) == bool(case.nemo)
    assert all(case.expect[predicate] != rows for predicate, rows in case.nemo.items())


def test_there_are_enough_cases() -> None:
    assert len(cases()) >= 45
