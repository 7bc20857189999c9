"""`tidelog explain`: why a fact holds, does not hold, went, or stayed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base, add_version, as_of, natural, open_to_read
from tidelog.cli.output import print_json, visible, working
from tidelog.errors import UsageError

if TYPE_CHECKING:
    from tidelog import Explanation, KnowledgeBase, WhyKept, WhyNot, WhyRemoved

    Found = Explanation | WhyRemoved | WhyKept | WhyNot

_MANY = 10  # proofs, if all are asked for and no number is given
_NEWEST = -1


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("fact", metavar="FACT", help="such as 'ancestor(ann, cid)' or 'ex:ann a ex:Person'")
    add_version(parser)
    parser.add_argument("--format", choices=("tree", "json", "html", "dot"), help="default: tree")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "--all", type=natural, nargs="?", const=_MANY, metavar="N", help=f"all proofs, at most N (default {_MANY})"
    )
    asked.add_argument("--why-not", action="store_true", help="how far each rule gets, and what is missing")
    newest = "the newest unless V is given"
    for name, what in (("--removed", "the support that it lost"), ("--kept", "the support that it has and lost")):
        asked.add_argument(
            name, type=natural, nargs="?", const=_NEWEST, metavar="V", help=f"{what} with version V ({newest})"
        )


def run(options: Namespace) -> int:
    form = options.format or ("json" if options.json else "tree")
    with open_to_read(options) as kb, working("explaining"):
        found = _found(kb, options)
    return _show(found, form)


def _found(kb: KnowledgeBase, options: Namespace) -> Found:
    if options.removed is not None or options.kept is not None:
        if options.at is not None:
            raise UsageError("--at goes with the present only; say which version with --removed V or --kept V")
        version = options.kept if options.removed is None else options.removed
        method = kb.why_kept if options.removed is None else kb.why_removed
        return method(options.fact, None if version == _NEWEST else version)
    asked = as_of(kb, options.at)
    why_not = asked.why_not(options.fact)
    return why_not if options.why_not or not why_not.holds else asked.explain(options.fact, options.all)


def _show(found: Found, form: str) -> int:
    """Print it; the exit code is 1 for a fact that does not hold."""
    from tidelog import WhyNot

    if form == "json":
        print_json(found.to_dict())
    elif form == "html":
        print(found.to_html())
    elif form == "dot" and not isinstance(found, WhyNot):
        print(found.to_dot())
    else:
        print("\n".join(map(visible, found.tree().split("\n"))))
    return 1 if isinstance(found, WhyNot) and not found.holds else 0
