"""From a change that was carried out to a version: in memory, or durable in a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from tidelog.algebra.fact_set import FactSet, shown_count
from tidelog.changes.backend import AppliedChange, Backend
from tidelog.changes.result import Change
from tidelog.changes.state import State, StateOnDisk
from tidelog.rules.printer import format_rule
from tidelog.store.compaction import compact_if_due
from tidelog.store.delta import Delta
from tidelog.store.records import Commit, Metadata, Version
from tidelog.store.store import Store

F = TypeVar("F", bound=FactSet)


class Committed(NamedTuple):
    """The new version, the change as the user sees it, and the entry of the log.

    `delta` is the difference to the version before, None if it is in files that this process has not read.
    """

    state: State | StateOnDisk
    change: Change
    version: Version
    delta: Delta | None


def commit(backend: Backend[F], store: Store | None, applied: AppliedChange[F]) -> Committed:
    """Make a change durable. If this raises, the disk has the version before."""
    before, after = applied.before, applied.after
    if store is None:
        gathered = backend.gather(applied)
        change = applied.change(*gathered.answers())
        return Committed(gathered.state(after), change, _described(applied, ""), gathered.delta)
    stored, delta = backend.write(store, applied), None
    if stored is None:
        stored = gathered = backend.gather(applied)
        delta = gathered.delta
    sums, metadata = stored.sums(before.known_sums()), _metadata(before, after)
    after = replace(after, sums=sums, metadata=metadata)
    change = applied.change(*stored.answers())
    changed = None if metadata is before.metadata else metadata
    record = Commit(_described(applied, after.digest()), changed, sums, 0)
    state = stored.commit(store, record, after)
    if isinstance(state, State):
        compact_if_due(store, state.stored())
    return Committed(state, change, record.version, delta)


def _metadata(before: State, after: State) -> Metadata:
    """The metadata of the next version: the same object as before if rules, prefixes and options are the same."""
    same = after.program.after == before.program.after and after.prefixes == before.prefixes
    if same and after.options == before.metadata.options:
        return before.metadata
    rules = tuple(format_rule(r) for r in after.program.after)
    return Metadata(rules, dict(after.prefixes), dict(after.options))


def _described(applied: AppliedChange[F], digest: str) -> Version:
    """The entry of the log, for `versions()` and `tidelog log`."""
    outcome = applied.outcome
    return Version(
        version=applied.after.version,
        time=datetime.now(UTC).isoformat(timespec="milliseconds"),
        message=applied.options.message,
        algorithm=applied.choice.algorithm,
        engine=applied.engine,
        reason=applied.choice.reason,
        seconds=round(applied.seconds, 6),
        added=shown_count(outcome.added),
        removed=shown_count(outcome.removed),
        facts=applied.shown_facts(),
        explicit=len(applied.update.E),
        rules=len(applied.after.program.after),
        digest=digest,
        work=applied.update.work.figures(),
    )
