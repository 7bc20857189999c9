"""The fault injection itself: a sound stand-in passes, and each defect of an unsound one is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown
from tests.store.sweep import FAULTS

SWEEPS: list[tuple[str | int, ...]] = [
    ("sweep", "stand-in", ",".join(FAULTS), "commit", 1),
    ("power", "stand-in", 1, 1),
    ("power", "stand-in", "commit"),
]

FOUND_BY = [
    ("catalog first", ("sweep", "catalog first", "killed", "commit", 1)),
    ("catalog first", ("sweep", "catalog first", "torn", "commit", 1)),
    ("file not synced", ("power", "file not synced", 1, 1)),
    ("folder not synced", ("power", "folder not synced", 1, 1)),
    ("catalog not synced", ("power", "catalog not synced", 1, 1)),
    ("untyped error", ("sweep", "untyped error", "disk full", "commit", 1)),
    ("untyped error", ("sweep", "untyped error", "unreadable once", "commit", 1)),
    ("silent failure", ("sweep", "silent failure", "disk broken once", "commit", 1)),
    ("unchecked", ("corruption", "unchecked", 0, 50)),
]


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda s: "-".join(map(str, s[:3])))
def test_a_sound_store_passes(sweep: tuple[str, ...], folder: Path, shim: Path) -> None:
    report = run(sweep[0], folder, *sweep[1:], shim=shim)
    assert report.points > 2
    assert not report.problems, shown(report.problems)


@pytest.mark.parametrize(("defect", "sweep"), FOUND_BY)
def test_a_defect_is_found(defect: str, sweep: tuple[str, ...], folder: Path, shim: Path) -> None:
    assert run(sweep[0], folder, *sweep[1:], shim=shim).problems, f"{sweep} did not notice: {defect}"
