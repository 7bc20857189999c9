"""Progress is reported on the local engine too: to a function, or as one line in a terminal or a notebook."""

from __future__ import annotations

import io
from collections.abc import Callable

import pandas as pd
import pytest

import tidelog

ROWS = pd.DataFrame({"x": [1, 2, 3]})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """What a notebook has as stderr: no terminal, of a class of ipykernel."""


Notebook.__module__ = "ipykernel.iostream"


def loaded(progress: Callable[[str], None] | bool) -> None:
    with tidelog.open() as kb:
        kb.apply(add_rules="q(?x) :- p(?x) .")
        kb.load(ROWS, relation="p", progress=progress)


def test_the_steps_have_counts() -> None:
    said: list[str] = []
    loaded(said.append)
    assert said == ["read 3 facts", "materialise by budgeted", "check: 3 derivations in 2 rounds", "commit version 2"]


@pytest.mark.parametrize("stderr", [Terminal, Notebook])
def test_a_line_in_a_terminal_and_in_a_notebook(stderr: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", shown := stderr())
    loaded(True)
    parts = shown.getvalue().split("\r")[1:]
    assert [part.removeprefix("\x1b[K").strip() for part in parts][:2] == ["read 3 facts", "materialise by budgeted"]
    assert parts[-1].strip() in ("", "\x1b[K")
    assert "\n" not in shown.getvalue()
    assert ("\x1b" in shown.getvalue()) == (stderr is Terminal)


@pytest.mark.parametrize("progress", [True, False])
def test_nothing_elsewhere(progress: bool, capfd: pytest.CaptureFixture[str]) -> None:
    loaded(progress)
    assert capfd.readouterr() == ("", "")


def test_the_line_goes_when_a_load_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    kb = tidelog.open()
    kb.apply(add="p(1, 2) .")
    with pytest.raises(tidelog.InputError):
        kb.load(ROWS, relation="p", progress=True)
    assert shown.getvalue().endswith("\r\x1b[K")
