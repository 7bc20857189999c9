"""From files and DataFrames to encoded, sorted shards, in two jobs of two stages each.

    parse   splits  ──terms by bucket──>  encode     terms that the dictionary has not got are given ids
    route   codes become ids  ──rows──>   sort       every shard is sorted, without duplicates, and written

Only the driver knows where the ids of a bucket start, so it stands between the two. What tasks write is in files with
names of their own, reported when a task is done; what a lost attempt has left is removed with the rest at the end.
"""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import numpy as np

from tidelog.dictionary import Dictionary
from tidelog.dictionary.dictionary import MAX_TERMS
from tidelog.engines.local.relations import Relation
from tidelog.engines.spark.cluster import Cluster, Feed, Parcel, Stage
from tidelog.engines.spark.pieces import Written
from tidelog.engines.spark.terms import Shipped, ship
from tidelog.errors import InputError, LimitError, UsageError
from tidelog.formats import written_aside
from tidelog.inputs import FrameSource, Input
from tidelog.pipeline.clock import elapsed
from tidelog.pipeline.number import new_terms, number
from tidelog.pipeline.parse import BAD_LINES, FAIL, FAILED, QUARANTINE, Parsing, parse_rows, parse_splits
from tidelog.pipeline.sections import BUCKETS
from tidelog.pipeline.shards import Routing, gather, route
from tidelog.pipeline.sources import readings
from tidelog.pipeline.splits import plan

Progress = Callable[[str], None]
_FOR_ONE = 512 << 20  # bytes of input for each task that gives ids, at most as long as there are buckets
_ROUTED = 1 << 20  # rows for each task that sends rows home, about


@dataclass(frozen=True, slots=True)
class NewTerms:
    """A file of new terms: their ids are `start`, `start + 1`, …"""

    path: str
    start: int
    count: int


@dataclass
class Ingested:
    """What became of an input: for each shard a piece, the new terms, and what there is to tell."""

    pieces: list[Written]
    terms: list[NewTerms]
    arities: dict[str, int]
    directory: Path  # with the files of new terms
    bad: int  # lines that were left out
    examples: list[str]  # of these, as errors
    seconds: dict[str, float]  # by stage

    @property
    def counts(self) -> dict[Relation, int]:
        counts: dict[Relation, int] = {}
        for piece in self.pieces:
            for relation, count in piece.counts.items():
                counts[relation] = counts.get(relation, 0) + count
        return counts

    def __len__(self) -> int:
        return sum(self.counts.values())

    def close(self) -> None:
        """Remove the files of new terms. The pieces stay."""
        shutil.rmtree(self.directory, ignore_errors=True)


def ingest(
    cluster: Cluster,
    source: Input,
    dictionary: Dictionary,
    scratch: Path,
    shards: int,
    *,
    arities: Mapping[str, int] | None = None,
    shipped: Shipped | None = None,
    bad_lines: str = FAIL,
    quarantine: Path | None = None,
    progress: Progress | None = None,
    split_size: int | None = None,
) -> Ingested:
    """The facts of an input. Nothing is changed: `append_terms` adds the new terms to the dictionary.

    `arities` are those that predicates have elsewhere; `shipped` is the dictionary, if tasks have it already.
    """
    if bad_lines not in BAD_LINES:
        raise UsageError(f"unknown bad_lines={bad_lines!r}; choose one of: {', '.join(BAD_LINES)}")
    if (bad_lines == QUARANTINE) != (quarantine is not None):
        raise UsageError("name a file for bad lines with bad_lines='quarantine', and only then")
    directory = scratch / f"ingest-{uuid4().hex}"
    directory.mkdir(parents=True)
    try:
        if shipped is None and len(dictionary):
            shipped = ship(dictionary, directory)
        job = _Job(cluster, directory, progress or (lambda _: None))
        encoded = job.encode(source, shipped, len(dictionary), bad_lines, split_size)
        encoded.check_arities(dict(arities or {}))
        if quarantine is not None:
            encoded.quarantine(quarantine)
        return job.shard(encoded, [f.predicate for f in source.facts if not f.args], scratch, shards)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def append_terms(dictionary: Dictionary, ingested: Ingested) -> None:
    """Add the new terms to the dictionary, which must be as it was."""
    for terms in ingested.terms:
        assert len(dictionary) == terms.start, "the dictionary has changed"
        for texts in new_terms(terms.path):
            dictionary.encode_many(texts)
        assert len(dictionary) == terms.start + terms.count


