"""`tidelog diff`: what one version has and another has not, as `+` and `-` lines."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tidelog.cli.options import add_knowledge_base, natural, open_to_read
from tidelog.cli.output import print_json
from tidelog.cli.show_changes import add_show, facts_json, print_lines


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("older", type=natural, metavar="V1", help="a version")
    parser.add_argument("newer", type=natural, metavar="V2", help="the version to compare it with")
    add_show(parser, None, "default: all")


def run(options: Namespace) -> int:
    from tidelog.rules.printer import format_rule

    with open_to_read(options) as kb:
        found = kb.diff(options.older, options.newer)
        if options.json:
            rules = {"added_rules": found.added_rules, "removed_rules": found.removed_rules}
            texts = {name: [str(rule) for rule in some] for name, some in rules.items()}
            facts = facts_json(found, options.show)
            print_json({"older": options.older, "newer": options.newer, **facts, **texts})
            return 0
        for sign, some in (("-", found.removed_rules), ("+", found.added_rules)):
            for rule in some:
                print(sign, format_rule(rule, kb.prefixes))
        print_lines(found, kb.prefixes, options.show)
    return 0
