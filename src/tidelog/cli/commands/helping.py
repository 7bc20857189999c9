"""Commands that help: `help` and `completion`. The topics of `help` are pages of the documentation."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tidelog.cli.completion import SHELLS, arguments_of
from tidelog.cli.output import print_json, print_table
from tidelog.errors import UsageError, did_you_mean

# Topics, and the pages in `docs`. An installed package has them in `tidelog/help`.
TOPICS = {
    "language": "rules.md",
    "queries": "queries.md",
    "sparql": "sparql.md",
    "formats": "formats.md",
    "rulesets": "rulesets.md",
    "algorithms": "algorithms.md",
    "explanations": "explanations.md",
    "streams": "streams.md",
    "commands": "command-line.md",
}
_PACKAGE = Path(__file__).parents[2]
_FOLDERS = (_PACKAGE / "help", _PACKAGE.parents[1] / "docs")


def configure_help(parser: ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help=f"a command, or one of: {', '.join(TOPICS)}")


def run_help(options: Namespace) -> int:
    """Print the options of a command or a page of the documentation; without a topic, the list of both."""
    from tidelog.cli import COMMANDS, command_parser

    commands = {command.name: command for command in COMMANDS}
    if options.topic is None:
        listed = [(name, command.help) for name, command in commands.items()]
        _print_list(listed + [(topic, title_of(topic)) for topic in TOPICS], as_json=options.json)
    elif options.topic in commands:
        _print_page(options.topic, command_parser(commands[options.topic]).format_help(), as_json=options.json)
    elif options.topic in TOPICS:
        _print_page(options.topic, page_of(options.topic), as_json=options.json)
    else:
        close = did_you_mean(options.topic, [*commands, *TOPICS])
        raise UsageError(f"there is no help about {options.topic}{close or '; `tidelog help` lists the topics'}")
    return 0


def _print_list(listed: list[tuple[str, str]], *, as_json: bool) -> None:
    if as_json:
        print_json({"topics": dict(listed)})
    else:
        print_table(("tidelog help …", "about"), listed)


def _print_page(topic: str, text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"topic": topic, "text": text})
    elif sys.stdout.isatty():
        from pydoc import pager

        pager(text)
    else:
        print(text, end="")


def page_of(topic: str) -> str:
    """The text of a page of the documentation."""
    for folder in _FOLDERS:
        if (page := folder / TOPICS[topic]).is_file():
            return page.read_text(encoding="utf-8")
    raise UsageError(f"the page {TOPICS[topic]} is not part of this installation")


def title_of(topic: str) -> str:
    return page_of(topic).partition("\n")[0].removeprefix("# ")


def configure_completion(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), help="for bash: source <(tidelog completion bash)")


def run_completion(options: Namespace) -> int:
    """Print a script that completes commands, options, knowledge bases and files in a shell."""
    from tidelog.cli import COMMANDS, command_parser

    arguments = {command.name: arguments_of(command_parser(command)) for command in COMMANDS}
    script = SHELLS[options.shell]({command.name: command.help for command in COMMANDS}, arguments)
    if options.json:
        print_json({"shell": options.shell, "script": script})
    else:
        print(script, end="")
    return 0
