"""The fault injection itself: a sound stand-in passes, and each defect of an unsound one is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown
from tests.store.sweep import FAULTS

SWEEPS = [("sweep", fault, "stand-in", "commit", 1) for fault in FAULTS] + [("power", "stand-in", 1)]

FOUND_BY = [
    ("catalog first", ("sweep", "killed", "catalog first", "commit", 1)),
    ("catalog first", ("sweep", "torn", "catalog first", "commit", 1)),
    ("file not synced", ("power", "file not synced", 1)),
    ("folder not synced", ("power", "folder not synced", 1)),
    ("catalog not synced", ("power", "catalog not synced", 1)),
    ("untyped error", ("sweep", "disk full", "untyped error", "commit", 1)),
    ("untyped error", ("sweep", "unreadable once", "untyped error", "commit", 1)),
    ("silent failure", ("sweep", "disk broken once", "silent failure", "commit", 1)),
    ("unchecked", ("corruption", "unchecked", 0, 50)),
]


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda s: s[1] if s[0] == "sweep" else s[0])
def test_a_sound_store_passes(sweep: tuple[str, ...], folder: Path, shim: Path) -> None:
    report = run(sweep[0], folder, *sweep[1:], shim=shim)
    assert report.points > 2
    assert not report.problems, shown(report.problems)


@pytest.mark.parametrize(
    ("defect", "sweep"), FOUND_BY, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x[:2]))
)
def test_a_defect_is_found(defect: str, sweep: tuple[str, ...], folder: Path, shim: Path) -> None:
    assert run(sweep[0], folder, *sweep[1:], shim=shim).problems, f"{sweep} did not notice: {defect}"
