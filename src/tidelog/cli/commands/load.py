"""`tidelog load`: files into a knowledge base, all or nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.cli.options import add_engine, add_knowledge_base, engine, open_to_change
from tidelog.cli.output import warn, working
from tidelog.cli.show_changes import add_show, report_change


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("files", nargs="+", metavar="FILE", help="data, programs, or patterns such as 'data/*.nt.gz'")
    add_engine(parser)
    parser.add_argument(
        "--bad-lines",
        choices=("fail", "skip", "quarantine"),
        default="fail",
        help="a line that is not valid: fail and load nothing, leave it out, or write it to a file",
    )
    parser.add_argument("--quarantine", metavar="FILE", help="for bad lines; default: KB.bad-lines.jsonl")
    parser.add_argument("--message", default="", metavar="M", help="what `tidelog log` shall say of this version")
    add_show(parser, 0, "default: none")


def run(options: Namespace) -> int:
    chosen = engine(options)
    with open_to_change(options) as kb:
        with working(f"loading {' '.join(options.files)}") as say:
            change = kb.load(
                *options.files,
                engine=chosen,
                master=options.master,
                message=options.message,
                bad_lines=options.bad_lines,
                quarantine=_quarantine(options),
                progress=say,
            )
        if change.bad_lines:
            where = f"; they are in {_quarantine(options)}" if options.bad_lines == "quarantine" else ""
            warn(f"{change.bad_lines:,} lines could not be read and were left out{where}")
        report_change(change, kb.prefixes, options.show, as_json=options.json)
    return 0


def _quarantine(options: Namespace) -> str | None:
    if options.bad_lines != "quarantine":
        return str(options.quarantine) if options.quarantine else None
    return str(options.quarantine or f"{options.kb}.bad-lines.jsonl")
