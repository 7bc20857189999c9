"""Killed at any call, a knowledge base opens at the version before or after, and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown

OPERATIONS = (
    *("commit", "load", "rules", "compact", "fold", "follow a commit", "follow a compaction"),
    *("create", "open", "close"),
)
ENOUGH = 500  # calls at which to be killed, over all operations
EVERY = 7  # of them, in the quick tier


def test_killed_at_any_call(folder: Path, shim: Path, request: pytest.FixtureRequest) -> None:
    every = 1 if request.config.getoption("long") else EVERY
    report = run("sweep", folder, "store", "killed,torn", ",".join(OPERATIONS), every, shim=shim)
    assert not report.problems, shown(report.problems)
    assert report.calls >= ENOUGH
    assert report.points > 0.9 * report.calls / every
