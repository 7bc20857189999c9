"""The store: open a directory, read the newest version, commit the next one, read an older one.

A commit writes its files, syncs them, and then names them in one SQLite transaction. Small changes are rows of the
catalog and need no file. The changes after the manifest are the *tail*; `compaction` writes it to files.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.engines.local.facts import LocalFacts
from tidelog.errors import CorruptionError, LockedError, StoreError, UsageError
from tidelog.store import cache, delta, durable_files, runs
from tidelog.store.catalog import FILE, Catalog, CommitRow
from tidelog.store.delta import Delta
from tidelog.store.durable_files import Pin, WriterLock
from tidelog.store.records import Commit, FactRun, Manifest, Metadata, Segment, Sums, Version

_FOLDERS = (runs.FOLDER, runs.DICTIONARY_FOLDER, cache.FOLDER, "pins")
_REPORTED = "acknowledged"  # the last version that was reported to a caller; never ahead of the catalog
_OURS = {*_FOLDERS, "lock", _REPORTED, FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal"}
_TRIES = 1000
_PATIENCE = 100  # twentieths of a second to wait while another process creates the knowledge base


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version that was read from disk."""

    dictionary: Dictionary
    E: LocalFacts
    I: LocalFacts
    metadata: Metadata
    sums: Sums
    version: int


