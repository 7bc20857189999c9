"""The command line: `tidelog COMMAND`. The exit code is 0, or one of those in `tidelog.cli.problems`.

A command `name` is two functions of a module in `tidelog.cli.commands`:

    configure_name(parser)     adds the arguments of the command
    run_name(options)          runs the command and returns the exit code

The module is imported when one of its commands is used, so that `tidelog --help` answers at once. For the same reason
it imports numpy, pyarrow and the modules that need them only inside functions.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from tidelog import __version__


class Command(NamedTuple):
    """A command, the module of `tidelog.cli.commands` that holds its functions, and one line of help."""

    name: str
    module: str
    help: str

    def configure(self, parser: ArgumentParser) -> None:
        self._function("configure")(parser)

    def run(self, options: Namespace) -> int:
        code: int = self._function("run")(options)
        return code

    def _function(self, verb: str) -> Any:
        return getattr(import_module(f"tidelog.cli.commands.{self.module}"), f"{verb}_{self.name}")


COMMANDS = (
    Command("init", "changing", "make a knowledge base"),
    Command("load", "changing", "load data and programs into a knowledge base"),
    Command("update", "changing", "add and remove facts and rules, or show what that would change"),
    Command("query", "reading", "answer a query"),
    Command("shell", "interactive", "ask and change a knowledge base interactively"),
    Command("watch", "streaming", "follow the answers to a query, as they change"),
    Command("explain", "explaining", "show why a fact holds, does not hold, went or stayed"),
    Command("inconsistencies", "reading", "list what contradicts what"),
    Command("repair", "explaining", "propose facts to remove so that a fact no longer follows"),
    Command("rules", "reading", "print the rules of a knowledge base, or add and remove a rule set"),
    Command("ontology", "programs", "print the rules of an OWL file, and what has no rules"),
    Command("prefix", "changing", "list, add and remove prefixes"),
    Command("status", "history", "show the size and state of a knowledge base"),
    Command("log", "history", "list the versions of a knowledge base"),
    Command("diff", "history", "show what changed between two versions"),
    Command("verify", "history", "check everything a knowledge base has on disk"),
    Command("revert", "changing", "make a new version that equals an older one"),
    Command("backup", "history", "copy a knowledge base, also while it is changed"),
    Command("restore", "history", "make a knowledge base of a backup"),
    Command("compact", "history", "fold a knowledge base into fewer files, or forget old versions"),
    Command("export", "reading", "write facts to files"),
    Command("run", "programs", "run a program: import, reason, write its exports"),
    Command("check", "programs", "check a program without running it, and show its strata"),
    Command("generate", "programs", "write benchmark data and its rules"),
    Command("help", "helping", "explain a command or a topic"),
    Command("completion", "helping", "print a script that completes commands in a shell"),
    Command("doctor", "machine", "check this machine and say what to do"),
    Command("bench", "machine", "compare with other reasoners (in a source checkout)"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["check", "no-such-file.rls", "--json"])  # doctest: +ELLIPSIS
    {
      "error": {
    ...
    1
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # the process is ours
        sys.meta_path.insert(0, _WithoutPandas())
    try:
        options = parse(words)
        code = options.command.run(options)
        sys.stdout.flush()
        return int(code)
    except (Exception, KeyboardInterrupt) as error:
        from tidelog.cli import problems

        if problems.stdout_is_closed() and isinstance(error, BrokenPipeError):
            return 0  # the reader of our output has seen enough
        return problems.report(error, as_json="--json" in words, with_traceback="--traceback" in words)


class _WithoutPandas:
    """Prevents pyarrow from importing pandas, which takes longer than most commands. Only Spark needs pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError("pandas is not used by the command line without Spark", name=name)


class _ArgumentParser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from tidelog.cli.problems import ArgumentsError

        raise ArgumentsError(message, self.format_usage())


def parse(words: Sequence[str]) -> Namespace:
    """The options of a command. Raises ArgumentsError if the words do not fit."""
    name, names = next((word for word in words if not word.startswith("-")), ""), [c.name for c in COMMANDS]
    if name and name not in names:
        _refuse(parser(()), f"there is no command {name}", name, names)
    options, others = parser(words).parse_known_args(words)
    if others:
        known = [option for action in options.parser._actions for option in action.option_strings]
        _refuse(options.parser, f"unrecognized arguments: {' '.join(others)}", others[0], known)
    return options


def _refuse(parser: ArgumentParser, message: str, word: str, known: Sequence[str]) -> NoReturn:
    from tidelog.errors import did_you_mean

    parser.error(message + did_you_mean(word, known))


def parser(words: Sequence[str]) -> ArgumentParser:
    """The parser. Only the command in `words` gets its arguments, so that no module of another command is imported."""
    whole = _ArgumentParser(
        prog="tidelog",
        description="Keep the consequences of rules over data exactly right while both change.",
        epilog="`tidelog COMMAND --help` explains a command.",
    )
    whole.add_argument("--version", action="version", version=f"tidelog {__version__}")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        each = commands.add_parser(command.name, help=command.help, description=command.help)
        if command.name in words:
            _configure(each, command)
    return whole


def command_parser(command: Command) -> ArgumentParser:
    """The parser of one command."""
    return _configure(_ArgumentParser(prog=f"tidelog {command.name}", description=command.help), command)


def _configure(parser: ArgumentParser, command: Command) -> ArgumentParser:
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.add_argument("--traceback", action="store_true", help="after an error, print where it happened")
    command.configure(parser)
    parser.set_defaults(command=command, parser=parser)
    return parser
