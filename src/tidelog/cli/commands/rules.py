"""`tidelog rules`: the rules of a knowledge base as text that can be loaded again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.cli.options import add_knowledge_base, add_version, as_of, open_to_read
from tidelog.cli.output import print_json


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    add_version(parser)
    parser.add_argument(
        "--maintenance", action="store_true", help="the rules that compute changes (Volz, Staab and Motik) instead"
    )


def run(options: Namespace) -> int:
    from tidelog.rules.maintenance_rules import format_maintenance, maintenance_program
    from tidelog.rules.printer import format_program
    from tidelog.rules.syntax import Program

    with open_to_read(options) as latest:
        kb = as_of(latest, options.at)
        if options.json:
            rules = maintenance_program(kb.rules) if options.maintenance else kb.rules
            print_json({"version": kb.version, "prefixes": dict(kb.prefixes), "rules": [str(rule) for rule in rules]})
            return 0
        declared = Program(prefixes=dict(kb.prefixes), rules=[] if options.maintenance else list(kb.rules))
        print(format_program(declared), end="")
        if options.maintenance:
            print(format_maintenance(kb.rules, kb.prefixes), end="")
    return 0
