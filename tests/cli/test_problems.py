"""Failing commands: what they say as text and as JSON, and with which exit code they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.documents import ROOT
from tests.project.test_cli import Command, Ran, write
from tidelog.cli.commands import machine

FIELDS = ["type", "message", "file", "line", "column", "hint"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": ""}

CASES = [
    (["query", "a.kb", "p(?x"], 1, ["ParseError", "expected `,` or `)`, found the end of the text", "<query>", 1, 5]),
    (["check", "bad.rls"], 1, ["ParseError", "expected `:-`, `,` or `.`, found `q`", "bad.rls", 2, 6]),
    (["status", "nowhere.kb"], 1, ["StoreError", "nowhere.kb: there is no knowledge base here. Make one with ", None]),
    (["diff", "a.kb", "0", "7"], 2, ["UsageError", "there is no version 7 of a.kb: versions 0 to 1 can be read"]),
    (["query", "a.kb", "x:p(?x)"], 1, ["ParseError", "prefix `x:` is not declared", "<query>", 1, 1, "add `@prefix"]),
    (["export", "a.kb", "a.nt"], 2, ["UsageError", "ntriples holds triples", None, None, None, "choose csv, tsv"]),
    (["quary", "a.kb"], 2, ["UsageError", "there is no command quary", None, None, None, "did you mean query?"]),
    (["log", "a.kb", "--limt"], 2, ["UsageError", "unrecognized arguments: --limt", None, None, None, "did you mean"]),
    (["query", "a.kb", "gone.rq"], 1, ["InputError", "gone.rq"]),
]


@pytest.mark.parametrize(("arguments", "code", "expected"), CASES, ids=lambda value: str(value)[:40])
def test_errors_as_json(arguments: list[str], code: int, expected: list[object], tidelog: Command) -> None:
    assert tidelog("init", "a.kb").code == 0
    assert tidelog("update", "a.kb", "--add", "p(1) .").code == 0
    write("bad.rls", "p(1) .\np(2) q(3) .\n")
    ran = tidelog(*arguments, "--json")
    assert (ran.code, ran.err) == (code, "")
    error = json.loads(ran.out)["error"]
    assert list(error) == FIELDS
    for value, wanted in zip(error.values(), expected, strict=False):
        assert str(value).startswith(str(wanted))
    as_text = tidelog(*arguments)
    assert (as_text.code, as_text.out) == (code, "")
    assert "error: " in as_text.err
    assert error["message"] in as_text.err


def broken(directory: Path) -> None:
    raise KeyError("no\nsuch key")


def test_an_unforeseen_error_is_a_sentence(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "findings", broken)
    says = "This is a mistake in tidelog. Please report it with the command, the version of tidelog and what this adds"
    ran = tidelog("doctor")
    assert ran == Ran(70, "", f"error: KeyError: 'no\\nsuch key'. {says}: --traceback\n")
    told = tidelog("doctor", "--traceback")
    assert (told.code, told.out) == (70, "")
    assert told.err.startswith("Traceback (most recent call last):\n")
    assert told.err.endswith(ran.err)
    assert "in broken\n" in told.err
    assert json.loads(tidelog("doctor", "--json").out)["error"]["type"] == "KeyError"


def test_a_broken_pipe_elsewhere_is_an_error(tidelog: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(directory: Path) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(machine, "findings", lost)
    assert tidelog("doctor") == Ran(1, "", "error: Broken pipe\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"]])
def test_a_full_disk_is_an_error(arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "tidelog.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
            timeout=60,
        )
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr


def test_an_interrupted_process_is_quiet(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.rls")
    command = [sys.executable, "-m", "tidelog.cli", "check", str(tmp_path / "endless.rls")]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT) as process,
        open(tmp_path / "endless.rls", "w"),  # opened when the process reads
    ):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
