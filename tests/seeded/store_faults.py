"""Deliberate faults in the store, such as a power failure, a damaged file or another process would bring out."""

from __future__ import annotations

from tests.seeded.faults import Fault

STORE_FAULTS = (
    Fault(
        "files not synced",
        "a file is named in the catalog before its bytes are safe",
        "store/durable_files.py",
        "        os.fsync(stream.fileno())\n",
        "",
    ),
    Fault(
        "names not synced",
        "a file is named in the catalog before its own name is safe",
        "store/store.py",
        "files.sync(self.root / runs.FOLDER)",
        "pass",
    ),
    Fault(
        "commits not synced",
        "a commit is acknowledged before SQLite has synced its log",
        "store/catalog.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
    ),
    Fault(
        "files believed",
        "the checksum of a file is not compared",
        "store/durable_files.py",
        "if checksum(view) != entry.checksum:",
        "if len(view) < 0:",
    ),
    Fault(
        "rows believed",
        "the hash of a commit is not compared",
        "store/catalog.py",
        "if not whole or stored != _hash(link, _bytes(record), _bytes(delta)):",
        "if not whole:",
    ),
    Fault(
        "cache believed",
        "the checksum of a mapped array is not compared",
        "kernel/array_file.py",
        "if checksum and self._checksum(start, nbytes) != checksum[0]:",
        "if nbytes < 0:",
    ),
    Fault(
        "cache of another time",
        "a cache is not asked what it was made of",
        "store/cache.py",
        'if mapped.header.get("name") != path.name:',
        'if not mapped.header.get("name"):',
    ),
    Fault(
        "lost log unnoticed",
        "nobody remembers which version was acknowledged",
        "store/store.py",
        "if version < reported:",
        "if version < 0:",
    ),
    Fault(
        "stale writer",
        "a writer goes on from what it has read, whoever was there in between",
        "store/store.py",
        "return (self.newest(), self.catalog.generation()) != (self.version, self.manifest.generation)",
        "return False",
    ),
    Fault(
        "stale files",
        "a writer does not notice that another has compacted",
        "store/store.py",
        "return (self.newest(), self.catalog.generation()) != (self.version, self.manifest.generation)",
        "return self.newest() != self.version",
    ),
    Fault(
        "SQLite's own errors",
        "a failure of the catalog is not translated",
        "store/catalog.py",
        "except sqlite3.Error as error:\n            raise _explanation",
        "except sqlite3.ProgrammingError as error:\n            raise _explanation",
    ),
    Fault(
        "a lock for show",
        "the writer's lock is shared",
        "store/durable_files.py",
        "fcntl.LOCK_EX | fcntl.LOCK_NB)\n        except OSError:\n            holder",
        "fcntl.LOCK_SH | fcntl.LOCK_NB)\n        except OSError:\n            holder",
    ),
    Fault(
        "removed under readers",
        "files are removed while a reader still needs them",
        "store/compaction.py",
        "if generation < oldest}",
        "if generation <= oldest}",
    ),
)
