"""Completion, in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tidelog as library
from tests.project.test_cli import Command, write
from tidelog import cli
from tidelog.cli.completion import SHELLS, arguments_of

# Presses Tab after the words of $line, as readline does, and prints what it offers.
BASH = """
source ./script
COMP_WORDS=({line})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ :; }}
_tidelog
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='prompt> '; autoload -Uz compinit; compinit -u -D; source ./script"
zpty -w shell "bindkey '^I' complete-word; print -r -- rea''dy"
zpty -r -m shell ignored '*ready*prompt> *'
zpty -w -n shell $'{line}\\t\\x15print -r -- en''d\\n'
zpty -r -m shell shown $'*end*'
print -r -- $shown
"""

CASES = [
    ("tidelog qu", ["query"]),
    ("tidelog co", ["compact", "completion"]),
    ("tidelog query fam", ["family.kb"]),
    ("tidelog query family.kb --form", ["--format"]),
    ("tidelog query family.kb --format t", ["table", "tsv", "ttl"]),
    ("tidelog load family.kb peo", ["people.nt"]),
    ("tidelog update family.kb --add peo", ["people.nt"]),
    ("tidelog completion f", ["fish"]),
    ("tidelog query deep/er/bo", ["deep/er/books.kb"]),
]


@pytest.fixture
def folder(tidelog: Command) -> Path:
    """An empty folder with two knowledge bases and a file."""
    Path("deep/er").mkdir(parents=True)
    for name in ("family.kb", "deep/er/books.kb"):
        library.open(name).close()
    write("people.nt", "")
    return Path()


def in_shell(shell: str, program: str, tidelog: Command) -> str:
    write("script", tidelog("completion", shell).out)
    write("program", program)
    ran = subprocess.run(
        [shell, "program"], capture_output=True, text=True, timeout=60, env={**os.environ, "TERM": "dumb"}
    )
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.parametrize(("line", "offered"), CASES)
def test_bash(line: str, offered: list[str], folder: Path, tidelog: Command) -> None:
    shown = in_shell("bash", BASH.format(line=line), tidelog).split()
    assert shown == offered


def test_bash_offers_all_commands_and_options(folder: Path, tidelog: Command) -> None:
    shown = in_shell("bash", BASH.format(line="tidelog ''"), tidelog).split()
    assert set(shown) == {command.name for command in cli.COMMANDS} | {"--help", "--version"}
    for command in cli.COMMANDS:
        known = {flag for each in arguments_of(cli.command_parser(command)) for flag in each.flags}
        assert set(in_shell("bash", BASH.format(line=f"tidelog {command.name} -"), tidelog).split()) == known


def test_bash_offers_folders_on_the_way_to_a_knowledge_base(folder: Path, tidelog: Command) -> None:
    assert set(in_shell("bash", BASH.format(line="tidelog status ''"), tidelog).split()) == {"family.kb", "deep/"}
    Path("family.kb").rename("two words.kb")
    assert in_shell("bash", BASH.format(line="tidelog status two"), tidelog) == "two\\ words.kb\n"


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("line", "offered"), CASES)
def test_fish(line: str, offered: list[str], folder: Path, tidelog: Command) -> None:
    shown = in_shell("fish", f"source script; complete -C '{line}'", tidelog)
    words = {text.partition("\t")[0].rstrip("/") for text in shown.splitlines()}
    assert set(offered) <= words
    assert all(word.startswith(line.rsplit(maxsplit=1)[-1]) for word in words)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(("line", "offered"), [(line, offered) for line, offered in CASES if len(offered) == 1])
def test_zsh(line: str, offered: list[str], folder: Path, tidelog: Command) -> None:
    shown = in_shell("zsh", ZSH.format(line=line), tidelog)
    assert f"{line.rpartition(' ')[0]} {offered[0]}" in shown


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_name_everything(shell: str, tidelog: Command) -> None:
    script = tidelog("completion", shell).out
    for command in cli.COMMANDS:
        assert command.name in script
        for each in arguments_of(cli.command_parser(command)):
            assert all(choice in script for choice in each.choices)
            assert all(
                flag in script or f"-l {flag[2:]}" in script or f"-s {flag[1:]}" in script for flag in each.flags
            )
