"""The commands, grouped by topic, and the options that several of them share.

Each command has a `configure_` and a `run_` function; see `tidelog.cli`.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.errors import UsageError

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase


def add_knowledge_base(parser: ArgumentParser) -> None:
    parser.add_argument("kb", type=Path, metavar="KB", help="the directory of the knowledge base")


def add_version(parser: ArgumentParser) -> None:
    parser.add_argument("--at", type=natural, metavar="V", help="as of an older version (`tidelog log KB` lists them)")


def natural(text: str) -> int:
    """Argument type: a whole number, 0 or more."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def seconds(text: str) -> float:
    """Argument type: a number of seconds, 0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return number


def open_to_read(options: Namespace) -> KnowledgeBase:
    import tidelog

    return tidelog.open(options.kb, read_only=True)


def open_to_change(options: Namespace) -> KnowledgeBase:
    """Open a knowledge base that exists: a mistyped path must not create one."""
    import tidelog

    return tidelog.open(options.kb, create=False)


def as_of(kb: KnowledgeBase, version: int | None) -> KnowledgeBase:
    return kb if version is None else kb.at(version)


def add_engine(parser: ArgumentParser) -> None:
    from tidelog.changes.choose import ENGINES

    parser.add_argument("--engine", choices=ENGINES, default="auto", help="auto: in this process while memory suffices")
    masters = "a Spark cluster: local[4], spark://host:7077, yarn, k8s://…, sc://host (Connect)"
    parser.add_argument("--master", metavar="URL", help=masters)


def engine(options: Namespace) -> str:
    """The engine that the user chose."""
    if options.master and options.engine == "local":
        raise UsageError("--master is for Spark; leave out --engine local")
    return str(options.engine)
