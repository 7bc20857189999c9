"""`tidelog log`: the versions of a knowledge base, newest first."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base, natural, open_to_read
from tidelog.cli.output import print_json, print_table

if TYPE_CHECKING:
    from tidelog.store.records import Version

_HEADER = ("version", "time (UTC)", "added", "removed", "facts", "rules", "algorithm", "seconds", "message")


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="only the newest N")


def run(options: Namespace) -> int:
    with open_to_read(options) as kb:
        newest_first = kb.versions()[::-1][: options.limit]
    if options.json:
        print_json({"versions": [asdict(version) for version in newest_first]})
    else:
        print_table(_HEADER, map(_row, newest_first))
    return 0


def _row(version: Version) -> tuple[object, ...]:
    when = version.time[:19].replace("T", " ")
    return (
        *(version.version, when, version.added, version.removed, version.facts, version.rules),
        *(version.algorithm, f"{version.seconds:.3f}", version.message),
    )
