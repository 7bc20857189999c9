"""A full or broken disk ends in a clear error, loses nothing, and the next commit works once the disk does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.store.running import run, shown
from tests.store.test_crash import OPERATIONS

FAULTS = ("disk full", "disk full once", "disk broken", "disk broken once", "unreadable", "unreadable once")
EVERY = 29  # calls, in the quick tier
NAMESPACES = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])


def test_at_any_call(folder: Path, shim: Path, request: pytest.FixtureRequest) -> None:
    every = 1 if request.config.getoption("long") else EVERY
    report = run("sweep", folder, "store", ",".join(FAULTS), ",".join(OPERATIONS), every, shim=shim)
    assert not report.problems, shown(report.problems)
    assert report.points > 0.9 * report.calls / every and report.refused > report.points / 3
    assert not [message for message in report.messages if not _is_clear(message)]


def _is_clear(message: str) -> bool:
    """It names the file or folder and says what to do."""
    return "x.kb" in message and any(word in message for word in ("try again", "Restore", "permission"))


@pytest.fixture
def namespace(folder: Path) -> list[str]:
    """A command that runs another where it may mount file systems nobody else sees."""
    trial = ["mount", "-t", "tmpfs", "-o", "size=100000", "tmpfs", str(folder)]
    for command in NAMESPACES if shutil.which("unshare") and shutil.which("mount") else ():
        if subprocess.run([*command, *trial], capture_output=True, timeout=60).returncode == 0:
            return command
    pytest.skip("this system lets nobody mount a small file system (unshare --mount, mount -t tmpfs)")


def test_a_disk_that_is_really_full(namespace: list[str], folder: Path) -> None:
    report = run("small_disk", folder, within=namespace)
    assert not report.problems, shown(report.problems)
    assert report.points > 3 and report.refused == 1
    assert all("No space left" in message or "disk is full" in message for message in report.messages)
    assert all(_is_clear(message) for message in report.messages)
