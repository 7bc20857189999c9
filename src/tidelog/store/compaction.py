"""Compaction: small changes are merged into files, so that opening stays fast; old versions are forgotten on request.

    tail  ──write──>  a delta  ──merge, when the one before is not much larger──>  a larger delta  ──>  a new base

Each step writes new files and replaces the manifest; readers keep the files of their generation. Files that no manifest
and no kept version names are removed when no reader holds a generation that names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tidelog import tuning
from tidelog.errors import StoreError
from tidelog.kernel.table import compact_runs
from tidelog.store import cache, durable_files, runs
from tidelog.store.delta import Delta
from tidelog.store.durable_files import oldest_pinned
from tidelog.store.records import FactRun, Manifest
from tidelog.store.store import Store, StoredVersion, cache_name


def compact_if_due(store: Store, now: StoredVersion) -> None:
    """Compact after a commit if much has to be replayed when opening. If this fails, the next commit tries again."""
    if store.tail_commits >= tuning.COMPACTED_COMMITS or _outgrown(store.manifest):
        with suppress(StoreError):
            compact_tail(store, now)
            sweep(store)


def _outgrown(manifest: Manifest) -> bool:
    base = manifest.base.rows if manifest.base else 0
    return sum(run.rows for run in manifest.deltas) * tuning.REBASED_SHARE > base


def compact_tail(store: Store, now: StoredVersion) -> None:
    """Write the tail as a delta, merge deltas of similar size, and write a new base if the deltas are too large."""
    old = store.manifest
    deltas = [_PendingDelta(run) for run in old.deltas]
    if store.tail is not None:
        deltas.append(_PendingDelta(FactRun(old.version, store.version, len(store.tail), ()), store.tail))
    if _outgrown(replace(old, deltas=tuple(d.run for d in deltas))):
        _swap(store, now, replace(old, base=_new_base(store, now), deltas=()))
        return
    merged = compact_runs(tuple(deltas), lambda parts: _merged(store, now, parts)) if deltas else ()
    _swap(store, now, replace(old, deltas=tuple(d.written(store) for d in merged)))


def compact(store: Store, now: StoredVersion, keep: int) -> None:
    """Write a new base of the newest version. Forget all older versions but the last `keep`."""
    old = store.manifest
    floor = max(old.floor, store.version - keep)
    at_floor = store.metadata_at(floor)
    _swap(store, now, replace(old, base=_new_base(store, now), deltas=(), floor=floor, at_floor=at_floor))
    sweep(store)
    store.catalog.shrink()


class _PendingDelta:
    """A delta in files, or one in memory that may have to be written."""

    def __init__(self, run: FactRun, change: Delta | None = None) -> None:
        self.run, self.change = run, change

    def __len__(self) -> int:
        return self.run.rows

    def read(self, store: Store, now: StoredVersion) -> Delta:
        return runs.read_delta(store.root, self.run, now.dictionary) if self.change is None else self.change

    def written(self, store: Store) -> FactRun:
        if self.change is None:
            return self.run
        start, to = self.run.start, self.run.to
        assert start is not None
        return runs.write_delta(store.root, store.fresh_name(to), start, to, self.change)


def _merged(store: Store, now: StoredVersion, parts: Sequence[_PendingDelta]) -> _PendingDelta:
    first, *others = parts
    if not others:
        return first
    change = first.read(store, now)
    for part in others:
        change = change.then(part.read(store, now))
    return _PendingDelta(FactRun(first.run.start, others[-1].run.to, len(change), ()), change)


def _new_base(store: Store, now: StoredVersion) -> FactRun | None:
    version = store.version
    return runs.write_base(store.root, store.fresh_name(version), version, now.E, now.I) if len(now.I) else None


def _swap(store: Store, now: StoredVersion, named: Manifest) -> None:
    """In one transaction, make `named` the manifest of the current version."""
    old = store.manifest
    new = replace(
        named, generation=old.generation + 1, version=store.version, commit=store.hash.hex(), metadata=now.metadata,
        sums=now.sums, segments=store.segments(now.dictionary),
    )  # fmt: skip
    store.sync()
    live = {e.name for e in new.files()} | _kept(store, new.floor)
    retired = ({e.name for e in old.files()} | _kept(store, old.floor)) - live
    with store.catalog.transaction() as connection:
        store.catalog.replace_manifest(connection, old, new, retired)
    store.use_manifest(new)
    store.tail, store.tail_commits = None, 0
    store.committed_terms = max(store.committed_terms, new.terms)
    if cache_name(new) and cache_name(new) != cache_name(old):
        cache.write(store.root, cache_name(new), now.dictionary, now.E, now.I, new.terms)


def _kept(store: Store, floor: int) -> set[str]:
    """The files of changes that can still be undone."""
    commits = [c for c in store.catalog.filed() if c.version.version > floor]
    return {entry.name for c in commits if c.run for entry in c.run.files}


def sweep(store: Store) -> None:
    """Remove retired files that no reader uses, and files of interrupted writes. The caller holds the lock."""
    manifest = store.catalog.manifest()
    oldest = oldest_pinned(store.root, manifest.generation)
    retired = store.catalog.retired()
    live = {e.name for e in manifest.files()} | _kept(store, manifest.floor)
    unused = {name for name, generation in retired.items() if generation < oldest}
    for name in sorted((unused | (_present(store.root) - set(retired))) - live):
        durable_files.remove(store.root / name)
    if unused:
        store.catalog.forget_retired(sorted(unused))


def _present(root: Path) -> set[str]:
    folders = (root / runs.FOLDER, root / runs.DICTIONARY_FOLDER)
    return {f"{folder.name}/{path.name}" for folder in folders if folder.is_dir() for path in folder.iterdir()}
