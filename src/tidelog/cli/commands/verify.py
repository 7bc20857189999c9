"""`tidelog verify`: read everything on disk again and check it. Problems are listed, and the exit code is 1."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base, open_to_read
from tidelog.cli.output import file_size, print_json, working

if TYPE_CHECKING:
    from tidelog.store.verification import Verification


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("--recompute", action="store_true", help="also derive everything again and compare")


def run(options: Namespace) -> int:
    with working("verifying"):
        report = _examined(options)
    if options.json:
        print_json({"ok": report.ok, **asdict(report)})
    else:
        _print(report)
    return 0 if report.ok else 1


def _examined(options: Namespace) -> Verification:
    from tidelog.errors import CorruptionError
    from tidelog.store.verification import examine

    try:
        with open_to_read(options) as kb:
            return kb.verify(recompute=options.recompute)
    except CorruptionError:
        return examine(options.kb)


def _print(report: Verification) -> None:
    for problem in report.problems:
        print(f"problem: {problem}")
    looked = f"version {report.version}, {report.versions} versions, {report.files} files, {file_size(report.bytes)}"
    again = ", everything derived again" if report.recomputed else ""
    print(f"{looked}{again}: {'no problem found' if report.ok else 'damaged; restore it from a copy'}")
