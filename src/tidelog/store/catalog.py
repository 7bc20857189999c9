"""The SQLite database. It alone decides which files and versions are live.

    about       format and identity of the knowledge base, and its newest version
    commits     one row for each version: its record, its change if small, and a hash that includes the row before
    manifests   one row: the live files
    retired     files that no manifest names any more, and the last generation that named them

SQLite does not detect a flipped bit in a page, so every row has a hash of its content. The chain of hashes and the
newest version in `about` reveal a missing row.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from tidelog.errors import CorruptionError, LockedError, StoreError, UsageError
from tidelog.store.connections import Connections
from tidelog.store.durable_files import ADVICE
from tidelog.store.records import Commit, Manifest, commit_from_json, manifest_from_json, to_json

FORMAT = 1
FILE = "catalog.sqlite"
_PATIENCE = 10.0  # seconds to wait for the lock of another process

_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (version INTEGER PRIMARY KEY, record BLOB NOT NULL, delta BLOB, hash BLOB NOT NULL);
CREATE TABLE manifests (generation INTEGER PRIMARY KEY, record BLOB NOT NULL, hash BLOB NOT NULL);
CREATE TABLE retired (file TEXT PRIMARY KEY, generation INTEGER NOT NULL) WITHOUT ROWID;
"""


class CommitRow(NamedTuple):
    """A commit, and its change if that is stored in the row."""

    commit: Commit
    delta: bytes | None
    hash: bytes
    link: bytes  # the hash of the previous row


