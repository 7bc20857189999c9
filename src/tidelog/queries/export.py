"""Facts to files: RDF formats take the triples, tables take every relation.

Files are written under a temporary name and renamed when they are complete. If an export fails or is killed, the old
files are still there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from tidelog import formats
from tidelog.errors import InputError, UsageError
from tidelog.model.terms import TRIPLE
from tidelog.queries.answers import Answers

Relations = Mapping[str, Answers]

DELTA = "delta"
SUCCESS = "_SUCCESS"  # Spark's marker file for a complete directory of part files


@dataclass(frozen=True, slots=True)
class Exported:
    """One written relation: the number of facts and the file. `left_out`: how many facts the format cannot express.

    RDF cannot express triples with a literal as subject, which rules may derive. Tables cannot express facts without
    arguments.

    >>> import tidelog, tempfile
    >>> kb = tidelog.open()
    >>> _ = kb.apply(add='[ann, name, "Ann"] .', add_rules="[?y, of, ?x] :- [?x, name, ?y] .")
    >>> [(w.predicate, w.facts, w.left_out) for w in kb.export(tempfile.mkdtemp() + "/out.nt")]
    [('triple', 1, 1)]
    """

    predicate: str
    facts: int
    file: str
    left_out: int = 0


def export(
    relations: Relations,
    out: Path,
    format: str | None,
    *,
    overwrite: bool,
    partition_by: Sequence[str] = (),
    prefixes: Mapping[str, str] | None = None,
    header: bool = False,
) -> list[Exported]:
    """Write relations. By default the name of `out` decides the format.

    Turtle uses the `prefixes`. With `header`, CSV and TSV files start with the names of the columns.
    """
    name = format_of_export(out, format, partition_by)
    check_free(out, overwrite)
    if formats.is_rdf(name):
        return [_write_triples(_triples(relations, name), out, name, prefixes)]
    tables = {p: answers for p, answers in relations.items() if answers.names}
    without = [Exported(p, 0, "", len(answers)) for p, answers in relations.items() if not answers.names]
    if name == DELTA:
        return _write_delta(tables, out, partition_by) + without
    if not is_one(tables, out):
        return _write_folder(tables, out, name, header) + without
    make_parent(out)
    rows = [_write_table(out, p, answers, name, header) for p, answers in tables.items()]
    return [Exported(p, n, str(out)) for p, n in zip(tables, rows, strict=True)] + without


def format_of_export(out: Path, format: str | None, partition_by: Sequence[str]) -> str:
    """The name of the format. Raises UsageError if `partition_by` is given for another format than Delta."""
    if DELTA in (format, out.suffix.removeprefix(".") if format is None else None):
        formats.check_delta()
        return DELTA
    if partition_by:
        raise UsageError('only Delta tables are partitioned (format="delta")')
    return formats.format_name(out, format)


def is_one(relations: Collection[str], out: Path) -> bool:
    """Whether `out` is a file or table with a single relation. Otherwise it is a folder with one for each relation."""
    return len(relations) == 1 and (formats.is_known(out) or out.suffix == f".{DELTA}")


def check_free(out: Path, overwrite: bool) -> None:
    """Raise InputError if `out` exists, unless `overwrite` is given and `out` holds only files of an export."""
    if not out.exists():
        return
    if not overwrite:
        raise InputError(f"{out} is already there; choose another name, or replace it (--overwrite, overwrite=True)")
    if out.is_dir() and not formats.is_delta(out):
        for path in out.iterdir():
            if not _is_exported(path):
                raise InputError(f"{out} is not replaced: it holds {path.name}, which no export wrote")


def _is_exported(path: Path) -> bool:
    """Whether `path` looks like a file, a directory of part files or a Delta table that an export wrote."""
    if path.is_dir():
        return formats.is_delta(path) or (path / SUCCESS).exists()
    return formats.is_known(path) or path.name == SUCCESS


def _triples(relations: Relations, name: str) -> Answers:
    if TRIPLE in relations:
        return relations[TRIPLE]
    there = f"only {', '.join(sorted(relations))}" if relations else "nothing at all"
    raise UsageError(f"{name} holds triples, and there are none here, {there}; choose csv, tsv, parquet or delta")


def _write_triples(triples: Answers, out: Path, name: str, prefixes: Mapping[str, str] | None) -> Exported:
    left_out = 0

    def stated() -> Iterator[formats.TermBlock]:
        nonlocal left_out
        for block in triples.term_blocks():
            rdf = formats.only_rdf(block)
            left_out += len(block[0]) - len(rdf[0])
            yield rdf

    if out.is_dir():
        raise InputError(f"{out} is a directory, and {name} is one file; give the name of a file")
    make_parent(out)
    written = formats.write(out, TRIPLE, stated(), name, prefixes=prefixes)
    return Exported(TRIPLE, written, str(out), left_out)


def _write_table(file: Path, predicate: str, answers: Answers, name: str, header: bool) -> int:
    names = answers.names if header or name == "parquet" else ()
    return formats.write(file, predicate, answers.term_blocks(), name, names=names)


def _write_folder(relations: Relations, out: Path, name: str, header: bool) -> list[Exported]:
    """Write one file for each relation, in a folder that appears when all files are complete."""
    make_parent(out)
    written = []
    with folder_aside(out) as folder:
        for predicate, answers in relations.items():
            file = formats.relation_file(predicate, name)
            rows = _write_table(folder / file, predicate, answers, name, header)
            written.append(Exported(predicate, rows, str(out / file)))
    return written


def _write_delta(relations: Relations, out: Path, partition_by: Sequence[str]) -> list[Exported]:
    columns = {p: answers.names for p, answers in relations.items()}
    with delta_tables(columns, out, partition_by) as tables:
        rows = [formats.write_delta(table, relations[table.relation].term_blocks()) for table in tables]
    paths = delta_paths(relations, out, out)
    return [Exported(p, n, str(paths[p])) for p, n in zip(relations, rows, strict=True)]


@contextmanager
def delta_tables(
    columns: Mapping[str, Sequence[str]], out: Path, partition_by: Sequence[str]
) -> Iterator[list[formats.DeltaTarget]]:
    """Yield the tables to write. New tables are written aside; existing tables get a new version."""
    by = _partitions(columns, partition_by)
    make_parent(out)
    with folder_aside(out) if not out.exists() else nullcontext(out) as folder:
        paths = delta_paths(columns, out, folder)
        if folder is out:
            _check_tables(out, paths.values(), alone=is_one(columns, out))
        yield [formats.DeltaTarget(paths[p], p, names, by[p]) for p, names in columns.items()]


def _partitions(columns: Mapping[str, Sequence[str]], wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The partition columns of each relation: `wanted` if it has all of these columns, else none."""
    by = {p: tuple(wanted) if set(wanted) <= set(names) else () for p, names in columns.items()}
    if wanted and not any(by.values()):
        raise UsageError(f"no relation has the columns to partition by: {', '.join(wanted)}")
    return by


