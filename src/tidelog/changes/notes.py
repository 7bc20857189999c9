"""Sentences about facts of a request that changed nothing: why, and what to do.

A few facts are named. Many facts are only counted, so the notes on a large change cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from tidelog.algebra.fact_set import FactSet
from tidelog.algorithms.update import Outcome, Update
from tidelog.rules.printer import format_fact

F = TypeVar("F", bound=FactSet)

_NAMED = 3  # facts of one kind
_EXAMINED = 1000  # facts; more are counted only
_WHY = "see tidelog explain, tidelog repair"


def idle_notes(
    add: F, remove: F, update: Update[F], outcome: Outcome[F], prefixes: Mapping[str, str], *, is_plain: bool
) -> Iterator[str]:
    """Notes on facts to add and to remove. `is_plain`: facts are stored under the names that the user gives."""
    if len(remove) > len(update.removed):
        yield from _idle_removals(remove - add, update, outcome, prefixes, is_plain=is_plain)
    if len(add) > len(update.added):
        idle = add - update.added - remove if len(add) <= _EXAMINED else None
        count = len(add) - len(update.added) if idle is None else len(idle)
        one, many = "{} is explicit already", "{} of the {} facts to add are explicit already"
        yield from _told(idle, count, len(add), one, many, prefixes)
    if len(update.removed) > len(outcome.removed) and len(update.removed) <= _EXAMINED and is_plain:
        kept = update.removed & outcome.I
        one = f"{{}} is not explicit any more, but it stays: rules derive it; {_WHY}"
        many = f"{{}} of the {{}} facts to remove stay: rules derive them; {_WHY}"
        yield from _told(kept, len(kept), len(remove), one, many, prefixes)


def _idle_removals(
    remove: F, update: Update[F], outcome: Outcome[F], prefixes: Mapping[str, str], *, is_plain: bool
) -> Iterator[str]:
    total, count = len(remove), len(remove) - len(update.removed)
    if total > _EXAMINED or not is_plain:
        idle = remove - update.removed if total <= _EXAMINED else None
        one = f"{{}} is not explicit: it is absent, or rules derive it; {_WHY}"
        many = f"{{}} of the {{}} facts to remove are not explicit: they are absent, or rules derive them; {_WHY}"
        yield from _told(idle, count, total, one, many, prefixes)
        return
    idle = remove - update.removed
    derived, absent = idle & outcome.I, idle - update.I
    one = f"{{}} is derived, not explicit: it stays as long as its rules and facts do; {_WHY}"
    kind = "{} of the {} facts to remove are derived, not explicit"
    many = f"{kind}: they stay as long as their rules and facts do; {_WHY}"
    yield from _told(derived, len(derived), total, one, many, prefixes)
    one, many = "{} is not there, so it was not removed", "{} of the {} facts to remove are not there"
    yield from _told(absent, len(absent), total, one, many, prefixes)


def _told(
    facts: FactSet | None, count: int, total: int, one: str, many: str, prefixes: Mapping[str, str]
) -> Iterator[str]:
    """The sentence `one` for each of a few facts, or the sentence `many` with their number."""
    if facts is not None and count <= _NAMED:
        yield from (one.format(format_fact(fact, prefixes).removesuffix(" .")) for fact in sorted(facts))
    elif count > 0:
        yield many.format(f"{count:,}", f"{total:,}")
