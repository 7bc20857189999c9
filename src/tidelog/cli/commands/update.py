"""`tidelog update`: add and remove facts and rules in one step, or see what that would do."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.options import add_engine, add_knowledge_base, engine, open_to_change, open_to_read
from tidelog.cli.output import print_json, working
from tidelog.cli.show_changes import add_show, change_json, preview_json, print_change, print_preview
from tidelog.errors import InputError, UsageError

if TYPE_CHECKING:
    from tidelog.changes.result import Change
    from tidelog.knowledge_base import KnowledgeBase

PARTS = {
    "add": "facts to add",
    "remove": "facts to remove",
    "add_rules": "rules to add",
    "remove_rules": "rules to remove",
}
ALGORITHMS = (
    *("auto", "bf", "dred", "dred+bf", "dred+rematerialise", "fp", "counting", "counting+bf"),
    *("recursive-counting", "declarative", "rematerialise"),
)
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
    parser.add_argument("--sparql", metavar="F", help="a SPARQL 1.1 Update request instead: a file, a text, or -")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="PATH",
        help="a file or folder that LOAD may read; may be repeated",
    )
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="auto", help="all give the same result")
    add_engine(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--message", default="", metavar="M", help="what `tidelog log` shall say of this version")
    add_show(parser, None, f"default: none, {_PREVIEWED} of a dry run")


def run(options: Namespace) -> int:
    change_of = _sparql(options) if options.sparql is not None else _facts_and_rules(options)
    with (open_to_read if options.dry_run else open_to_change)(options) as kb:
        with working("updating"):
            change = change_of(kb)
        if options.json:
            fields = preview_json if options.dry_run else change_json
            print_json({**fields(change, options.show or 0), "dry_run": options.dry_run})
        elif options.dry_run:
            print_preview(change, kb.prefixes, _PREVIEWED if options.show is None else options.show)
        else:
            print_change(change, kb.prefixes, options.show or 0)
    return 0


def _facts_and_rules(options: Namespace) -> Callable[[KnowledgeBase], Change]:
    add, remove, add_rules, remove_rules = _parts(options)
    chosen = engine(options)

    def change(kb: KnowledgeBase) -> Change:
        attempt = kb.preview if options.dry_run else partial(kb.apply, message=options.message)
        return attempt(add, remove, add_rules, remove_rules, options.algorithm, chosen, master=options.master)

    return change


def _sparql(options: Namespace) -> Callable[[KnowledgeBase], Change]:
    if any(getattr(options, name) for name in PARTS):
        raise UsageError("--sparql is a change of its own; give it without --add, --remove and rules")
    text = _request(options.sparql)
    return lambda kb: kb.update(text, options.allow, message=options.message, dry_run=options.dry_run)


def _request(text: str) -> str:
    """A request: standard input, a file, or the text itself."""
    if text == "-":
        return sys.stdin.read()
    if not _is_file(text) and any(c.isspace() for c in text):
        return text
    from tidelog.changes.inputs import read_text

    return read_text(Path(text))


def _parts(options: Namespace) -> list[list[str | Path]]:
    """What is to be added and removed; nothing at all, or standard input twice, is wrong use."""
    given: list[list[str]] = [getattr(options, name) or [] for name in PARTS]
    if not any(given):
        raise UsageError("nothing to change; give --add, --remove, --add-rules, --remove-rules or --sparql")
    if sum(texts.count("-") for texts in given) > 1:
        raise UsageError("standard input can be read once, and - was given more than once")
    return [[_source(text) for text in texts] for texts in given]


def _source(text: str) -> str | Path:
    """Standard input, a file, or the text itself."""
    if text == "-":
        return sys.stdin.read()
    if _is_file(text):
        return Path(text)
    if not any(c in text for c in "(["):
        raise InputError(f"{text}: there is no such file, and a fact or rule looks like 'parent(ann, bob) .'")
    return text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, say
        return False