class Catalog:
    """The tables of one knowledge base. Connections are opened when they are first needed."""

    def __init__(self, root: Path, *, writable: bool = False, file: str = FILE) -> None:
        self._path = root / file
        self._writable = writable
        self._is_closed = False
        self._connections = Connections(lambda: _connect(self._path, self._writable))

    def close(self) -> None:
        """Close the connections. The catalog cannot be used afterwards."""
        self._is_closed = True
        self._connections.close()

    def reopen(self, *, writable: bool) -> None:
        """Close the connections; the next use opens a new one."""
        self._writable = writable
        self._connections.close()

    @contextmanager
    def _explained(self) -> Iterator[sqlite3.Connection]:
        """Turn errors of SQLite into errors of tidelog. The connection is not used again after one."""
        if self._is_closed:
            raise UsageError(f"{self._path.parent} is closed; open it again")
        try:
            with self._connections.borrowed() as connection:
                try:
                    yield connection
                except (sqlite3.Error, UnicodeDecodeError, OverflowError):
                    self._connections.failed()
                    raise
        except sqlite3.Error as error:
            raise _explanation(error, self._path) from error
        except (UnicodeDecodeError, OverflowError) as error:  # raised by sqlite3 for damaged text
            raise CorruptionError(f"{self._path} is damaged: {error}{ADVICE}") from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction. It is durable when the block ends, and rolled back if the block raises."""
        with self._explained() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A read transaction: all reads in the block see one state."""
        with self._explained() as connection:
            connection.execute("BEGIN")
            try:
                yield
            finally:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):  # it has already failed
                        connection.execute("COMMIT")

    def create(self, identity: str) -> None:
        """Create the tables of a new knowledge base, at version 0."""
        with self.transaction() as connection:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            _say(connection, "format", FORMAT)
            _say(connection, "identity", identity)
            _say(connection, "head", [0, ""])
            _put_manifest(connection, Manifest())

    def is_new(self) -> bool:
        """Whether the database is still empty, because creating it was interrupted."""
        with self._explained() as connection:
            return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))

    def check_format(self) -> None:
        found = self._about("format")
        if found != FORMAT:
            raise StoreError(
                f"{self._path.parent} has format {found}, and this version of tidelog reads format {FORMAT}. "
                "Use a newer tidelog, or export it with the one that wrote it"
            )

    def _about(self, name: str) -> Any:
        with self._explained() as connection:
            row = connection.execute("SELECT value, hash FROM about WHERE name = ?", (name,)).fetchone()
        if row is None or row[1] != _hash(name.encode(), str(row[0]).encode()):
            raise CorruptionError(f"{self._path} is damaged: its entry {name!r} is missing or wrong{ADVICE}")
        return json.loads(row[0])

    def identity(self) -> str:
        return str(self._about("identity"))

    def head(self) -> tuple[int, bytes]:
        """The newest version and the hash of its commit."""
        version, hash_ = self._about("head")
        return version, bytes.fromhex(hash_)

    def generation(self) -> int:
        return self._manifest_row()[0]

    def manifest(self) -> Manifest:
        generation, record, hash_ = self._manifest_row()
        if hash_ != _hash(b"manifest", _bytes(record)):
            raise CorruptionError(f"{self._path} is damaged: its list of files is wrong{ADVICE}")
        manifest = manifest_from_json(record)
        if manifest.generation != generation:
            raise CorruptionError(f"{self._path} is damaged: generation {generation} is wrong{ADVICE}")
        return manifest

    def _manifest_row(self) -> tuple[int, Any, Any]:
        """The generation, the record and its hash, read at once: a writer may replace the row at any moment."""
        with self._explained() as connection:
            rows = connection.execute("SELECT generation, record, hash FROM manifests").fetchall()
        if len(rows) != 1 or not isinstance(rows[0][0], int):
            raise CorruptionError(f"{self._path} is damaged: it has {len(rows)} manifests, not one whole one{ADVICE}")
        generation, record, hash_ = rows[0]
        return generation, record, hash_

    def commits(self, after: int, upto: int, previous: bytes | None) -> Iterator[CommitRow]:
        """Yield the commits of versions `after` + 1 to `upto`. `previous` is the hash of commit `after`, if known."""
        with self._explained() as connection:
            query = (
                "SELECT version, record, delta, hash FROM commits WHERE version > ? AND version <= ? ORDER BY version"
            )
            rows = connection.execute(query, (after, upto)).fetchall()
        expected = after
        for values in rows:
            expected += 1
            if values[0] != expected:
                break
            row = self._checked(*values)
            if previous is not None and row.link != previous:
                raise CorruptionError(f"{self._path} is damaged: version {expected} is not as it was written{ADVICE}")
            previous = row.hash
            yield row
        else:
            expected += 1
        if expected != upto + 1:
            raise CorruptionError(f"{self._path} is damaged: version {expected} is missing{ADVICE}")

    def _checked(self, version: int, record: object, delta: object, hash_: object) -> CommitRow:
        """The row, after its hash was checked."""
        stored, link = _bytes(hash_)[:16], _bytes(hash_)[16:]
        whole = isinstance(record, bytes) and (delta is None or (isinstance(delta, bytes) and delta != b""))
        if not whole or stored != _hash(link, _bytes(record), _bytes(delta)):
            raise CorruptionError(f"{self._path} is damaged: version {version} is not as it was written{ADVICE}")
        commit = commit_from_json(_bytes(record))
        if commit.version.version != version:
            raise CorruptionError(f"{self._path} is damaged: version {version} is another one{ADVICE}")
        return CommitRow(commit, None if delta is None else _bytes(delta), stored, link)

    def append(self, connection: sqlite3.Connection, commit: Commit, delta: bytes | None, previous: bytes) -> bytes:
        """Add a commit to the chain and return its hash."""
        record, version = to_json(commit), commit.version.version
        hash_ = _hash(previous, record, delta or b"")
        connection.execute("INSERT INTO commits VALUES (?, ?, ?, ?)", (version, record, delta, hash_ + previous))
        _say(connection, "head", [version, hash_.hex()])
        return hash_

    def replace_manifest(self, connection: sqlite3.Connection, old: Manifest, new: Manifest, retired: set[str]) -> None:
        """Make `new` the manifest; delete commits up to its floor, and record the retired files."""
        connection.execute("DELETE FROM manifests")
        _put_manifest(connection, new)
        connection.execute("DELETE FROM commits WHERE version <= ?", (new.floor,))
        rows = [(name, old.generation) for name in sorted(retired)]
        connection.executemany("INSERT OR REPLACE INTO retired VALUES (?, ?)", rows)

    def retired(self) -> dict[str, int]:
        with self._explained() as connection:
            rows = connection.execute("SELECT file, generation FROM retired").fetchall()
        return {file: generation for file, generation in rows if isinstance(generation, int)}

    def forget_retired(self, names: list[str]) -> None:
        with self.transaction() as connection:
            connection.executemany("DELETE FROM retired WHERE file = ?", [(n,) for n in names])

    def filed(self) -> Iterator[Commit]:
        """The commits whose change is stored in files."""
        with self._explained() as connection:
            query = "SELECT version, record, delta, hash FROM commits WHERE delta IS NULL ORDER BY version"
            rows = connection.execute(query).fetchall()
        return (self._checked(*values).commit for values in rows)

    def has(self, hash_: bytes) -> bool:
        """Whether the newest version has this hash and is certainly on disk."""
        with self._explained() as connection:
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
        return busy == 0 and self.head()[1] == hash_

    def problems(self) -> list[str]:
        """The problems that SQLite itself finds in the database."""
        with self._explained() as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else [f"{self._path}: {text}" for text in found]

    def copy(self, path: Path) -> None:
        """Write what is committed now to a new database."""
        path.unlink(missing_ok=True)
        with self._explained() as connection, closing(sqlite3.connect(path)) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file is all of it

    def shrink(self) -> None:
        """Return the space of deleted rows to the file system."""
        with self._explained() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _connect(path: Path, writable: bool) -> sqlite3.Connection:
    address = path.absolute().as_uri()
    try:
        connection = _settings(sqlite3.connect(f"{address}?mode={'rwc' if writable else 'rw'}", **_HOW), writable)
    except sqlite3.OperationalError:
        if writable:
            raise
        # A read-only directory. Without a log file, the database file is complete.
        alone = "&immutable=1" if not path.with_name(path.name + "-wal").exists() else ""
        connection = _settings(sqlite3.connect(f"{address}?mode=ro{alone}", **_HOW), False)
    return connection


_HOW: dict[str, Any] = {"uri": True, "isolation_level": None, "timeout": _PATIENCE, "check_same_thread": False}


def _settings(connection: sqlite3.Connection, writable: bool) -> sqlite3.Connection:
    try:
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        else:
            connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _explanation(error: sqlite3.Error, path: Path) -> StoreError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return LockedError(f"{path} is busy: {text}. Try again")
    if isinstance(error, sqlite3.OperationalError) and not any(w in text for w in ("no such", "malformed")):
        return StoreError(f"{path}: {text}. Nothing was changed; make room or mend the disk, then try again")
    return CorruptionError(f"{path} is damaged: {text}{ADVICE}")


def _say(connection: sqlite3.Connection, name: str, value: object) -> None:
    text = json.dumps(value)
    row = (name, text, _hash(name.encode(), text.encode()))
    connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?, ?)", row)


def _put_manifest(connection: sqlite3.Connection, manifest: Manifest) -> None:
    record = to_json(manifest)
    row = (manifest.generation, record, _hash(b"manifest", record))
    connection.execute("INSERT INTO manifests VALUES (?, ?, ?)", row)


def _hash(*parts: bytes) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def _bytes(value: object) -> bytes:
    """The value if it is a blob, else b"", which never has the right hash."""
    return value if isinstance(value, bytes) else b""
