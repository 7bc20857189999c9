"""The records in the rows of the catalog, as JSON: versions, runs of files, and the manifest of live files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from tidelog.store.digest import FactSum
from tidelog.store.durable_files import StoredFile


@dataclass(frozen=True, slots=True)
class Version:
    """One commit: its time, its algorithm and engine, and the counts of the version.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add="p(a) .", message="the first fact")
    >>> [(v.version, v.added, v.message) for v in kb.versions()]
    [(1, 1, 'the first fact')]
    """

    version: int
    time: str  # UTC, as ISO 8601
    message: str
    algorithm: str
    engine: str
    reason: str
    seconds: float
    added: int
    removed: int
    facts: int
    explicit: int
    rules: int
    digest: str
    work: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The rules, prefixes and options of a version. Most changes do not change them."""

    rules: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


class Sums(NamedTuple):
    """The digests of the explicit facts and of all facts."""

    explicit: FactSum = FactSum()
    facts: FactSum = FactSum()


@dataclass(frozen=True, slots=True)
class PredicateFile:
    """The rows of one predicate in a file."""

    predicate: str
    arity: int
    rows: int
    file: StoredFile


@dataclass(frozen=True, slots=True)
class FactRun:
    """Files of facts: a base with all facts of version `to` (`start` is None), or the change from `start` to `to`."""

    start: int | None
    to: int
    rows: int
    parts: tuple[PredicateFile, ...]

    @property
    def files(self) -> tuple[StoredFile, ...]:
        return tuple(part.file for part in self.parts)


@dataclass(frozen=True, slots=True)
class Segment:
    """The terms with ids from `start` to `stop` - 1."""

    start: int
    stop: int
    file: StoredFile


@dataclass(frozen=True, slots=True)
class Manifest:
    """The live files. Together they hold the facts and terms of one version; later versions are rows of the catalog."""

    generation: int = 0
    version: int = 0
    commit: str = ""  # the hash of the commit that made the version
    floor: int = 0  # the oldest version that can still be read
    base: FactRun | None = None
    deltas: tuple[FactRun, ...] = ()
    segments: tuple[Segment, ...] = ()
    metadata: Metadata = Metadata()
    sums: Sums = field(default_factory=Sums)
    at_floor: Metadata = Metadata()  # of the oldest version that can still be read

    @property
    def terms(self) -> int:
        return self.segments[-1].stop if self.segments else 0

    @property
    def runs(self) -> tuple[FactRun, ...]:
        return (*((self.base,) if self.base else ()), *self.deltas)

    def files(self) -> Iterator[StoredFile]:
        for run in self.runs:
            yield from run.files
        for segment in self.segments:
            yield segment.file


@dataclass(frozen=True, slots=True)
class Commit:
    """A version; its metadata, if they changed; its new terms, with ids from `start` on; its change, if in files."""

    version: Version
    metadata: Metadata | None
    sums: Sums
    start: int
    terms: tuple[str, ...] = ()
    run: FactRun | None = None


def to_json(record: Manifest | Commit) -> bytes:
    raw = asdict(record)
    raw["settled"] = raw.pop("metadata")  # its name in the file format
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode()


def commit_from_json(text: bytes) -> Commit:
    raw = json.loads(text)
    metadata = None if raw["settled"] is None else _metadata(raw["settled"])
    version, sums = Version(**raw["version"]), _sums(raw["sums"])
    return Commit(version, metadata, sums, raw["start"], tuple(raw["terms"]), _run(raw["run"]))


def manifest_from_json(text: bytes) -> Manifest:
    raw = json.loads(text)
    raw["base"] = _run(raw["base"])
    raw["deltas"] = tuple(_run(r) for r in raw["deltas"])
    raw["segments"] = tuple(Segment(s["start"], s["stop"], StoredFile(**s["file"])) for s in raw["segments"])
    raw["metadata"], raw["at_floor"] = _metadata(raw.pop("settled")), _metadata(raw["at_floor"])
    raw["sums"] = _sums(raw["sums"])
    return Manifest(**raw)


def _run(raw: Any) -> FactRun | None:
    if raw is None:
        return None
    parts = tuple(PredicateFile(p["predicate"], p["arity"], p["rows"], StoredFile(**p["file"])) for p in raw["parts"])
    return FactRun(raw["start"], raw["to"], raw["rows"], parts)


def _metadata(raw: Any) -> Metadata:
    return Metadata(tuple(raw["rules"]), raw["prefixes"], raw["options"])


def _sums(raw: Any) -> Sums:
    return Sums(*(FactSum(*pair) for pair in raw))
