"""Colours and the length of tables: what a terminal gets, and what a pipe gets."""

from __future__ import annotations

import io
import sys

import pytest

import tidelog as library
from tests.project.test_cli import Command
from tidelog.cli.output import IN_TERMINAL, styled, visible


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


STYLES = [
    ({}, True, True),
    ({}, False, False),
    ({"NO_COLOR": "1"}, True, False),
    ({"NO_COLOR": ""}, True, True),
    ({"TERM": "dumb"}, True, False),
    ({"FORCE_COLOR": "1"}, False, True),
    ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
    ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
]


@pytest.mark.parametrize(("variables", "is_terminal", "coloured"), STYLES, ids=str)
def test_colours(variables: dict[str, str], is_terminal: bool, coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if is_terminal else io.StringIO()
    assert styled("gone", "red", stream) == ("\x1b[31mgone\x1b[0m" if coloured else "gone")


def test_a_diff_in_colours(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("update", "a.kb", "--add", "p(1) .", "--show", 1).out.startswith("\x1b[32m+ p(1) .\x1b[0m\n")
    assert tidelog("diff", "a.kb", 1, 0).out == "\x1b[31m- p(1) .\x1b[0m\n"
    assert tidelog("diff", "a.kb", 1, 9).err.startswith("\x1b[31merror:\x1b[0m there is no version 9")


@pytest.mark.parametrize("command", ["query", "log"])
def test_a_terminal_gets_the_first_rows(command: str, tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidelog.cli.output.IN_TERMINAL", 3)
    with library.open("a.kb") as kb:
        for number in range(5):
            kb.apply(add=f"p({number}) .")
    arguments = [command, "a.kb", *(["p(?x)"] if command == "query" else [])]
    everything = tidelog(*arguments).out.splitlines()
    assert len(everything) == 6
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert [line[:9] for line in tidelog(*arguments).out.splitlines()] == [
        *(line[:9] for line in everything[:4]),
        "… 2 more;",
    ]
    assert tidelog(*arguments).out.endswith("… 2 more; --limit 5 prints all\n")
    assert tidelog(*arguments, "--limit", 5).out.splitlines() == everything
    if command == "query":
        assert len(tidelog(*arguments, "--format", "csv").out.splitlines()) == 6


def test_the_bound_is_a_long_screen() -> None:
    assert IN_TERMINAL == 500


def test_control_characters_are_escaped() -> None:
    assert visible("a\x1b[31mb\u202e😀é\n") == "a\\u001B[31mb\\u202E😀é\\u000A"
