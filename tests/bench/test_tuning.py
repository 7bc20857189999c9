"""Every constant of `tidelog.tuning` has a meaning and a workload that exists, and the command varies it."""

from __future__ import annotations

import ast
import inspect
import json

import pytest

from bench import tuning as bench_tuning
from bench.tuning import FACTORS, SPARK, WORKLOADS, constants, scaled
from tests.project.documents import ROOT
from tidelog import tuning


def names() -> list[str]:
    """Each name that the module assigns."""
    nodes = ast.parse(inspect.getsource(tuning)).body
    targets = [node.targets[0] for node in nodes if isinstance(node, ast.Assign)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_every_constant_has_a_line_with_a_workload() -> None:
    assert [constant.name for constant in constants()] == names()
    assert len(set(names())) == len(names())
    assert {constant.workload for constant in constants()} == {*WORKLOADS, SPARK}


def test_every_constant_is_used() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "src" / "tidelog").rglob("*.py"))
    assert [name for name in names() if f"tuning.{name}" not in sources] == []


def test_the_page_has_every_constant_and_its_value() -> None:
    page = json.loads((ROOT / "docs" / "tuning.json").read_text())["constants"]
    shown = {name: (row["value"], row["meaning"], row["workload"]) for name, row in page.items()}
    assert shown == {each.name: (each.value, each.meaning, each.workload) for each in constants()}


def test_a_workload_runs_with_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setitem(WORKLOADS, "encode", lambda _: lambda: seen.append(tuning.HASHED_TERMS))
    monkeypatch.setattr(bench_tuning, "Data", lambda _: None)
    before = tuning.HASHED_TERMS
    row = bench_tuning.run(["HASHED_TERMS", "CHUNK_ROWS"])["constants"]
    assert row["HASHED_TERMS"]["seconds"].keys() == FACTORS.keys()
    assert "seconds" not in row["CHUNK_ROWS"], "a constant of Spark is not varied"
    assert sorted(set(seen)) == [before // 4, before, before * 4]
    assert before == tuning.HASHED_TERMS


def test_scaled_values_stay_possible() -> None:
    assert scaled(1, 0.25) == 1
    assert scaled((4, 32), 0.25) == (1, 8)
    assert scaled(0.65, 4.0) == 0.9
