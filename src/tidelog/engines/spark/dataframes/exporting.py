"""Export by executors: each reads the knowledge base on shared storage and writes parts of the relations.

The local engine writes a file; Spark writes a directory with the same name that contains parts. Each attempt uses new
names, in a temporary directory. The driver removes parts that no task reported, and renames the directory when it is
complete. A Delta table gets its parts by one commit.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from tidelog.model.terms import TRIPLE, column_names, is_helper
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
    """The version of a knowledge base to export, and the kind of facts."""

    path: str
    version: int
    kind: Kind

    def shown(self, relation: str) -> ShownFacts:
        return view(self.path, self.version).facts(relation, self.kind)


@dataclass(frozen=True, slots=True)
class ExportTask:
    """A slice of a relation, and the directory to write it to."""

    relation: str
    columns: Sequence[str]
    folder: str
    mark: str  # the file names of all attempts start with it
    slice: RowSlice

    def fresh_file(self, ending: str) -> Path:
        """A file name that no other attempt uses."""
        return Path(self.folder, f"{self.mark}-{uuid.uuid4().hex[:12]}{ending}")


@dataclass(frozen=True, slots=True)
class ExportedPart:
    """The report of a task about a part."""

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
    """Write relations (None: all with facts), each as a directory of parts."""
    name = format_of_export(out, format, partition_by)
    if name not in FORMATS:
        raise UsageError(f"{name} is one file, which executors cannot share; choose one of: {', '.join(FORMATS)}")
    out = out.absolute()
    check_free(out, overwrite)
    make_parent(out)
    arities = _chosen(source, relations, name)
    state = view(source.path, source.version).state
    columns = {p: state.columns_of(p, arity) for p, arity in arities.items() if arity}
    without = [Exported(p, 0, "", len(source.shown(p))) for p, arity in arities.items() if not arity]
    if list(partition_by) not in ([], [column_names(TRIPLE, 3)[_PREDICATE]]):
        # A slice holds the triples of one predicate after the other. Other columns have too many values for files.
        raise UsageError('executors partition by "predicate" only; for other columns use the local engine')
    job = _ExportJob(cluster, source, name, columns, tuple(partition_by))
    return (_export_delta if name == DELTA else _export_parts)(job, out) + without


@contextmanager
def spark_cluster(master: str | None) -> Iterator[Cluster]:
    """Yield a cluster on the active session, or on one that is started for it."""
    with session(None, master) as spark:
        yield SparkCluster(spark)


def _chosen(source: ExportSource, relations: Sequence[str] | None, name: str) -> dict[str, int]:
    """The relations to write, and their numbers of columns."""
    state = view(source.path, source.version).state
    existing = (p for p in sorted(state.I.arities()) if not is_helper(p) and len(source.shown(p)))
    asked = list(existing) if relations is None else [state.known(r) for r in relations]
    if formats.is_rdf(name):
        if TRIPLE not in asked:
            raise UsageError(f"{name} holds triples, and there are none here; choose csv, tsv, parquet or delta")
        return {TRIPLE: 3}
    return {p: state.arity(p) for p in asked}


@dataclass(frozen=True, slots=True)
class _ExportJob:
    """One export: the relations with their columns, and the columns that partition the tables (`by`)."""

    cluster: Cluster
    source: ExportSource
    format: str
    columns: Mapping[str, Sequence[str]]
    by: tuple[str, ...]

    def run(self, folders: Mapping[str, Path]) -> list[ExportedPart]:
        """Write each relation into its folder, and remove the files of attempts that were not reported."""
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
    """Write the parts of one task, and report them."""
    for task in tasks[partition::partitions]:
        for written in _parts(source, name, task, task.relation == TRIPLE and bool(by)):
            yield Message(0, "part", json.dumps(asdict(written)).encode())


def _parts(source: ExportSource, name: str, task: ExportTask, by_predicate: bool) -> Iterator[ExportedPart]:
    """Write one part, or one for each predicate. Without rows, write none."""
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
    if predicate is not None:  # the Delta log has the value, so the file must not
        del names[_PREDICATE]
        blocks = ([*block[:_PREDICATE], *block[_PREDICATE + 1 :]] for block in blocks)
    written = formats.write_delta_file(file, names, blocks)
    partition = {} if predicate is None else {task.columns[_PREDICATE]: predicate}
    return ExportedPart(task.relation, file.name, written, file.stat().st_size, partition=partition)
