"""What a command is. One module per command; `tidelog.cli` holds the tuple of them.

A command's module is imported when the command is used, so that `tidelog --help` answers at once. It offers

    configure(parser)     add the command's arguments
    run(options)          do it, and give the exit code

and imports numpy, pyarrow and all that needs them only inside `run`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class Implementation(Protocol):
    """What the module of a command offers."""

    def configure(self, parser: ArgumentParser) -> None: ...

    def run(self, options: Namespace) -> int: ...


class Command(NamedTuple):
    """The name of a command, which is also that of its module, and one line of help."""

    name: str
    help: str

    def load(self) -> Implementation:
        return cast(Implementation, import_module(f"tidelog.cli.{self.name}"))
