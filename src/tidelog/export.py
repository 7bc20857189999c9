"""Facts to files: RDF formats take the triples, tables take every relation.

Everything is written aside and named when it is whole: an export that fails or is killed leaves what was there before.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tidelog import formats
from tidelog.answers import Answers
from tidelog.errors import InputError, UsageError
from tidelog.model.vocabulary import RULESET, TRIPLE

Relations = Mapping[str, Answers]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: one relation, how many facts, where; `left_out` are facts the format cannot say.

    Those are triples with a literal as subject, which rules may derive, in RDF; and facts without arguments in tables.

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


def export(relations: Relations, out: Path, format: str | None, *, overwrite: bool) -> list[Exported]:
    """Write relations; the format is told from the name of `out` unless it is given."""
    name = formats.format_name(out, _available(format))
    _check_free(out, overwrite)
    if formats.is_rdf(name):
        return [_write_triples(_triples(relations, name), out, name)]
    tables = {p: answers for p, answers in relations.items() if answers.names and not p.startswith(RULESET)}
    without = [Exported(p, 0, "", len(answers)) for p, answers in relations.items() if not answers.names]
    if len(tables) != 1 or not formats.is_known(out):
        return _write_folder(tables, out, name) + without
    _make_parent(out)
    rows = [formats.write(out, p, answers.term_blocks(), name) for p, answers in tables.items()]
    return [Exported(p, n, str(out)) for p, n in zip(tables, rows, strict=True)] + without


def _available(format: str | None) -> str | None:
    if format == "delta":
        raise UsageError('format "delta" is not available yet; "parquet" gives the same columns, one file a relation')
    return format


def _check_free(out: Path, overwrite: bool) -> None:
    """Refuse to replace anything without being asked, and anything but an export even then."""
    if not out.exists():
        return
    if not overwrite:
        raise InputError(f"{out} is already there; choose another name, or replace it (--overwrite, overwrite=True)")
    if out.is_dir():
        for path in out.iterdir():
            if path.is_dir() or not formats.is_known(path):
                raise InputError(f"{out} is not replaced: it holds {path.name}, which no export wrote")


def _triples(relations: Relations, name: str) -> Answers:
    if TRIPLE in relations:
        return relations[TRIPLE]
    there = f"only {', '.join(sorted(relations))}" if relations else "nothing at all"
    raise UsageError(f"{name} holds triples, and there are none here, {there}; choose csv, tsv or parquet")


def _write_triples(triples: Answers, out: Path, name: str) -> Exported:
    left_out = 0

    def stated() -> Iterator[formats.Block]:
        nonlocal left_out
        for block in triples.term_blocks():
            rdf = formats.only_rdf(block)
            left_out += len(block[0]) - len(rdf[0])
            yield rdf

    if out.is_dir():
        raise InputError(f"{out} is a directory, and {name} is one file; give the name of a file")
    _make_parent(out)
    written = formats.write(out, TRIPLE, stated(), name)
    return Exported(TRIPLE, written, str(out), left_out)


def _write_folder(relations: Relations, out: Path, name: str) -> list[Exported]:
    """One file for each relation, in a folder that appears when all of them are whole."""
    _make_parent(out)
    written = []
    with _folder_aside(out) as folder:
        for predicate, answers in relations.items():
            file = formats.relation_file(predicate, name)
            rows = formats.write(folder / file, predicate, answers.term_blocks(), name)
            written.append(Exported(predicate, rows, str(out / file)))
    return written


def _make_parent(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _folder_aside(out: Path) -> Iterator[Path]:
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
    """A folder cannot be renamed onto another one that holds files: the old one steps aside first."""
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
