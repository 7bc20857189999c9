"""The steps from version to version that watches read: made in this process, or read from the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidelog.algorithms.equality.policy import Mode
from tidelog.engines.local.facts import LocalFacts
from tidelog.store.delta import Delta
from tidelog.store.records import Version
from tidelog.store.store import Store

_AT_ONCE = 256  # versions that are read from the store at once


@dataclass(frozen=True, slots=True)
class VersionStep:
    """One version: all facts before and after it, and the difference. The facts are as they are stored."""

    version: int
    time: str
    before: LocalFacts
    after: LocalFacts
    plus: LocalFacts
    minus: LocalFacts
    mode: Mode


def facts_at(store: Store, version: int, newest: int, I: LocalFacts) -> LocalFacts:
    """All facts of an older version. I are those of version `newest`."""
    undo = store.between(version, newest, I.dictionary).inverse()
    return (I - undo.I_removed) | undo.I_added


def steps_between(
    store: Store, before: tuple[int, LocalFacts], after: tuple[int, LocalFacts], mode: Mode
) -> Iterator[VersionStep]:
    """The steps from a version to a newer one, each read from the store when it is needed.

    Each version is given with its facts.
    """
    (since, I), (newest, facts) = before, after
    if I.dictionary is not facts.dictionary:
        I = facts_at(store, since, newest, facts)
    while since < newest:
        upto = min(since + _AT_ONCE, newest)
        with store.held_files():
            for row in store.commits_between(since, upto):
                delta = store.change_of(row, I.dictionary)
                new = (I - delta.I_removed) | delta.I_added
                yield step_of(row.commit.version, I, new, delta, mode)
                I = new
        since = upto


def step_of(version: Version, before: LocalFacts, after: LocalFacts, delta: Delta, mode: Mode) -> VersionStep:
    return VersionStep(version.version, version.time, before, after, delta.I_added, delta.I_removed, mode)
