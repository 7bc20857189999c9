"""Copies of a knowledge base that may be in use.

The files of runs and terms never change, so a copy has hard links to them where the file system allows it. SQLite's own
backup copies the catalog. Everything is put into a folder with another name, the catalog last, and then renamed: what
an interrupted copy leaves cannot be opened.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tidelog.errors import StoreError
from tidelog.store import durable_files, runs
from tidelog.store.catalog import FILE, Catalog
from tidelog.store.durable_files import StoredFile
from tidelog.store.store import Store

_FOLDERS = (runs.FOLDER, runs.DICTIONARY_FOLDER)
_UNFINISHED = "catalog.part"


def back_up(store: Store, target: Path) -> int:
    """Copy the newest version and its past to a path that does not exist. Returns the version."""
    if os.path.lexists(target):
        raise StoreError(f"{target} exists already; give the copy a path of its own")
    aside = target.absolute().with_name(f".{target.name}.{os.getpid()}.part")
    with durable_files.explained(target):
        shutil.rmtree(aside, ignore_errors=True)
        try:
            for folder in _FOLDERS:
                (aside / folder).mkdir(parents=True)
            version = _copy(store, aside)
            _sync(aside / _UNFINISHED)
            for folder in (*_FOLDERS, "."):
                durable_files.sync(aside / folder)
            (aside / _UNFINISHED).rename(aside / FILE)
            durable_files.sync(aside)
            aside.rename(target)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        durable_files.sync(target.absolute().parent)
    return version


def _copy(store: Store, aside: Path) -> int:
    """Copy the catalog and link the files that it names. Returns the version."""
    while True:
        with store.held_files() as generation:
            store.catalog.copy(aside / _UNFINISHED)
            with closing(Catalog(aside, file=_UNFINISHED)) as copy:
                if copy.generation() != generation:  # the files of a newer generation are not held
                    continue
                for entry in _files(copy):
                    _link(store.root / entry.name, aside / entry.name)
                return copy.head()[0]


def _files(catalog: Catalog) -> Iterator[StoredFile]:
    """Every file that a version of the catalog needs, once."""
    entries = {entry.name: entry for entry in catalog.manifest().files()}
    for commit in catalog.filed():
        entries |= {entry.name: entry for entry in (commit.run.files if commit.run is not None else ())}
    return iter(entries.values())


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
        _sync(target)


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
