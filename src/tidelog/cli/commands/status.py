"""`tidelog status`: where a knowledge base stands, and how large it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base, open_to_read
from tidelog.cli.output import file_size, print_json, print_table

if TYPE_CHECKING:
    from tidelog.queries.status import Status


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)


def run(options: Namespace) -> int:
    with open_to_read(options) as kb:
        found = kb.status()
    if options.json:
        print_json(asdict(found))
    else:
        _print(found)
    return 0


def _print(found: Status) -> None:
    lines = {
        "version": f"{found.version} (the oldest that can be read is {found.oldest})",
        "digest": found.digest,
        "facts": f"{found.facts:,} ({found.explicit:,} explicit, {found.derived:,} derived)",
        "rules": f"{found.rules:,}{f', made with {found.ruleset}' if found.ruleset else ''}",
        "strict": "yes" if found.strict else "no",
        "on disk": f"{file_size(found.bytes)}, format {found.format}",
    }
    for name, value in lines.items():
        print(f"{name:<9}{value}")
    if found.relations:
        print()
        rows = [(name, counts.facts, counts.explicit, counts.derived) for name, counts in found.relations.items()]
        print_table(("relation", "facts", "explicit", "derived"), rows)
