"""A store in fifty lines to try the fault sweeps on: sound, or with one deliberate defect that a sweep must find.

A version is a file written aside, synced, renamed and then named with its checksum in a SQLite transaction.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.store.subject import Operation, State


class RefusalError(Exception):
    """The stand-in's typed error."""


@dataclass
class Session:
    path: Path
    catalog: sqlite3.Connection


@dataclass(frozen=True)
class StandIn:
    """`defect` names the one thing it does wrong."""

    defect: str = ""
    refusal: type[Exception] = RefusalError

    @property
    def operations(self) -> Mapping[str, Operation]:
        return {"commit": Operation(lambda session, _: self.commit(session, 7), self._first)}

    def _first(self, path: Path) -> None:
        session = self.open(path)
        self.commit(session, 1)
        self.close(session)

    def open(self, path: Path) -> Session:
        try:
            path.mkdir(exist_ok=True)
            catalog = sqlite3.connect(path / "catalog.sqlite", isolation_level=None)
            catalog.execute("pragma journal_mode = wal")
            catalog.execute(f"pragma synchronous = {'off' if self.defect == 'catalog not synced' else 'full'}")
            catalog.execute("create table if not exists version (name text, checksum text)")
            _sync(path.parent)
        except (sqlite3.Error, OSError) as error:
            raise RefusalError(str(error)) from error
        return Session(path, catalog)

    def close(self, session: Session) -> None:
        session.catalog.close()

    def commit(self, session: Session, number: int) -> None:
        try:
            self._commit(session, str(number) * 3000)
        except (sqlite3.Error, OSError) as error:
            if self.defect == "untyped error":
                raise
            if self.defect != "silent failure":
                raise RefusalError(str(error)) from error

    def _commit(self, session: Session, text: str) -> None:
        name = f"run{len(self._names(session))}"
        file, checksum = session.path / name, sha256(text.encode()).hexdigest()
        if self.defect == "catalog first":
            session.catalog.execute("insert into version values (?, ?)", (name, checksum))
        self._write(file.with_suffix(".new"), text)
        file.with_suffix(".new").rename(file)
        if self.defect != "folder not synced":
            _sync(session.path)
        if self.defect != "catalog first":
            session.catalog.execute("insert into version values (?, ?)", (name, checksum))

    def _write(self, file: Path, text: str) -> None:
        with file.open("w") as out:
            out.write(text)
            out.flush()
            if self.defect != "file not synced":
                os.fsync(out.fileno())

    def _names(self, session: Session) -> list[tuple[str, str]]:
        with closing(session.catalog.execute("select name, checksum from version order by rowid")) as rows:
            return rows.fetchall()

    def story(self, path: Path) -> Iterator[Session]:
        for number in (1, 2, 3):
            session = self.open(path)
            self.commit(session, number)
            yield session
            self.close(session)

    def exemplar(self, path: Path, halfway: Callable[[], object]) -> None:
        for session in self.story(path):
            if self._names(session)[2:]:
                self.close(session)
                halfway()

    @property
    def questions(self) -> Mapping[str, Callable[[Any], Any]]:
        return {"texts": lambda session: [self._read(session.path / n, c) for n, c in self._names(session)]}

    @property
    def changes(self) -> Mapping[str, Callable[[Any], Any]]:
        return {}

    def state(self, session: Session) -> State:
        try:
            texts = [self._read(session.path / name, checksum) for name, checksum in self._names(session)]
        except (sqlite3.Error, OSError) as error:
            raise RefusalError(str(error)) from error
        return [len(texts), "".join(text[:1] for text in texts)]

    def verify(self, session: Session) -> list[str]:
        return [str(row[0]) for row in session.catalog.execute("pragma integrity_check") if row != ("ok",)]

    def _read(self, file: Path, checksum: str) -> str:
        text = file.read_bytes()
        if sha256(text).hexdigest() != checksum and self.defect != "unchecked":
            raise RefusalError(f"{file.name} is damaged")
        return text.decode(errors="replace")


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