class Store:
    """A knowledge base in a directory."""

    def __init__(self, root: Path, *, create: bool = True) -> None:
        """Open the knowledge base at `root`. With `create`, make a new one if there is none."""
        self.root = root
        self.lock = WriterLock(root)
        _check_place(root)
        if not (root / FILE).exists() or self._interrupted():
            if not create:
                raise StoreError(f"{root}: there is no knowledge base here. Make one with `tidelog init {root}`")
            self._create()
        self.catalog = Catalog(root, writable=False)
        self.catalog.check_format()
        self._pin: Pin | None = None
        self.manifest = Manifest()
        self.hash = b""
        self.version = 0
        self.committed_terms = 0
        self.tail: Delta | None = None
        self.tail_commits = 0

    def close(self) -> None:
        """Release the lock and the files."""
        self.catalog.close()
        self.lock.release()
        if self._pin is not None:
            self._pin.release()

    def _interrupted(self) -> bool:
        """Whether creating the knowledge base was interrupted before its first commit."""
        catalog = Catalog(self.root, writable=False)
        try:
            return catalog.is_new()
        finally:
            catalog.close()

    def _create(self) -> None:
        with durable_files.explained(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        for _ in range(_PATIENCE):
            try:
                self.lock.acquire()
                break
            except LockedError:  # another process is creating it now
                time.sleep(0.05)
                if (self.root / FILE).exists() and not self._interrupted():
                    return
        self.lock.acquire()
        catalog = Catalog(self.root, writable=True)
        try:
            with durable_files.explained(self.root):
                for folder in _FOLDERS:
                    (self.root / folder).mkdir(exist_ok=True)
            if catalog.is_new():
                catalog.create(uuid.uuid4().hex)
            durable_files.sync(self.root)
            durable_files.sync(self.root.absolute().parent)
        finally:
            catalog.close()
            self.lock.release()

    # Reading

    def newest(self) -> int:
        """The newest committed version, of any process."""
        reported = durable_files.read_number(self.root / _REPORTED)
        version, _ = self.catalog.head()
        if version < reported:
            raise CorruptionError(
                f"{self.root}: version {reported} was committed, but the catalog ends at {version}: its log is "
                f"damaged or was removed{durable_files.ADVICE}"
            )
        return version

    def read(self, known: Dictionary | None = None) -> StoredVersion:
        """Read the newest version. If `known` has exactly the terms of this version, they are not read again."""
        manifest, rows = self._pinned(None)
        self.tail, self.tail_commits = None, 0
        self.version, self.hash = manifest.version, bytes.fromhex(manifest.commit)
        start = self._read_manifest(manifest, None if rows else known)
        self.committed_terms = manifest.terms
        self._add_terms(start.dictionary, rows)
        return self._replay(start, manifest, rows)

    def _add_terms(self, dictionary: Dictionary, rows: Sequence[CommitRow]) -> None:
        """Add the terms of commits. No other thread may add terms meanwhile."""
        for row in rows:
            runs.add_terms(dictionary, row.commit.start, row.commit.terms)
            self.committed_terms = max(self.committed_terms, row.commit.start + len(row.commit.terms))

    def refresh_from(self, now: StoredVersion) -> StoredVersion:
        """The newest version, computed from `now`, the last version read. Reads only what has changed."""
        manifest, rows = self._pinned(self.version)
        if manifest.floor > self.version:
            return self.read()
        with now.dictionary.alone():
            if len(now.dictionary) != self.committed_terms:
                return self.read()  # terms known only to this process may have ids that mean other terms on disk
            for segment in manifest.segments:
                if segment.stop > len(now.dictionary):
                    runs.read_terms(self.root, segment, now.dictionary)
            self.committed_terms = max(self.committed_terms, manifest.terms)
            self._add_terms(now.dictionary, rows)
        if manifest.generation != self.manifest.generation:
            self.tail, self.tail_commits = None, 0
        return self._replay(now, manifest, rows)

    def _replay(self, start: StoredVersion, manifest: Manifest, rows: Sequence[CommitRow]) -> StoredVersion:
        """Apply the commits in `rows` to a version. Commits after the manifest form the tail."""
        dictionary, E, I = start.dictionary, start.E, start.I
        metadata, sums, tail, count, hash_ = start.metadata, start.sums, self.tail, self.tail_commits, self.hash
        for row in rows:
            change = self.change_of(row, dictionary)
            E, I = change.apply(E, I)
            if row.commit.version.version > manifest.version:
                tail, count = change if tail is None else tail.then(change), count + 1
            metadata, sums, hash_ = row.commit.metadata or metadata, row.commit.sums, row.hash
        self.manifest, self.hash, self.tail, self.tail_commits = manifest, hash_, tail, count
        self.version = start.version + len(rows)
        return StoredVersion(dictionary, E, I, metadata, sums, self.version)

    def _pinned(self, since: int | None) -> tuple[Manifest, list[CommitRow]]:
        """Lock the newest manifest's files and return it with the commits after it.

        The manifest is checked to be still the newest after its files were locked. With `since`, the commits start
        after that version, unless they are forgotten.
        """
        for _ in range(_TRIES):
            with self.catalog.reading():
                version, manifest = self.newest(), self.catalog.manifest()
                after, hash_ = manifest.version, bytes.fromhex(manifest.commit)
                if since is not None and since >= manifest.floor:
                    after, hash_ = since, self.hash
                rows = list(self.catalog.commits(after, version, hash_))
            if self._pin is not None and manifest.generation == self.manifest.generation:
                return manifest, rows
            pin = Pin(self.root, manifest.generation)
            if manifest.generation == self.catalog.generation():
                if self._pin is not None:
                    self._pin.release()
                self._pin = pin
                return manifest, rows
            pin.release()
        raise StoreError(f"{self.root} changes too quickly to be read; try again")

    def _read_manifest(self, manifest: Manifest, known: Dictionary | None) -> StoredVersion:
        name = cache_name(manifest)
        if known is not None and len(known) != manifest.terms:
            known = None
        held = cache.read(self.root, name) if name and known is None else None
        if held is None or len(held[0]) > manifest.terms:
            dictionary = Dictionary() if known is None else known
            for segment in manifest.segments if known is None else ():
                runs.read_terms(self.root, segment, dictionary)
            E, I = self.read_base(manifest, dictionary)
            if name:
                cache.write(self.root, name, dictionary, E, I, manifest.terms)
        else:
            dictionary, E, I = held
            for segment in manifest.segments:
                if segment.stop > len(dictionary):
                    runs.read_terms(self.root, segment, dictionary)
        for run in manifest.deltas:
            E, I = runs.read_delta(self.root, run, dictionary).apply(E, I)
        return StoredVersion(dictionary, E, I, manifest.metadata, manifest.sums, manifest.version)

    def read_base(self, manifest: Manifest, dictionary: Dictionary) -> tuple[LocalFacts, LocalFacts]:
        if manifest.base is None:
            return LocalFacts(dictionary, {}), LocalFacts(dictionary, {})
        return runs.read_base(self.root, manifest.base, dictionary)

    def change_of(self, row: CommitRow, dictionary: Dictionary) -> Delta:
        if row.delta is not None:
            return delta.decode(dictionary, row.delta)
        assert row.commit.run is not None
        return runs.read_delta(self.root, row.commit.run, dictionary)

    # Older versions. Any thread may read them while another one writes.

    def versions(self, newest: int) -> list[Version]:
        """The versions up to `newest` that can still be read, oldest first."""
        with self.catalog.reading():
            floor = self.catalog.manifest().floor
            return [row.commit.version for row in self.catalog.commits(min(floor, newest), newest, None)]

    def commits_between(self, older: int, newer: int) -> list[CommitRow]:
        """The commits after a version, up to a newer one."""
        newest = self.version  # read first: the catalog may then be newer, never older
        with self.catalog.reading():
            floor = self.catalog.manifest().floor
            for version in (older, newer):
                self._check_readable(version, floor, newest)
            return list(self.catalog.commits(older, newer, None))

    def between(self, older: int, newer: int, dictionary: Dictionary) -> Delta:
        """The change from one version to a newer one."""
        with self.held_files():
            rows = self.commits_between(older, newer)
            nothing = LocalFacts(dictionary, {})
            changes = (self.change_of(row, dictionary) for row in rows)
            return reduce(Delta.then, changes, Delta(nothing, nothing, nothing, nothing))

    def _check_readable(self, version: int, floor: int, newest: int) -> None:
        if not floor <= version <= newest:
            raise UsageError(f"there is no version {version} of {self.root}: versions {floor} to {newest} can be read")

    @contextmanager
    def held_files(self) -> Iterator[int]:
        """In this block no file of the newest generation is removed, not even by this process. Yields its number."""
        for _ in range(_TRIES):
            generation = self.catalog.generation()
            pin = Pin(self.root, generation)
            try:
                if generation == self.catalog.generation():
                    yield generation
                    return
            finally:
                pin.release()
        raise StoreError(f"{self.root} changes too quickly to be read; try again")

    def metadata_at(self, version: int) -> Metadata:
        """The rules, prefixes and settings of a version."""
        newest = self.version
        with self.catalog.reading():
            manifest = self.catalog.manifest()
            self._check_readable(version, manifest.floor, newest)
            commits = [row.commit for row in self.catalog.commits(manifest.floor, version, None)]
        return next((c.metadata for c in reversed(commits) if c.metadata), manifest.at_floor)

    # Writing

    def start_writing(self) -> bool:
        """Become the one writer, or raise LockedError. Returns whether the disk is ahead of what was read.

        Another process may have committed, or a commit of this process that seemed to fail may have been made.
        """
        if not self.lock.held:
            self.lock.acquire()
            self.catalog.reopen(writable=True)
        return (self.newest(), self.catalog.generation()) != (self.version, self.manifest.generation)

    def commit(self, commit: Commit, change: Delta, after: StoredVersion) -> None:
        """Make a version durable; nothing of it is visible if this raises."""
        stop = len(after.dictionary)
        start = self.committed_terms
        if len(change) <= tuning.CATALOG_ROWS and stop - start <= tuning.CATALOG_ROWS:
            small = replace(commit, start=start, terms=tuple(map(after.dictionary.decode, range(start, stop))))
            self._append(small, delta.encode(change), None, set())
            self.tail = change if self.tail is None else self.tail.then(change)
            self.tail_commits += 1
        else:
            self._commit_files(commit, change, after)
            self.tail, self.tail_commits = None, 0
            stop = self.manifest.terms  # more than before, if another thread has just added terms
        self.version, self.committed_terms = commit.version.version, stop
        durable_files.write_number(self.root / _REPORTED, self.version)

    def _commit_files(self, commit: Commit, change: Delta, after: StoredVersion) -> None:
        """Commit a large change: write its files and those of the tail before it."""
        version = commit.version.version
        name = self.fresh_name(version)
        if self.needs_full_snapshot:
            run = runs.write_base(self.root, name, version, after.E, after.I)
        else:
            run = runs.write_delta(self.root, name, version - 1, version, change)
        self._name_files(commit, run, self.segments(after.dictionary), after.metadata, after.sums)
        if run.start is None and cache_name(self.manifest):
            cache.write(self.root, cache_name(self.manifest), after.dictionary, after.E, after.I, self.manifest.terms)

    @property
    def needs_full_snapshot(self) -> bool:
        """Whether the next files must hold all facts instead of the change: true if nothing is stored yet."""
        return not self.manifest.runs and self.tail is None

    def commit_written(
        self, commit: Commit, run: FactRun, segments: Sequence[Segment], metadata: Metadata, sums: Sums
    ) -> None:
        """Commit a version whose files are written: a base if `needs_full_snapshot`, else a change; and new segments.

        This does not load the version into the process; call `read`.
        """
        self._name_files(commit, run, (*self.manifest.segments, *segments), metadata, sums)
        self.tail, self.tail_commits = None, 0
        self.version, self.committed_terms = commit.version.version, self.manifest.terms
        durable_files.write_number(self.root / _REPORTED, self.version)

    def _name_files(
        self, commit: Commit, run: FactRun, segments: tuple[Segment, ...], metadata: Metadata, sums: Sums
    ) -> None:
        """In one transaction, name the files of a version and of the tail before it, in a new manifest."""
        old, version = self.manifest, commit.version.version
        deltas = list(old.deltas)
        if self.tail is not None:
            deltas.append(
                runs.write_delta(self.root, self.fresh_name(self.version), old.version, self.version, self.tail)
            )
        base = run if run.start is None else old.base
        new = replace(
            old, generation=old.generation + 1, version=version, base=base, metadata=metadata, segments=segments,
            deltas=tuple(deltas) if base is run else (*deltas, run), sums=sums,
        )  # fmt: skip
        self.sync()
        replaced = {e.name for e in old.files()} - {e.name for e in new.files()}
        self._append(replace(commit, start=old.terms, run=run), None, new, replaced)

    def segments(self, dictionary: Dictionary) -> tuple[Segment, ...]:
        """The segments of all terms. Writes one for new terms, merged with older ones that are not much larger."""
        kept, start, stop = list(self.manifest.segments), self.manifest.terms, len(dictionary)
        if start == stop:
            return self.manifest.segments
        while kept and kept[-1].stop - kept[-1].start < 2 * (stop - start):
            start = kept.pop().start
        return (*kept, runs.write_terms(self.root, self.fresh_name(start), dictionary, start, stop))

    def sync(self) -> None:
        """Make the names of new files durable."""
        durable_files.sync(self.root / runs.FOLDER)
        durable_files.sync(self.root / runs.DICTIONARY_FOLDER)

    def fresh_name(self, number: int) -> str:
        """A name that no earlier attempt can have used."""
        return f"{number:08d}-{uuid.uuid4().hex[:12]}"

    def _append(self, commit: Commit, data: bytes | None, manifest: Manifest | None, retired: set[str]) -> None:
        """Commit in one transaction. If it fails at the very end, the catalog says whether it was made after all."""
        hash_: bytes | None = None
        try:
            with self.catalog.transaction() as connection:
                hash_ = self.catalog.append(connection, commit, data, self.hash)
                if manifest is not None:
                    manifest = replace(manifest, commit=hash_.hex())
                    self.catalog.replace_manifest(connection, self.manifest, manifest, retired)
        except StoreError:
            if hash_ is None or not self._was_made(hash_):
                raise
        self.hash = hash_
        if manifest is not None:
            self.use_manifest(manifest)

    def _was_made(self, hash_: bytes) -> bool:
        try:
            return self.catalog.has(hash_)
        except StoreError:
            return False

    def use_manifest(self, manifest: Manifest) -> None:
        """Continue from a manifest that this process has just committed."""
        self.manifest = manifest
        if self._pin is not None:
            self._pin.release()
        self._pin = Pin(self.root, manifest.generation)


def cache_name(manifest: Manifest) -> str:
    """The name of the cache of the base, made from one of its files; "" if there is no base."""
    if manifest.base is None or not manifest.base.parts:
        return ""
    first = manifest.base.parts[0].file
    return f"{Path(first.name).stem}-{first.checksum:08x}"


def _check_place(root: Path) -> None:
    """Raise an error if `root` is not a knowledge base and cannot become one."""
    if root.exists() and not root.is_dir():
        raise StoreError(f"{root} is a file; a knowledge base is a directory. Give another path")
    if root.is_dir() and not (root / FILE).exists():
        foreign = sorted(set(os.listdir(root)) - _OURS)
        if foreign:
            raise StoreError(f"{root} is no knowledge base: it holds {foreign[0]}. Give the path of one, or a new path")
        folders = (root / runs.FOLDER, root / runs.DICTIONARY_FOLDER)
        if any(folder.is_dir() and any(folder.iterdir()) for folder in folders):
            raise CorruptionError(f"{root / FILE} is missing{durable_files.ADVICE}")
