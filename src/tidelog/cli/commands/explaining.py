"""Commands about proofs: `explain` and `repair`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from itertools import islice
from typing import TYPE_CHECKING

from tidelog.cli.commands import add_knowledge_base, add_version, as_of, natural, open_to_read
from tidelog.cli.output import print_json, visible, working
from tidelog.cli.show_changes import facts_json
from tidelog.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidelog import Explanation, KnowledgeBase, WhyKept, WhyNot, WhyRemoved
    from tidelog.explain.repair.proposals import Repair, Repairs

    Found = Explanation | WhyRemoved | WhyKept | WhyNot


_DEFAULT_PROOFS = 10  # proofs shown by --all without a number
_NEWEST = -1


def configure_explain(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("fact", metavar="FACT", help="such as 'ancestor(ann, cid)' or 'ex:ann a ex:Person'")
    add_version(parser)
    parser.add_argument("--format", choices=("tree", "json", "html", "svg", "dot"), help="default: tree")
    asked = parser.add_mutually_exclusive_group()
    most = f"all proofs, at most N (default {_DEFAULT_PROOFS})"
    asked.add_argument("--all", type=natural, nargs="?", const=_DEFAULT_PROOFS, metavar="N", help=most)
    asked.add_argument("--why-not", action="store_true", help="how far each rule gets, and what is missing")
    nearest = "with --why-not: show the N nearest rules (default: 3; 0: all)"
    parser.add_argument("--nearest", type=natural, metavar="N", help=nearest)
    parser.add_argument("--helpers", action="store_true", help="show also facts of the helper relations of rule sets")
    shown = {"--removed": "the proof that it lost", "--kept": "the proof that it has, and the steps it lost"}
    for name, what in shown.items():
        version = f"{what} with version V (the newest unless V is given)"
        asked.add_argument(name, type=natural, nargs="?", const=_NEWEST, metavar="V", help=version)


def run_explain(options: Namespace) -> int:
    """Print why a fact holds, does not hold, was removed, or was kept."""
    form = options.format or ("json" if options.json else "tree")
    with open_to_read(options) as kb, working("explaining"):
        found = _explanation(kb, options)
    return print_explanation(found, form)


def _explanation(kb: KnowledgeBase, options: Namespace) -> Found:
    if options.removed is not None or options.kept is not None:
        if options.at is not None:
            raise UsageError("--at cannot be combined with --removed and --kept; name the version there: --removed V")
        version = options.kept if options.removed is None else options.removed
        method = kb.why_kept if options.removed is None else kb.why_removed
        return method(options.fact, None if version == _NEWEST else version)
    asked = as_of(kb, options.at)
    why_not = asked.why_not(options.fact, 3 if options.nearest is None else options.nearest or None)
    if options.why_not or not why_not.holds:
        return why_not
    return asked.explain(options.fact, options.all, helpers=options.helpers)


def print_explanation(found: Found, form: str) -> int:
    """Print the explanation and return the exit code: 1 for a fact that does not hold."""
    from tidelog import WhyNot

    if form == "json":
        print_json(found.to_dict())
    elif form == "html":
        print(found.to_html())
    elif form == "dot" and not isinstance(found, WhyNot):
        print(found.to_dot())
    elif form == "svg" and not isinstance(found, WhyNot):
        print(found.to_svg())
    else:
        print("\n".join(map(visible, found.tree().split("\n"))))
    return 1 if isinstance(found, WhyNot) and not found.holds else 0


_SHOWN_LOST = 5  # facts lost besides those removed


def configure_repair(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("fact", metavar="FACT", nargs="?", help="such as 'ancestor(ann, cid)'")
    numbered = "instead of a fact: the N-th inconsistency that `tidelog inconsistencies` lists (default: 1)"
    parser.add_argument("--inconsistency", type=natural, nargs="?", const=1, metavar="N", help=numbered)
    add_version(parser)
    parser.add_argument("--limit", type=natural, default=10, metavar="N", help="at most N proposals (default: 10)")
    kept = "what to keep: a relation, a fact or a pattern such as 'parent(ann, ?x)'; may be repeated"
    parser.add_argument("--keep", action="append", metavar="K", help=kept)


def run_repair(options: Namespace) -> int:
    """Print which facts to remove so that a fact no longer follows. The exit code is 1 if no removal helps."""
    with open_to_read(options) as latest:
        kb = as_of(latest, options.at)
        with working("looking for repairs"):
            found = kb.repair(_to_repair(kb, options), options.limit, keep=options.keep)
        if options.json:
            print_json(_repairs_json(found))
        else:
            _print_repairs(found, kb.prefixes)
    return 0 if found else 1


def _to_repair(kb: KnowledgeBase, options: Namespace) -> object:
    """The fact, or the inconsistency with the number that was given."""
    if (options.fact is None) == (options.inconsistency is None):
        raise UsageError("give one fact, or --inconsistency")
    if options.inconsistency is None:
        return options.fact
    found = kb.inconsistencies()
    if not 1 <= options.inconsistency <= len(found):
        raise UsageError(f"there is no inconsistency {options.inconsistency}; {len(found)} are known")
    return found[options.inconsistency - 1]


def _repairs_json(found: Repairs) -> dict[str, object]:
    proposals = [{"remove": each.texts({}), **facts_json(each.effect, 0)} for each in found]
    return {"repairs": proposals, "complete": found.complete, "reason": found.reason}


def _print_repairs(found: Repairs, prefixes: Mapping[str, str]) -> None:
    """Print each proposal: the facts to remove, then the other facts that would be lost."""
    for number, repair in enumerate(found, 1):
        print(f"{number}. remove")
        _print_indented(repair.texts(prefixes))
        _print_effect(repair, prefixes)
    if not found:
        print(visible(found.reason))
    elif not found.complete:
        print("there may be more; raise --limit to see them")


def _print_effect(repair: Repair, prefixes: Mapping[str, str]) -> None:
    others = sorted(set(repair.effect.removed.texts(prefixes)) - set(repair.texts(prefixes)))
    if others:
        print("   and lose")
        _print_indented(islice(others, _SHOWN_LOST))
    if len(others) > _SHOWN_LOST:
        print(f"     … {len(others) - _SHOWN_LOST:,} more")
    if len(repair.effect.added):
        print(f"   and gain {len(repair.effect.added):,} facts")


def _print_indented(texts: Iterable[str]) -> None:
    for text in texts:
        print(f"     {visible(text)}")
