"""`tidelog load`: files into a knowledge base, all or nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.cli.changes import add_show, report_change
from tidelog.cli.engines import add_engine, engine
from tidelog.cli.knowledge import add_knowledge_base, open_to_change
from tidelog.cli.output import working


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("files", nargs="+", metavar="FILE", help="data, programs, or patterns such as 'data/*.nt.gz'")
    add_engine(parser)
    parser.add_argument("--master", metavar="URL", help="of a Spark cluster, for --engine spark")
    parser.add_argument("--message", default="", metavar="M", help="what `tidelog log` shall say of this version")
    add_show(parser, 0, "default: none")


def run(options: Namespace) -> int:
    chosen = engine(options)
    with open_to_change(options) as kb:
        with working(f"loading {' '.join(options.files)}"):
            change = kb.load(*options.files, engine=chosen, message=options.message)
        report_change(change, kb.prefixes, options.show, as_json=options.json)
    return 0