@dataclass
class _Encoded:
    """What the first job has reported: sections (key, file, relations), ids, bad lines."""

    sections: list[tuple[str, str, list[tuple[str, int, int]]]]
    answers: tuple[str, ...]
    first_ids: list[int]
    terms: list[NewTerms]
    total: int
    bad: list[tuple[int, list[str], str]]
    seconds: dict[str, float]
    arities: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, reports: list[Any], known: int) -> _Encoded:
        """From the reports of the tasks that gave ids, in the order of their buckets."""
        counts = [count for r in reports for count in r["counts"]]
        first_ids = (known + np.cumsum([0, *counts])).tolist()
        terms = [NewTerms(r["terms"], first_ids[r["low"]], sum(r["counts"])) for r in reports]
        parsed = sorted((p for r in reports for p in r["reports"]), key=lambda p: p["origin"])
        return cls(
            [section for p in parsed for section in p["sections"]],
            tuple(r["answers"] for r in reports),
            first_ids[:-1],
            terms,
            first_ids[-1],
            [p["bad"] for p in parsed if p["bad"]],
            {"parse": elapsed(p["clock"] for p in parsed), "encode": elapsed(r["clock"] for r in reports)},
        )

    def check_arities(self, arities: dict[str, int]) -> None:
        for _, _, relations in self.sections:
            for predicate, found, _ in relations:
                expected = arities.setdefault(predicate, found)
                if found != expected:
                    raise InputError(
                        f"{predicate} has {expected} arguments elsewhere, but this data gives it {found} columns"
                    )
        self.arities = arities

    def quarantine(self, path: Path) -> None:
        """All bad lines in one file, in the order of the input."""
        with written_aside(path) as target:
            for _, _, part in self.bad:
                with open(part, "rb") as lines:
                    shutil.copyfileobj(lines, target)

    def tasks(self) -> list[list[tuple[str, str]]]:
        """The sections of each task that sends rows home."""
        tasks: list[list[tuple[str, str]]] = [[]]
        rows = 0
        for key, path, relations in self.sections:
            if rows >= _ROUTED:
                tasks.append([])
                rows = 0
            tasks[-1].append((key, path))
            rows += sum(count for _, _, count in relations)
        return tasks


class _Job:
    """The two jobs."""

    def __init__(self, cluster: Cluster, directory: Path, progress: Progress) -> None:
        self.cluster, self.directory, self.progress = cluster, directory, progress

    def encode(
        self, source: Input, shipped: Shipped | None, known: int, bad_lines: str, split_size: int | None
    ) -> _Encoded:
        files = readings(source, self.directory)
        tasks = plan(files, self.cluster.cores, split_size) or [[]]
        numberers = min(BUCKETS, max(self.cluster.cores, sum(f.size for f in files) // _FOR_ONE))
        parsing = Parsing(str(self.directory), numberers, bad_lines)
        frames = [batches for batches in source.batches if isinstance(batches, FrameSource)]
        feeds = [
            Feed(cast(Any, f.frame), partial(parse_rows, parsing, f.predicate, i)) for i, f in enumerate(frames, 1)
        ]
        stages = [
            Stage(partial(parse_splits, parsing, tasks), len(tasks)),
            Stage(partial(number, parsing, shipped), numberers),
        ]
        self.progress("parse")
        encoded = _Encoded.of(sorted(_reports(self.cluster.run(stages, feeds)), key=lambda r: r["low"]), known)
        if encoded.total > MAX_TERMS:
            raise LimitError(f"the dictionary is full: {encoded.total:,} terms, at most {MAX_TERMS:,} are possible")
        return encoded

    def shard(self, encoded: _Encoded, without_arguments: Sequence[str], scratch: Path, shards: int) -> Ingested:
        routing = Routing(encoded.answers, np.array(encoded.first_ids, dtype=np.int64), encoded.total, shards)
        tasks = encoded.tasks()
        stages = [
            Stage(partial(route, routing, tasks), len(tasks)),
            Stage(partial(gather, str(scratch), sorted(set(without_arguments))), shards),
        ]
        self.progress("sort")
        parcels = sorted(self.cluster.run(stages), key=lambda parcel: parcel.target)
        reports = list(_reports(parcels))
        spells = [s for r in reports for s in r["clocks"][0]], [r["clocks"][1] for r in reports]
        seconds = {**encoded.seconds, "route": elapsed(spells[0]), "sort": elapsed(spells[1])}
        pieces = [Written(r["path"], {(p, split): count for p, split, count in r["counts"]}) for r in reports]
        self._clean(encoded)
        bad = sum(count for count, _, _ in encoded.bad)
        examples = [example for _, some, _ in encoded.bad for example in some]
        return Ingested(pieces, encoded.terms, encoded.arities, self.directory, bad, examples, seconds)

    def _clean(self, encoded: _Encoded) -> None:
        """Keep only the files of new terms."""
        kept = {terms.path for terms in encoded.terms}
        for path in self.directory.iterdir():
            if str(path) not in kept:
                path.unlink()


def _reports(parcels: Sequence[Parcel]) -> Iterator[Any]:
    """What the last stage of a job tells. Of several errors the first in the order of the input is raised."""
    failed = [pickle.loads(parcel.payload) for parcel in parcels if parcel.tag == FAILED]
    if failed:
        raise min(failed, key=lambda f: f[0])[1]
    return (json.loads(bytes(parcel.payload)) for parcel in parcels)
