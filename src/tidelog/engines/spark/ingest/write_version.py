"""A version written by executors: each writes the facts of its shard, the driver commits the files they report.

Files have names that no other attempt has, and nobody reads them before the driver's one transaction has named them: a
task that runs twice, or a job that fails, leaves files behind that the next writer removes.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from tidelog.engines.local.facts import LocalFacts
from tidelog.engines.spark.cluster.cluster import Cluster, Message, Stage
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot
from tidelog.kernel.table import Table
from tidelog.store import runs
from tidelog.store.delta import Delta
from tidelog.store.digest import FactSum, sum_of_facts
from tidelog.store.records import FactRun, PredicateFile

# For each set, the piece of each shard that has facts of it.
Sets = Sequence[Sequence[str | None]]


class WrittenVersion(NamedTuple):
    """The files of a version, and the digest sums of the sets that were written."""

    run: FactRun
    sums: tuple[FactSum, ...]


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a version is written: in a store, from which version (None: all facts) to which."""

    root: str
    start: int | None
    to: int


def write_base(
    cluster: Cluster,
    root: Path,
    version: int,
    E: Sequence[str | None],
    I: Sequence[str | None],
    terms: DictionarySnapshot,
) -> WrittenVersion:
    """All facts; the sums are those of E and I."""
    return _write(cluster, _Target(str(root), None, version), (E, I), terms)


def write_change(
    cluster: Cluster, root: Path, start: int, version: int, sets: Sets, terms: DictionarySnapshot
) -> WrittenVersion:
    """What changed: explicit facts gained and lost, facts gained and lost; a sum for each."""
    return _write(cluster, _Target(str(root), start, version), sets, terms)


def _write(cluster: Cluster, target: _Target, sets: Sets, terms: DictionarySnapshot) -> WrittenVersion:
    shards = len(sets[0])
    sent = cluster.run([Stage(partial(_write_shard, target, sets, terms), shards)])
    reported: list[tuple[tuple[PredicateFile, ...], int, tuple[FactSum, ...]]] = [pickle.loads(p.payload) for p in sent]
    parts = tuple(part for found, _, _ in reported for part in found)
    run = FactRun(target.start, target.to, sum(rows for _, rows, _ in reported), parts)
    sums = (sums for _, _, sums in reported)
    return WrittenVersion(run, reduce(lambda a, b: tuple(x.plus(y) for x, y in zip(a, b, strict=True)), sums))


def _write_shard(
    target: _Target, sets: Sets, terms: DictionarySnapshot, partition: int, arrived: Iterator[Message]
) -> Iterator[Message]:
    facts = [_facts(paths[partition], terms) for paths in sets]
    root, name = Path(target.root), f"{target.to:08d}-{partition}-{uuid4().hex[:12]}"
    if target.start is None:
        E, I = facts
        run = runs.write_base(root, name, target.to, E, I)
        explicit = sum_of_facts(E)
        sums = [explicit, explicit.plus(sum_of_facts(I - E))]
    else:
        run = runs.write_delta(root, name, target.start, target.to, Delta(*facts))
        sums = [sum_of_facts(some) for some in facts]
    yield Message(0, "", pickle.dumps((run.parts, run.rows, tuple(sums))))


def _facts(path: str | None, terms: DictionarySnapshot) -> LocalFacts:
    if path is None:
        return LocalFacts(terms.open(), {})
    shard_file = shard_files.read(path)
    found = {relation: shard_file.run(relation) for relation in shard_file.counts()}
    return LocalFacts(terms.open(), {relation: Table((run,)) for relation, run in found.items() if run is not None})
