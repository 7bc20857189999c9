"""`tidelog help`: commands and pages of the documentation, from one source each."""

from __future__ import annotations

import tomllib

import pytest

from tests.project.documents import ROOT
from tests.project.test_cli import Command, Ran
from tidelog import cli
from tidelog.cli.commands.helping import TOPICS


def test_the_list_names_commands_and_topics(tidelog: Command) -> None:
    lines = tidelog("help").out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == [command.name for command in cli.COMMANDS] + list(TOPICS)


@pytest.mark.parametrize("command", [command.name for command in cli.COMMANDS])
def test_help_about_a_command_is_its_help(command: str, tidelog: Command) -> None:
    assert tidelog("help", command).out == tidelog(command, "--help").out


@pytest.mark.parametrize(("topic", "page"), TOPICS.items())
def test_help_about_a_topic_is_its_page(topic: str, page: str, tidelog: Command) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert tidelog("help", topic) == Ran(0, text, "")
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert packaged["wheel"]["force-include"][f"docs/{page}"] == f"tidelog/help/{page}"


def test_an_unknown_topic(tidelog: Command) -> None:
    assert tidelog("help", "languge") == Ran(2, "", "error: there is no help about languge; did you mean language?\n")
    message = "there is no help about xyzzy; `tidelog help` lists the topics"
    assert tidelog("help", "xyzzy") == Ran(2, "", f"error: {message}\n")