def delta_paths(relations: Collection[str], out: Path, folder: Path) -> dict[str, Path]:
    """The path of the table of each relation in `folder`, which is `out` or is renamed to `out` later."""
    alone = is_one(relations, out)
    return {p: folder if alone else folder / formats.table_name(p) for p in relations}


def _check_tables(out: Path, tables: Iterable[Path], *, alone: bool) -> None:
    """Raise InputError if `out` holds anything but the Delta tables of the relations that are written now."""
    there = {out} if alone else set(out.iterdir())
    for path in sorted(there - {t for t in tables if formats.is_delta(t)}):
        raise InputError(f"{path} is in the way: it is no Delta table of a relation that is written now; remove it")


def make_parent(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{out}: cannot be written: {out.parent} is a file") from None
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def folder_aside(out: Path) -> Iterator[Path]:
    aside = _beside(out, "part")
    try:
        aside.mkdir()
        yield aside
        _put_in_place(aside, out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, out: Path) -> None:
    """Rename `aside` to `out`. If `out` exists, rename that first, because a rename cannot replace a full folder."""
    if not out.exists():
        aside.rename(out)
        return
    old = _beside(out, "old")
    out.rename(old)
    try:
        aside.rename(out)
    except OSError:
        old.rename(out)
        raise
    if old.is_dir():
        shutil.rmtree(old)
    else:
        old.unlink()


def _beside(out: Path, ending: str) -> Path:
    return out.with_name(f".{out.name}.{os.getpid()}.{ending}")
