"""`tidelog update`: add and remove facts and rules in one step, or see what that would do."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tidelog.cli.changes import add_show, change_json, print_change, print_lines
from tidelog.cli.engines import add_engine, engine
from tidelog.cli.knowledge import add_knowledge_base, open_to_change, open_to_read
from tidelog.cli.output import print_json, working
from tidelog.errors import UsageError

PARTS = {
    "add": "facts to add",
    "remove": "facts to remove",
    "add_rules": "rules to add",
    "remove_rules": "rules to remove",
}
ALGORITHMS = ("auto", "bf", "dred", "fp", "counting", "recursive-counting", "declarative", "rematerialise")
_PREVIEWED = 100  # facts of a preview that are shown


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    for name, help_ in PARTS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            action="append",
            metavar="F",
            help=f"{help_}: a file, a text, or - for standard input; may be repeated",
        )
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="auto", help="all give the same result")
    add_engine(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--message", default="", metavar="M", help="what `tidelog log` shall say of this version")
    add_show(parser, None, f"default: none, {_PREVIEWED} of a dry run")


def run(options: Namespace) -> int:
    parts = _parts(options)
    chosen = engine(options)
    with (open_to_read if options.dry_run else open_to_change)(options) as kb:
        with working("updating"):
            if options.dry_run:
                change = kb.preview(**parts, algorithm=options.algorithm, engine=chosen)
            else:
                change = kb.apply(**parts, algorithm=options.algorithm, engine=chosen, message=options.message)
        show = options.show if options.show is not None else _PREVIEWED * options.dry_run
        if options.json:
            print_json({**change_json(change, show), "dry_run": options.dry_run})
        elif options.dry_run:
            print_lines(change, kb.prefixes, show)
            print(f"nothing was changed; this would be {change}")
        else:
            print_change(change, kb.prefixes, show)
    return 0


def _parts(options: Namespace) -> dict[str, list[str | Path]]:
    """What is to be added and removed; nothing at all, or standard input twice, is wrong use."""
    given = {name: getattr(options, name) or [] for name in PARTS}
    if not any(given.values()):
        raise UsageError("nothing to change; give --add, --remove, --add-rules or --remove-rules")
    if sum(sources.count("-") for sources in given.values()) > 1:
        raise UsageError("standard input can be read once; - was given more than once")
    return {name: [_source(text) for text in sources] for name, sources in given.items()}


def _source(text: str) -> str | Path:
    """A file if there is one of that name, standard input, or else the text itself."""
    if text == "-":
        return sys.stdin.read()
    return Path(text) if "\n" not in text and len(text) < 4096 and Path(text).is_file() else text
