"""What a command is. One module per command; `tidelog.cli` holds the tuple of them.

A command's module is imported when the command is used, so that `tidelog --help` answers at once. It offers

    configure(parser)     add the command's arguments
    run(options)          do it, and give the exit code

and imports numpy, pyarrow and all that needs them only inside `run`.

What the commands on a knowledge base share: its path, its past, and how it is opened.

`--engine` and `--master`: where the work is done.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from tidelog.errors import UsageError

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase


class Implementation(Protocol):
    """What the module of a command offers."""

    def configure(self, parser: ArgumentParser) -> None: ...

    def run(self, options: Namespace) -> int: ...


class Command(NamedTuple):
    """The name of a command, which is also that of its module, and one line of help."""

    name: str
    help: str

    def load(self) -> Implementation:
        return cast(Implementation, import_module(f"tidelog.cli.commands.{self.name}"))


def add_knowledge_base(parser: ArgumentParser) -> None:
    parser.add_argument("kb", type=Path, metavar="KB", help="the directory of the knowledge base")


def add_version(parser: ArgumentParser) -> None:
    parser.add_argument("--at", type=natural, metavar="V", help="as of an older version (`tidelog log KB` lists them)")


def natural(text: str) -> int:
    """An argument that is 0 or more."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def open_to_read(options: Namespace) -> KnowledgeBase:
    import tidelog

    return tidelog.open(options.kb, read_only=True)


def open_to_change(options: Namespace) -> KnowledgeBase:
    """Only what is there already: a mistyped path must not become a knowledge base."""
    import tidelog

    return tidelog.open(options.kb, create=False)


def as_of(kb: KnowledgeBase, version: int | None) -> KnowledgeBase:
    return kb if version is None else kb.at(version)


def add_engine(parser: ArgumentParser) -> None:
    from tidelog.changes.choose import ENGINES

    parser.add_argument("--engine", choices=ENGINES, default="auto", help="auto: in this process while memory suffices")
    parser.add_argument(
        "--master",
        metavar="URL",
        help="a Spark cluster: local[4], spark://host:7077, yarn, k8s://…, sc://host (Connect)",
    )


def engine(options: Namespace) -> str:
    """The engine that was asked for."""
    if options.master and options.engine == "local":
        raise UsageError("--master is for Spark; leave out --engine local")
    return str(options.engine)
