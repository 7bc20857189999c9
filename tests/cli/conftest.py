"""`tidelog` runs a command in this process, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.test_cli import Command


@pytest.fixture
def tidelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(capsys)
