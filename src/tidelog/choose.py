"""Which algorithm for a change, and why, in one line.

Adding facts and rules that no rule negates or aggregates only ever adds consequences: continue semi-naive from them.
Anything else is rematerialised, and so is a knowledge base in which nothing was derived yet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tidelog.errors import UsageError
from tidelog.rules.syntax import Rule

ALGORITHMS = ("semi-naive", "rematerialise")


@dataclass(frozen=True, slots=True)
class Choice:
    algorithm: str
    reason: str


def choose(asked: str, rules: Sequence[Rule], changed: Collection[str], removes: bool, first: bool) -> Choice:
    """`changed`: predicates of added facts and of heads of added rules; `removes`: facts or rules go away;
    `first`: there were no rules before.
    """
    if asked not in ("auto", *ALGORITHMS):
        raise UsageError(f"unknown algorithm {asked!r}; choose one of: auto, {', '.join(ALGORITHMS)}")
    obstacle = "something is removed" if removes else _strict_reader(rules, changed)
    if asked == "semi-naive" and obstacle:
        raise UsageError(f"semi-naive can only add, but {obstacle}; use algorithm='auto'")
    if asked == "rematerialise":
        return Choice(asked, "asked for")
    if obstacle:
        return Choice("rematerialise", obstacle)
    if first and asked == "auto":
        return Choice("rematerialise", "nothing was derived before")
    return Choice("semi-naive", "asked for" if asked == "semi-naive" else "the change only adds")


def _strict_reader(rules: Sequence[Rule], changed: Collection[str]) -> str:
    """Says which rule negates or aggregates something that changes, if one does."""
    affected = set(changed)
    while True:
        more = {h.predicate for r in rules if affected & {a.predicate for a in r.atoms} for h in r.heads} - affected
        if not more:
            break
        affected |= more
    for rule in rules:
        negated = {n.atom.predicate for n in rule.negations}
        read = negated | {a.predicate for a in rule.atoms} if rule.aggregate else negated
        if hit := sorted(read & affected):
            return f"a rule {'aggregates' if rule.aggregate else 'negates'} {hit[0]}, which changes: {rule}"
    return ""
