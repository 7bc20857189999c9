"""Export by executors: each writes parts of the relations, straight from the knowledge base on shared storage.

What one process writes as a file becomes a directory of parts with the same name. Parts have names that no other
attempt uses, and all of it is written aside: the driver removes parts that no task reported, and names the directory
when it is whole. A Delta table gets its parts by one commit.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from tidelog import formats, tuning
from tidelog.engines.spark.cluster.cluster import Cluster, Message, SparkCluster, Stage
from tidelog.engines.spark.cluster.session import session
from tidelog.engines.spark.dataframes.columns import RowSlice, rows, slices
from tidelog.engines.spark.dataframes.frames import ShownFacts, view
from tidelog.errors import UsageError
from tidelog.model.terms import RULESET, TRIPLE, column_names
from tidelog.queries.datalog import Kind
from tidelog.queries.export import (
    DELTA,
    SUCCESS,
    Exported,
    check_free,
    delta_paths,
    delta_tables,
    folder_aside,
    format_of_export,
    is_one,
    make_parent,
)

FORMATS = ("ntriples", "nquads", "csv", "tsv", "parquet", DELTA)
_PREDICATE = 1  # the column


@dataclass(frozen=True, slots=True)
class ExportSource:
    """What is exported: a version of a knowledge base, and which of its facts."""

    path: str
    version: int
    kind: Kind

    def shown(self, relation: str) -> ShownFacts:
        return view(self.path, self.version).facts(relation, self.kind)


@dataclass(frozen=True, slots=True)
class ExportTask:
    """What one task writes: a slice of a relation into a directory."""

    relation: str
    columns: Sequence[str]
    folder: str
    mark: str  # of all attempts to write it
    slice: RowSlice

    def fresh_file(self, ending: str) -> Path:
        """A file that no other attempt writes."""
        return Path(self.folder, f"{self.mark}-{uuid.uuid4().hex[:12]}{ending}")


@dataclass(frozen=True, slots=True)
class ExportedPart:
    """A part, as its task reports it."""

    relation: str
    file: str
    rows: int
    size: int
    left_out: int = 0
    partition: Mapping[str, str] | None = None


def export(
    cluster: Cluster,
    source: ExportSource,
    relations: Sequence[str] | None,
    out: Path,
    format: str | None,
    *,
    overwrite: bool,
    partition_by: Sequence[str] = (),
) -> list[Exported]:
    """Write relations (None: all that have facts), each as a directory of parts."""
    name = format_of_export(out, format, partition_by)
    if name not in FORMATS:
        raise UsageError(f"{name} is one file, which executors cannot share; choose one of: {', '.join(FORMATS)}")
    out = out.absolute()
    check_free(out, overwrite)
    make_parent(out)
    arities = _chosen(source, relations, name)
    columns = {p: column_names(p, arity) for p, arity in arities.items() if arity}
    without = [Exported(p, 0, "", len(source.shown(p))) for p, arity in arities.items() if not arity]
    if list(partition_by) not in ([], [column_names(TRIPLE, 3)[_PREDICATE]]):
        # slices hold the triples of one predicate after the other, and of other columns too many values for files
        raise UsageError('executors partition by "predicate" only; for other columns use the local engine')
    job = _ExportJob(cluster, source, name, columns, tuple(partition_by))
    return (_export_delta if name == DELTA else _export_parts)(job, out) + without


def export_stored(
    source: ExportSource,
    relations: Sequence[str] | None,
    out: Path,
    format: str | None,
    *,
    overwrite: bool,
    partition_by: Sequence[str] = (),
    master: str | None = None,
) -> list[Exported]:
    """The same on the session that is active, or on one that is made for it."""
    with session(None, master) as spark:
        cluster = SparkCluster(spark)
        return export(cluster, source, relations, out, format, overwrite=overwrite, partition_by=partition_by)


def _chosen(source: ExportSource, relations: Sequence[str] | None, name: str) -> dict[str, int]:
    """The relations to write, and how many columns they have."""
    state = view(source.path, source.version).state
    there = (p for p in sorted(state.I.arities()) if len(source.shown(p)))
    asked = list(there) if relations is None else [state.known(r) for r in relations]
    if formats.is_rdf(name):
        if TRIPLE not in asked:
            raise UsageError(f"{name} holds triples, and there are none here; choose csv, tsv, parquet or delta")
        return {TRIPLE: 3}
    return {p: state.arity(p) for p in asked if not p.startswith(RULESET)}


@dataclass(frozen=True, slots=True)
class _ExportJob:
    """One export: which relations with which columns, and what their tables are partitioned by."""

    cluster: Cluster
    source: ExportSource
    format: str
    columns: Mapping[str, Sequence[str]]
    by: tuple[str, ...]

    def run(self, folders: Mapping[str, Path]) -> list[ExportedPart]:
        """Write all relations, each into its folder; of attempts that were not reported nothing stays."""
        mark = f"part-{uuid.uuid4().hex[:12]}"
        tasks = [task for p, folder in folders.items() for task in self._tasks(p, folder, mark)]
        partitions = min(len(tasks), tuning.EXPORT_TASKS_PER_CORE * self.cluster.cores) or 1
        task = partial(_write, self.source, self.format, self.by, tasks, partitions)
        reported: set[str] = set()
        try:
            parts = [ExportedPart(**json.loads(bytes(p.payload))) for p in self.cluster.run([Stage(task, partitions)])]
            reported = {part.file for part in parts}
            return parts
        finally:
            for path in (path for folder in folders.values() for path in folder.glob(f"*{mark}*")):
                if path.name not in reported:
                    path.unlink(missing_ok=True)

    def _tasks(self, relation: str, folder: Path, mark: str) -> Iterator[ExportTask]:
        folder.mkdir(exist_ok=True)
        facts = self.source.shown(relation).facts
        cores = self.cluster.cores if len(facts) > tuning.EXPORT_ONE_TASK_ROWS else 1
        for number, each in enumerate(slices(facts, max(cores, -(-len(facts) // tuning.EXPORT_PART_ROWS)))):
            yield ExportTask(relation, self.columns[relation], str(folder), f"{mark}-{number:05d}", each)


def _export_parts(job: _ExportJob, out: Path) -> list[Exported]:
    alone = formats.is_rdf(job.format) or is_one(job.columns, out)
    names = {p: "" if alone else formats.relation_file(p, job.format) for p in job.columns}
    with folder_aside(out) as aside:
        folders = {p: aside / name for p, name in names.items()}
        parts = job.run(folders)
        for folder in folders.values():
            (folder / SUCCESS).touch()
    return [_sum(p, parts, out / name) for p, name in names.items()]


def _export_delta(job: _ExportJob, out: Path) -> list[Exported]:
    with delta_tables(job.columns, out, job.by) as tables:
        parts = job.run({table.relation: table.path for table in tables})
        for table in tables:
            own = [part for part in parts if part.relation == table.relation]
            formats.commit_delta(table, [formats.DeltaFile(w.file, w.size, w.rows, w.partition or {}) for w in own])
    return [_sum(p, parts, path) for p, path in delta_paths(job.columns, out, out).items()]


def _sum(relation: str, parts: Iterable[ExportedPart], path: Path) -> Exported:
    own = [part for part in parts if part.relation == relation]
    return Exported(relation, sum(p.rows for p in own), str(path), sum(p.left_out for p in own))


def _write(
    source: ExportSource,
    name: str,
    by: Sequence[str],
    tasks: Sequence[ExportTask],
    partitions: int,
    partition: int,
    _: Iterator[Message],
) -> Iterator[Message]:
    """The pieces of one task."""
    for task in tasks[partition::partitions]:
        for written in _parts(source, name, task, task.relation == TRIPLE and bool(by)):
            yield Message(0, "part", json.dumps(asdict(written)).encode())


def _parts(source: ExportSource, name: str, task: ExportTask, by_predicate: bool) -> Iterator[ExportedPart]:
    """One part, or one for each predicate; none if there is nothing to write."""
    shown = source.shown(task.relation)
    found = rows(shown.facts, shown.E, task.slice, shown.kind)
    for predicate, group in groupby(found, lambda some: int(some.columns[_PREDICATE][0]) if by_predicate else None):
        blocks = ([shown.facts.dictionary.decode_array(c) for c in some.columns] for some in group)
        if name != DELTA:
            yield _write_part(task, name, blocks)
        else:
            value = None if predicate is None else shown.facts.dictionary.decode(predicate)
            yield _write_delta_part(task, value, blocks)


def _write_part(task: ExportTask, name: str, blocks: Iterator[formats.TermBlock]) -> ExportedPart:
    file = task.fresh_file(formats.relation_file("", name))
    left_out = 0

    def stated() -> Iterator[formats.TermBlock]:
        nonlocal left_out
        for block in blocks:
            rdf = formats.only_rdf(block)
            left_out += len(block[0]) - len(rdf[0])
            yield rdf

    written = formats.write(file, task.relation, stated() if formats.is_rdf(name) else blocks, name)
    return ExportedPart(task.relation, file.name, written, file.stat().st_size, left_out)


def _write_delta_part(task: ExportTask, predicate: str | None, blocks: Iterator[formats.TermBlock]) -> ExportedPart:
    file = task.fresh_file(".parquet")
    names = list(task.columns)
    if predicate is not None:  # it is in the log, and not in the file
        del names[_PREDICATE]
        blocks = ([*block[:_PREDICATE], *block[_PREDICATE + 1 :]] for block in blocks)
    written = formats.write_delta_file(file, names, blocks)
    partition = {} if predicate is None else {task.columns[_PREDICATE]: predicate}
    return ExportedPart(task.relation, file.name, written, file.stat().st_size, partition=partition)
