"""`tidelog init`: a new knowledge base. It is made aside and renamed, so it is there with its rules or not at all."""

from __future__ import annotations

import os
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.options import add_knowledge_base
from tidelog.cli.output import print_json
from tidelog.errors import StoreError

if TYPE_CHECKING:
    from tidelog.knowledge_base import KnowledgeBase

RULE_SETS = ("rhodf", "rdfs", "owl2rl")
EQUALITIES = ("off", "rewriting")


def configure(parser: ArgumentParser) -> None:
    add_knowledge_base(parser)
    parser.add_argument("--ruleset", choices=RULE_SETS, help="start with the rules of ρdf, RDFS or OWL 2 RL")
    parser.add_argument(
        "--rules", type=Path, nargs="+", action="extend", default=[], metavar="FILE", help="start with these rules"
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse changes that lead to inconsistencies instead of listing them"
    )
    parser.add_argument(
        "--equality",
        choices=EQUALITIES,
        default=EQUALITIES[0],
        help="owl:sameAs as a property like any other, or by rewriting: one term stands for all equal ones",
    )


def run(options: Namespace) -> int:
    import tidelog

    _refuse_occupied(options.kb)
    with _made_aside(options.kb) as folder, tidelog.open(folder) as kb:
        _settle(kb, options)
        version, rules = kb.version, len(kb.rules)
    if options.json:
        made = {"kb": str(options.kb), "version": version, "rules": rules}
        print_json(made | {"ruleset": options.ruleset, "strict": options.strict, "equality": options.equality})
    else:
        print(f"{options.kb}: a new knowledge base with {rules} rules")
    return 0


def _settle(kb: KnowledgeBase, options: Namespace) -> None:
    """Rules and settings in one commit; none if there are none."""
    from tidelog import rulesets

    kept = {"ruleset": options.ruleset} if options.ruleset else {}
    kept |= {"strict": True} if options.strict else {}
    kept |= {"equality": options.equality} if options.equality != EQUALITIES[0] else {}
    if kept or options.rules:
        named = [rulesets.get(options.ruleset)] if options.ruleset else []
        kb.apply(add_rules=[*named, *options.rules], options=kept, message="init")


def _refuse_occupied(path: Path) -> None:
    """A path that is free, or an empty directory; anything else is refused, and the store says what it is."""
    import tidelog

    if not os.path.lexists(path) or (path.is_dir() and not os.listdir(path)):
        return
    with tidelog.open(path, read_only=True) as kb:
        raise StoreError(
            f"{path} is a knowledge base already, at version {kb.version}. Change it with `tidelog load {path}` or "
            f"`tidelog update {path}`, or give another path"
        )


@contextmanager
def _made_aside(path: Path) -> Iterator[Path]:
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield aside
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    aside.rename(path)
