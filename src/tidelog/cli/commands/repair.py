"""`tidelog repair`: which facts to remove so that a fact no longer follows. The exit code is 1 if nothing helps."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base, add_version, as_of, natural, open_to_read
from tidelog.cli.output import print_json, visible, working
from tidelog.cli.show_changes import facts_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidelog.explain.repair.proposals import Repair, Repairs

_SHOWN = 5  # facts that go too


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("fact", metavar="FACT", help="such as 'ancestor(ann, cid)'")
    add_version(parser)
    parser.add_argument("--limit", type=natural, default=10, metavar="N", help="at most N proposals (default: 10)")
    parser.add_argument(
        "--keep",
        action="append",
        metavar="K",
        help="what shall stay: a relation, a fact or a pattern such as 'parent(ann, ?x)'; may be repeated",
    )


def run(options: Namespace) -> int:
    with open_to_read(options) as latest:
        kb = as_of(latest, options.at)
        with working("looking for repairs"):
            found = kb.repair(options.fact, options.limit, keep=options.keep)
        if options.json:
            print_json(_json(found))
        else:
            _print(found, kb.prefixes)
    return 0 if found else 1


def _json(found: Repairs) -> dict[str, object]:
    proposals = [{"remove": each.texts({}), **facts_json(each.effect, 0)} for each in found]
    return {"repairs": proposals, "complete": found.complete, "reason": found.reason}


def _print(found: Repairs, prefixes: Mapping[str, str]) -> None:
    """Each proposal as lines that can be removed, and what else goes."""
    for number, repair in enumerate(found, 1):
        print(f"{number}. remove")
        _indented(repair.texts(prefixes))
        _print_effect(repair, prefixes)
    if not found:
        print(visible(found.reason))
    elif not found.complete:
        print("there may be more; raise --limit to see them")


def _print_effect(repair: Repair, prefixes: Mapping[str, str]) -> None:
    others = sorted(set(repair.effect.removed.texts(prefixes)) - set(repair.texts(prefixes)))
    if others:
        print("   and lose")
        _indented(islice(others, _SHOWN))
    if len(others) > _SHOWN:
        print(f"     … {len(others) - _SHOWN:,} more")
    if len(repair.effect.added):
        print(f"   and gain {len(repair.effect.added):,} facts")


def _indented(texts: Iterable[str]) -> None:
    for text in texts:
        print(f"     {visible(text)}")
