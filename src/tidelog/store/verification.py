"""Checks that all files are as they were written and that their sums are right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tidelog.dictionary import Dictionary
from tidelog.errors import CorruptionError, StoreError
from tidelog.store import cache, durable_files, runs
from tidelog.store.catalog import CommitRow
from tidelog.store.digest import sum_of_facts
from tidelog.store.durable_files import ADVICE
from tidelog.store.records import Commit, Manifest, Sums
from tidelog.store.store import Store, cache_name


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked, and the problems found. `ok`: there are none.

    >>> import tidelog, tempfile
    >>> with tidelog.open(tempfile.mkdtemp() + "/x.kb") as kb:
    ...     _ = kb.apply(add="p(a) .")
    ...     report = kb.verify(recompute=True)
    >>> report.ok, report.version, report.problems
    (True, 1, [])
    """

    version: int
    versions: int
    files: int
    bytes: int
    recomputed: bool
    problems: list[str]

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(store: Store) -> Verification:
    """Read the catalog and each live file again, and check the sums of the facts of the newest version."""
    problems = store.catalog.problems()
    try:
        found = _found(store)
    except StoreError as error:
        return Verification(store.version, 0, 0, 0, False, _texts([*problems, str(error)]))
    with found.files:
        entries = {e.name: e for e in (*found.manifest.files(), *found.history())}
        try:
            damaged = list(_damaged(store, list(entries.values())))
            problems += damaged
            if not damaged:
                problems += _sums(store, found)
        except StoreError as error:
            problems.append(str(error))
        name = cache_name(found.manifest)
        problems += cache.check(store.root, name) if name else []
    size = sum(e.size for e in entries.values())
    return Verification(found.version, len(found.rows), len(entries), size, False, _texts(problems))


def _texts(problems: list[str]) -> list[str]:
    return [p.removesuffix(ADVICE) for p in problems]


def examine(root: Path) -> Verification:
    """The problems of a knowledge base that is too damaged to open."""
    try:
        store = Store(root, create=False)
    except CorruptionError as error:
        return Verification(0, 0, 0, 0, False, _texts([str(error)]))
    try:
        store.version = store.catalog.head()[0]
        return verify(store)
    finally:
        store.close()


@dataclass(frozen=True, slots=True)
class _Found:
    """The newest version, and the commits that can be read. `files` keeps their files until it is closed."""

    version: int
    manifest: Manifest
    rows: list[CommitRow]
    filed: list[Commit]
    files: ExitStack

    def history(self) -> Iterator[durable_files.StoredFile]:
        """The files of older versions."""
        for commit in self.filed:
            if commit.run is not None:
                yield from commit.run.files


def _found(store: Store) -> _Found:
    """What the catalog has now, read in one transaction."""
    while True:
        with ExitStack() as stack:
            generation = stack.enter_context(store.held_files())
            with store.catalog.reading():
                version, manifest = store.newest(), store.catalog.manifest()
                rows = list(store.catalog.commits(manifest.floor, version, None))
                filed = list(store.catalog.filed())
            if manifest.generation == generation:  # else the files of a newer generation are not held
                return _Found(version, manifest, rows, filed, stack.pop_all())


def _damaged(store: Store, entries: list[durable_files.StoredFile]) -> Iterator[str]:
    for entry in entries:
        try:
            durable_files.mapped(store.root, entry)
        except StoreError as error:
            yield str(error)


def _sums(store: Store, found: _Found) -> Iterator[str]:
    """Check that the facts in files and catalog, read without the cache, have the committed sums."""
    manifest, dictionary = found.manifest, Dictionary()
    for segment in manifest.segments:
        runs.read_terms(store.root, segment, dictionary)
    E, I = store.read_base(manifest, dictionary)
    for run in manifest.deltas:
        E, I = runs.read_delta(store.root, run, dictionary).apply(E, I)
    expected, last = manifest.sums, bytes.fromhex(manifest.commit)
    for row in found.rows[manifest.version - manifest.floor :]:
        if row.link != last:
            yield str(CorruptionError(f"{store.root}: version {row.commit.version.version} does not follow the files"))
        runs.add_terms(dictionary, row.commit.start, row.commit.terms)
        E, I = store.change_of(row, dictionary).apply(E, I)
        expected, last = row.commit.sums, row.hash
    if Sums(sum_of_facts(E), sum_of_facts(I)) != expected:
        yield str(CorruptionError(f"{store.root}: the facts of version {found.version} are not those committed"))
