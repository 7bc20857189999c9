"""One writer, several readers: each read is exactly one version."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.running import run, shown


def test_readers_see_whole_versions(folder: Path) -> None:
    _check(150, 4, folder)


@pytest.mark.usefixtures("long_tier")
def test_readers_see_whole_versions_for_long(folder: Path) -> None:
    _check(2000, 4, folder)


def _check(commits: int, readers: int, folder: Path) -> None:
    report = run("concurrency", folder, commits, readers)
    assert not report.problems, shown(report.problems)
    assert report.points > 3 * readers
