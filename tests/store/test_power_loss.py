"""After the power failed at any moment, what was acknowledged is there, and the rest is all there or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown

CALLS = 300  # at least, in the session that is cut


def test_power_lost_at_any_call(folder: Path, shim: Path, request: pytest.FixtureRequest) -> None:
    seeds, every = (20, 1) if request.config.getoption("long") else (1, 4)
    report = run("power", folder, "store", seeds, every, shim=shim)
    assert not report.problems, shown(report.problems)
    assert report.calls > CALLS and report.points > seeds * CALLS / every


@pytest.mark.parametrize("operation", ["commit", "load", "compact"])
def test_power_lost_after_a_sync_failed(operation: str, folder: Path, shim: Path) -> None:
    report = run("power", folder, "store", operation, shim=shim)
    assert not report.problems, shown(report.problems)
    assert report.points > 1
