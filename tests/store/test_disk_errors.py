"""A full or broken disk ends in a clear error, loses nothing, and the next commit works once the disk does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown
from tests.store.test_crash import OPERATIONS

FAULTS = ("disk full", "disk full once", "disk broken", "disk broken once", "unreadable", "unreadable once")
EVERY = 3  # of the calls, in the quick tier


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_at_every_call(operation: str, fault: str, folder: Path, shim: Path, request: pytest.FixtureRequest) -> None:
    every = 1 if request.config.getoption("long") else EVERY
    report = run("sweep", folder, fault, "store", operation, every, shim=shim)
    assert not report.problems, shown(report.problems)
    unclear = [message for message in report.messages if not _is_clear(message)]
    assert not unclear


def _is_clear(message: str) -> bool:
    """It names the file or folder and says what to do."""
    return "x.kb" in message and any(word in message for word in ("try again", "Restore", "mend", "open"))
