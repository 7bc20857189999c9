"""From a change in memory to a version on disk."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from tidelog.changes.result import Change
from tidelog.changes.state import State
from tidelog.store.compaction import compact_if_due
from tidelog.store.delta import Delta
from tidelog.store.digest import sum_of_facts
from tidelog.store.records import Commit, Sums, Version
from tidelog.store.store import Store


def commit(store: Store, before: State, after: State, change: Change, delta: Delta, message: str) -> State:
    """Make the state after a change durable; if this raises, the state before it is still what the disk has."""
    after = replace(after, sums=_sums(before, delta)).settle(before)
    stored = after.stored()
    settled = None if after.settled is before.settled else after.settled
    record = Commit(describe(change, counted(after, delta), message, after.digest()), settled, stored.sums, 0)
    store.commit(record, delta, stored)
    compact_if_due(store, stored)
    return after


def _sums(before: State, delta: Delta) -> Sums:
    """Those of the state before, and what changed."""
    assert before.sums is not None
    E_added, E_removed, I_added, I_removed = map(sum_of_facts, delta.sets)
    explicit, facts = before.sums
    return Sums(explicit.plus(E_added).minus(E_removed), facts.plus(I_added).minus(I_removed))


class Counted(NamedTuple):
    """Facts gained and lost, and how many facts, explicit facts and rules there are."""

    added: int
    removed: int
    facts: int
    explicit: int
    rules: int


def counted(after: State, delta: Delta) -> Counted:
    return Counted(len(delta.I_added), len(delta.I_removed), len(after.I), len(after.E), len(after.program.after))


def describe(change: Change, counts: Counted, message: str, digest: str) -> Version:
    """What `versions()` and `tidelog log` will say."""
    return Version(
        version=change.version,
        time=datetime.now(UTC).isoformat(timespec="milliseconds"),
        message=message,
        algorithm=change.algorithm,
        engine=change.engine,
        reason=change.reason,
        seconds=round(change.seconds, 6),
        digest=digest,
        work=change.work.figures(),
        **counts._asdict(),
    )
