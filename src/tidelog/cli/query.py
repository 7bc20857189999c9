"""`tidelog query`: all values that make a pattern true."""

from __future__ import annotations

import io
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.knowledge import add_knowledge_base, add_version, as_of, natural, open_to_read
from tidelog.cli.output import warn, working
from tidelog.cli.rows import TEXT_FORMATS, print_rows
from tidelog.errors import UsageError

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase

_SPARQL = re.compile(r"\s*(?:#.*\n\s*)*(?:PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE)[\s{*]", re.IGNORECASE)


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("query", metavar="QUERY", help="such as 'ancestor(ann, ?x), age(?x, ?n), ?n > 30'")
    parser.add_argument("--format", choices=(*TEXT_FORMATS, "parquet"), help="default: table")
    add_version(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="print at most N answers")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write to a file instead; it is replaced if it is there"
    )


def run(options: Namespace) -> int:
    form = options.format or ("json" if options.json else "table")
    if _SPARQL.match(options.query):
        raise UsageError("SPARQL is not available yet; ask for a pattern, such as 'ancestor(ann, ?x), age(?x, ?n)'")
    if form == "parquet" and options.out is None:
        raise UsageError("parquet is for files; say which with --out FILE")
    with open_to_read(options) as kb:
        with working("answering"):
            asked = as_of(kb, options.at)
            answers = asked.query(options.query)
        if not len(answers):
            _warn_of_unknown(asked, options.query)
        if form == "parquet":
            from tidelog import formats

            formats.write_table(options.out, answers.to_arrow(options.limit))
        else:
            with _output(options.out):
                print_rows(answers, form, options.limit)
    return 0


def _warn_of_unknown(kb: KnowledgeBase, query: str) -> None:
    """No answers: perhaps a relation was mistyped."""
    from tidelog.rules.parser import parse_query
    from tidelog.rules.syntax import Atom

    for atom in parse_query(query, kb.prefixes)[0]:
        if isinstance(atom, Atom) and atom.args and not kb.facts(atom.predicate).names:
            warn(f"no fact and no rule has {atom.predicate}")


@contextmanager
def _output(path: Path | None) -> Iterator[None]:
    """What is printed goes to a file, if one is named; it appears when all is printed."""
    if path is None:
        yield
        return
    from tidelog import formats

    with formats.written_aside(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        with redirect_stdout(text):
            yield
        text.flush()
        text.detach()
