"""What a command is. One file per command; `tidelog.cli` holds the tuple of them.

Command modules import nothing heavy at the top: whatever numpy or pyarrow is needed for is imported when the command
runs, so that `tidelog --help` answers at once.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A name, one line of help, the arguments it adds to its parser, and what it does; `run` gives the exit code."""

    name: str
    help: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
