"""Checks that all files are as they were written and that their sums are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tidelog.dictionary import Dictionary
from tidelog.errors import CorruptionError, StoreError
from tidelog.store import cache, durable_files, runs
from tidelog.store.digest import sum_of_facts
from tidelog.store.durable_files import ADVICE
from tidelog.store.records import Manifest, Sums
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
    manifest, versions = store.manifest, 0
    try:
        store.newest()
        with store.catalog.reading():
            manifest = store.catalog.manifest()
            versions = len(list(store.catalog.commits(manifest.floor, store.version, None)))
        entries = {e.name: e for e in (*manifest.files(), *_history(store))}
        damaged = list(_damaged(store, list(entries.values())))
        problems += damaged
        if not damaged:
            problems += _sums(store, manifest)
    except StoreError as error:
        problems.append(str(error))
        entries = {}
    problems += cache.check(store.root, cache_name(manifest)) if cache_name(manifest) else []
    size = sum(e.size for e in entries.values())
    return Verification(store.version, versions, len(entries), size, False, [p.removesuffix(ADVICE) for p in problems])


def examine(root: Path) -> Verification:
    """The problems of a knowledge base that is too damaged to open."""
    try:
        store = Store(root, create=False)
    except CorruptionError as error:
        return Verification(0, 0, 0, 0, False, [str(error).removesuffix(ADVICE)])
    try:
        store.version = store.catalog.head()[0]
        return verify(store)
    finally:
        store.close()


def _history(store: Store) -> Iterator[durable_files.StoredFile]:
    for commit in store.catalog.filed():
        if commit.run is not None:
            yield from commit.run.files


def _damaged(store: Store, entries: list[durable_files.StoredFile]) -> Iterator[str]:
    for entry in entries:
        try:
            durable_files.mapped(store.root, entry)
        except StoreError as error:
            yield str(error)


def _sums(store: Store, manifest: Manifest) -> Iterator[str]:
    """Check that the facts in files and catalog, read without the cache, have the committed sums."""
    dictionary = Dictionary()
    for segment in manifest.segments:
        runs.read_terms(store.root, segment, dictionary)
    E, I = store.read_base(manifest, dictionary)
    for run in manifest.deltas:
        E, I = runs.read_delta(store.root, run, dictionary).apply(E, I)
    expected = manifest.sums
    for row in store.catalog.commits(manifest.version, store.version, bytes.fromhex(manifest.commit)):
        runs.add_terms(dictionary, row.commit.start, row.commit.terms)
        E, I = store.change_of(row, dictionary).apply(E, I)
        expected = row.commit.sums
    if Sums(sum_of_facts(E), sum_of_facts(I)) != expected:
        yield str(CorruptionError(f"{store.root}: the facts of version {store.version} are not those committed"))
