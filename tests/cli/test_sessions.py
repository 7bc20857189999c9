"""What people see: sessions of commands, with everything they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.session import FOLDER, read_session, run_step, write_files
from tests.project.documents import Step, shows
from tests.project.test_cli import Command
from tidelog.changes import choose

SESSIONS = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_session(path: Path, tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "is_at_hand", lambda: False)  # other tests of this process may have a Spark session
    session = read_session(path)
    assert session.steps
    write_files(session)
    for step in session.steps:
        printed = run_step(step, tidelog)
        assert shows(step, printed), f"$ {step.command}\n{printed}"


def test_a_session_that_prints_something_else_is_noticed(tidelog: Command) -> None:
    step = Step("tidelog status nowhere.kb", "error: ... damaged\n[exit 1]\n")
    assert not shows(step, run_step(step, tidelog))
