"""Damaged files give a typed error or the right answer, never a wrong one and never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown

QUICK, LONG = 150, 5100  # damages for each of the two exemplars
CHUNK = 150


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "first" in metafunc.fixturenames:
        metafunc.parametrize("first", range(0, LONG if metafunc.config.getoption("long") else QUICK, CHUNK))


@pytest.mark.parametrize("exemplar", ["store", "store left open"])
def test_damage_is_noticed_or_harmless(exemplar: str, first: int, folder: Path) -> None:
    report = run("corruption", folder, exemplar, first, first + CHUNK)
    assert not report.problems, shown(report.problems)
    assert report.points == CHUNK
    assert report.refused > CHUNK // 6, "hardly any damage was noticed: the files damaged are not those read"
