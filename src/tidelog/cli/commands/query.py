"""`tidelog query`: all values that make a pattern true, or the answer to a SPARQL query."""

from __future__ import annotations

import io
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base, add_version, as_of, natural, open_to_read
from tidelog.cli.output import TEXT_FORMATS, print_rows, print_solutions, warn, working
from tidelog.errors import UsageError

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase
    from tidelog.queries.answers import Answers
    from tidelog.queries.sparql.solutions import Found

    Show = Callable[[str], None]

_PROLOGUE = r"\s*(?:#.*\n\s*|(?:PREFIX\s+\S*|BASE)\s*<[^>]*>\s*)*"
_FORMS = r"(?:PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE)[\s{*:?<]|SELECT\((?=[^{]*\{)"  # no pattern has a brace
_SPARQL = re.compile(rf"{_PROLOGUE}(?:{_FORMS})", re.IGNORECASE)
_UPDATE = re.compile(rf"{_PROLOGUE}(?:INSERT|DELETE|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY|WITH)[\s{{]", re.IGNORECASE)
_GRAPH_FORMATS = ("ttl", "nt", "rdf", "jsonld")
_ROW_FORMATS = (*TEXT_FORMATS, "parquet")
_FILE = (".rq", ".sparql")


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument(
        "query",
        metavar="QUERY",
        help="such as 'ancestor(ann, ?x), age(?x, ?n), ?n > 30', a SPARQL query, a file *.rq, or - for standard input",
    )
    parser.add_argument(
        "--format",
        choices=(*_ROW_FORMATS, *_GRAPH_FORMATS),
        help="default: table, and ttl for what CONSTRUCT and DESCRIBE give",
    )
    add_version(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="print at most N answers")
    parser.add_argument("--mark", action="store_true", help="say of each answer whether explicit facts alone give it")
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="stop a query that takes more than S seconds")
    parser.add_argument("--max-rows", type=natural, metavar="N", help="stop a query with more than N answers")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write to a file instead; it is replaced if it is there"
    )


def run(options: Namespace) -> int:
    text, form = _text(options.query), options.format or ("json" if options.json else "")
    if form == "parquet" and options.out is None:
        raise UsageError("parquet is for files; say which with --out FILE")
    _refuse_updates(text)
    with open_to_read(options) as kb:
        asked = as_of(kb, options.at)
        show = _answer_sparql(asked, text, options) if is_sparql(text) else _answer(asked, text, options)
        show(form)
    return 0


def _refuse_updates(text: str) -> None:
    if _UPDATE.match(text):
        raise UsageError("that is a change, and a query changes nothing; use `tidelog update KB --sparql`")


def _answer(kb: KnowledgeBase, text: str, options: Namespace) -> Show:
    with working("answering"):
        answers = kb.query(text, timeout=options.timeout, max_rows=options.max_rows)
    if not len(answers):
        _warn_of_unknown(kb, text)
    return partial(_show_rows, answers, print_rows, options)


def _answer_sparql(kb: KnowledgeBase, text: str, options: Namespace) -> Show:
    from tidelog.queries.sparql import Solutions

    with working("answering"):
        found = kb.sparql(text, timeout=options.timeout, max_rows=options.max_rows)
    if isinstance(found, bool):
        return partial(_show_boolean, found, options.out)
    if isinstance(found, Solutions):
        return partial(_show_rows, found, print_solutions, options)
    for prefix, namespace in kb.prefixes.items():
        found.bind(prefix, namespace)
    return partial(_show_graph, found, options.out)


def is_sparql(text: str) -> bool:
    """Whether a query is SPARQL, by its first word; a pattern starts with a relation and a bracket."""
    return bool(_SPARQL.match(text))


def _text(query: str) -> str:
    if query == "-":
        return sys.stdin.read()
    if query.endswith(_FILE):
        from tidelog.changes.inputs import read_text

        return read_text(Path(query))
    return query


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _show_rows(answers: Answers, print_: Callable[..., None], options: Namespace, form: str) -> None:
    answers = answers.marked() if options.mark else answers
    if form in _GRAPH_FORMATS:
        raise UsageError(f"{form} is for graphs, and this query gives rows; choose one of: {', '.join(_ROW_FORMATS)}")
    if form == "parquet":
        from tidelog import formats

        formats.write_table(options.out, answers.to_arrow(options.limit))
        return
    with _output(options.out):
        print_(answers, form or "table", options.limit)


def _show_boolean(answer: bool, out: Path | None, form: str) -> None:
    from tidelog.formats.results import write_boolean

    if form == "parquet" or form in _GRAPH_FORMATS:
        raise UsageError(f"ASK gives true or false, which {form} cannot say; choose one of: {', '.join(TEXT_FORMATS)}")
    with _output(out):
        write_boolean(answer, form or "table", sys.stdout)


def _show_graph(graph: Found, out: Path | None, form: str) -> None:
    from tidelog.queries.sparql.solutions import write_text

    with _output(out):
        write_text(graph, form or "ttl", sys.stdout)


def _warn_of_unknown(kb: KnowledgeBase, query: str) -> None:
    """No answers: perhaps a relation was mistyped."""
    from tidelog.rules.parsing.parser import parse_query
    from tidelog.rules.syntax import Atom

    for atom in parse_query(query, kb.prefixes)[0]:
        if isinstance(atom, Atom) and atom.args and not kb.facts(atom.predicate).names:
            warn(f"no fact and no rule has {atom.predicate}{_nearest(kb, atom.predicate)}")


def _nearest(kb: KnowledgeBase, predicate: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(predicate, kb.status().relations, 1)
    return f"; did you mean {close[0]}?" if close else ""


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
