"""Killed at any call, a knowledge base opens at the version before or after, and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown

OPERATIONS = ("commit", "load", "rules", "compact", "fold", "catch up", "catch up with files", "create", "open", "close")
ENOUGH = 500  # points, over all operations


@pytest.mark.parametrize("fault", ["killed", "torn"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_killed_at_every_call(operation: str, fault: str, folder: Path, shim: Path) -> None:
    report = run("sweep", folder, fault, "store", operation, 1, shim=shim)
    assert report.points
    assert not report.problems, shown(report.problems)


def test_there_are_enough_calls_to_be_killed_at(folder: Path, shim: Path) -> None:
    total = 0
    for operation in OPERATIONS:
        for fault in ("killed", "torn"):
            work = folder / f"{operation}-{fault}"
            work.mkdir()
            total += run("sweep", work, fault, "store", operation, 0, shim=shim).points
    assert total >= ENOUGH
