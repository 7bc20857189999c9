"""What the commands on a knowledge base share: its path, its past, and how it is opened."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase


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
