"""Commands that follow changes: `watch`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidelog.cli.commands import add_knowledge_base, natural, open_to_read, seconds
from tidelog.cli.commands.reading import read_query_text
from tidelog.cli.output import visible
from tidelog.cli.show_changes import print_line

_SORTED = 10_000  # rows at most

if TYPE_CHECKING:
    from tidelog.streams.watch import AnswerChange


def configure_watch(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("query", metavar="QUERY", help="a pattern, a SPARQL query, a file *.rq, or - for stdin")
    parser.add_argument("--since", type=natural, metavar="V", help="begin with what came after version V")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="end after S seconds without a change")


def run_watch(options: Namespace) -> int:
    """Print each change of the answers as it comes, also of another process, until interrupted."""
    text = read_query_text(options.query)
    timeout = float("inf") if options.timeout is None else options.timeout
    with open_to_read(options) as kb:
        for change in kb.watch(text, since=options.since, timeout=timeout):
            if options.json:
                print(_as_json(change))
            else:
                _print(change, kb.prefixes)
            sys.stdout.flush()
    return 0


def _as_json(change: AnswerChange) -> str:
    """One line."""
    from tidelog.formats.results import binding

    sides = {"added": change.added, "removed": change.removed}
    rows = {side: [binding(some.names, row) for row in some] for side, some in sides.items()}
    return json.dumps({"version": change.version, "time": change.time, **rows}, ensure_ascii=False)


def _print(change: AnswerChange, prefixes: Mapping[str, str]) -> None:
    from tidelog.queries.answers import value_text

    print(f"version {change.version}, {change.time[:19].replace('T', ' ')}")
    for sign, some in (("-", change.removed), ("+", change.added)):
        rows = ("  ".join(visible(value_text(v, prefixes)) for v in row) if row else "true" for row in some)
        for row in sorted(rows) if len(some) <= _SORTED else rows:
            print_line(sign, row)
