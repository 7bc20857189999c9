"""Write a version by executors: each writes the facts of its shard, and the driver commits the files they report.

Each attempt uses new file names, and no process reads a file before the driver's transaction has committed its name. A
task that runs twice, or a job that fails, leaves files behind; the next writer removes them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from tidelog.engines.spark.cluster.cluster import Cluster, Message, Stage
from tidelog.engines.spark.sharded import shard_files
from tidelog.engines.spark.sharded.worker_dictionary import DictionarySnapshot
from tidelog.store import runs
from tidelog.store.delta import Delta
from tidelog.store.digest import FactSum, sum_of_facts
from tidelog.store.records import FactRun, PredicateFile

Sets = Sequence[Sequence[str | None]]  # for each set, the file of each shard


class WrittenVersion(NamedTuple):
    """The files of a version, and the digest sums of the sets that were written."""

    run: FactRun
    sums: tuple[FactSum, ...]


def write_version(
    cluster: Cluster, root: Path, start: int | None, version: int, sets: Sets, terms: DictionarySnapshot
) -> WrittenVersion:
    """Write sets of facts, and return the files and the digest sum of each set.

    If `start` is None, the sets are E and I. Else they are the differences from version `start`: explicit facts added
    and removed, then all facts added and removed.
    """
    task, shards = partial(_write_shard, root, start, version, sets, terms), len(sets[0])
    sent = cluster.run([Stage(task, shards)])
    reported: list[tuple[tuple[PredicateFile, ...], int, tuple[FactSum, ...]]] = [pickle.loads(p.payload) for p in sent]
    parts = tuple(part for found, _, _ in reported for part in found)
    run = FactRun(start, version, sum(rows for _, rows, _ in reported), parts)
    sums = (sums for _, _, sums in reported)
    return WrittenVersion(run, reduce(lambda a, b: tuple(x.plus(y) for x, y in zip(a, b, strict=True)), sums))


def _write_shard(
    root: Path,
    start: int | None,
    version: int,
    sets: Sets,
    terms: DictionarySnapshot,
    partition: int,
    _: Iterator[Message],
) -> Iterator[Message]:
    facts = [shard_files.read_facts(paths[partition], terms.open()) for paths in sets]
    name = f"{version:08d}-{partition}-{uuid4().hex[:12]}"
    if start is None:
        E, I = facts
        run = runs.write_base(root, name, version, E, I)
        explicit = sum_of_facts(E)
        sums = [explicit, explicit.plus(sum_of_facts(I - E))]
    else:
        run = runs.write_delta(root, name, start, version, Delta(*facts))
        sums = [sum_of_facts(some) for some in facts]
    yield Message(0, "", pickle.dumps((run.parts, run.rows, tuple(sums))))
