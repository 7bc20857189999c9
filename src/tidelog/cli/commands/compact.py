"""`tidelog compact`: everything into one set of files; and, if asked, forget the past."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.cli.options import add_knowledge_base, natural, open_to_change
from tidelog.cli.output import file_size, print_json, working


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument(
        "--keep", type=natural, metavar="N", help="forget all versions but the newest N and the present one"
    )


def run(options: Namespace) -> int:
    with open_to_change(options) as kb:
        before = kb.status().bytes
        with working("compacting"):
            kb.compact(options.keep)
        after = kb.status()
    if options.json:
        print_json({"version": after.version, "oldest": after.oldest, "bytes_before": before, "bytes": after.bytes})
    else:
        sizes = f"{file_size(before)} became {file_size(after.bytes)}"
        print(f"{sizes}; versions {after.oldest} to {after.version} can be read")
    return 0
