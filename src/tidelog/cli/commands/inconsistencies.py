"""`tidelog inconsistencies`: what contradicts what. The exit code is 1 if there is anything."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.cli.options import add_knowledge_base, add_version, as_of, natural, open_to_read
from tidelog.cli.output import print_json, visible


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    add_version(parser)
    parser.add_argument("--limit", type=natural, metavar="N", help="at most N of each rule")


def run(options: Namespace) -> int:
    from tidelog.rules.printer import format_fact

    with open_to_read(options) as latest:
        kb = as_of(latest, options.at)
        found = [(each.name, each.matched) for each in kb.inconsistencies(options.limit)]
        if options.json:
            listed = [{"rule": name, "facts": [format_fact(fact) for fact in facts]} for name, facts in found]
            print_json({"version": kb.version, "inconsistencies": listed})
        else:
            for name, facts in found:
                print(f"{name}: {visible(' '.join(format_fact(fact, kb.prefixes) for fact in facts))}")
            if not found:
                print("none")
    return 1 if found else 0
