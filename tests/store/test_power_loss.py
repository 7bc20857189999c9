"""After the power failed at any moment, what was acknowledged is there, and the rest is all there or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown


def test_power_lost_after_every_call(folder: Path, shim: Path) -> None:
    _check(1, folder, shim)


@pytest.mark.usefixtures("long_tier")
def test_power_lost_in_many_ways(folder: Path, shim: Path) -> None:
    _check(20, folder, shim)


def _check(seeds: int, folder: Path, shim: Path) -> None:
    report = run("power", folder, "store", seeds, shim=shim)
    assert report.points > 200 * seeds
    assert not report.problems, shown(report.problems)
