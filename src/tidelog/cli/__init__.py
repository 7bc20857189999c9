"""The command line: `tidelog COMMAND`. Exit codes: 0, 1 for a problem in the data, 2 for wrong use.

A command `name` is two functions of a module in `tidelog.cli.commands`:

    configure_name(parser)     adds the arguments of the command
    run_name(options)          runs the command and returns the exit code

The module is imported when one of its commands is used, so that `tidelog --help` answers at once. For the same reason
it imports numpy, pyarrow and the modules that need them only inside functions.
"""

from __future__ import annotations

import os
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
    Command("watch", "streaming", "follow the answers to a query, as they change"),
    Command("explain", "explaining", "show why a fact holds, does not hold, went or stayed"),
    Command("inconsistencies", "reading", "list what contradicts what"),
    Command("repair", "explaining", "propose facts to remove so that a fact no longer follows"),
    Command("rules", "reading", "print the rules of a knowledge base"),
    Command("prefix", "changing", "list, add and remove prefixes"),
    Command("status", "history", "show the size and state of a knowledge base"),
    Command("log", "history", "list the versions of a knowledge base"),
    Command("diff", "history", "show what changed between two versions"),
    Command("verify", "history", "check everything a knowledge base has on disk"),
    Command("compact", "history", "fold a knowledge base into fewer files, or forget old versions"),
    Command("export", "reading", "write facts to files"),
    Command("run", "programs", "run a program: import, reason, write its exports"),
    Command("check", "programs", "check a program without running it, and show its strata"),
    Command("generate", "programs", "write benchmark data and its rules"),
    Command("doctor", "machine", "check this machine and say what to do"),
    Command("bench", "machine", "compare with other reasoners (in a source checkout)"),
)

INTERRUPTED = 130  # what a shell reports for a process ended by control-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["check", "no-such-file.rls"])
    1
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # the process is ours
        sys.meta_path.insert(0, _WithoutPandas())
    try:
        return _run(_parser(words).parse_args(words))
    except BrokenPipeError:
        return _pipe_closed()


class _WithoutPandas:
    """Prevents pyarrow from importing pandas, which takes longer than most commands. Only Spark needs pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError("pandas is not used by the command line without Spark", name=name)


def _run(options: Namespace) -> int:
    from tidelog.errors import TidelogError

    command: Command = options.command
    try:
        code = command.run(options)
        sys.stdout.flush()
        return code
    except TidelogError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:
        raise
    except OSError as error:
        named = error.filename and error.strerror
        return _fail(f"{error.filename}: {error.strerror}" if named else str(error), 1)
    except MemoryError:
        return _fail("out of memory; set TIDELOG_MEMORY to less than the machine has, or use a larger machine", 1)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)


def _fail(message: str, code: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return code


def _pipe_closed() -> int:
    """The reader of our output (`| head`) has ended. Redirect stdout, so that Python does not flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _ArgumentParser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.format_usage()}error: {message}\n")


def _parser(words: Sequence[str]) -> ArgumentParser:
    """The parser. Only the command in `words` gets its arguments, so that no module of another command is imported."""
    parser = _ArgumentParser(
        prog="tidelog",
        description="Keep the consequences of rules over data exactly right while both change.",
        epilog="`tidelog COMMAND --help` explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"tidelog {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        each = commands.add_parser(command.name, help=command.help, description=command.help)
        if command.name in words:
            each.add_argument("--json", action="store_true", help="print JSON for machines")
            command.configure(each)
            each.set_defaults(command=command)
    return parser
