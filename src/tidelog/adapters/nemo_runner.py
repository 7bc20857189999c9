"""Run a program as Nemo does: import, reason, write the exports.

Import paths are relative to the program's folder, export paths to the output folder. As in Nemo, bodies that are
cartesian products are run (with a warning), and existing files are replaced only with `overwrite`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidelog import formats
from tidelog.algebra.engine import Work
from tidelog.changes.inputs import read_program
from tidelog.changes.request import no_progress
from tidelog.errors import InputError, RuleError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.queries.answers import Answers
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.syntax import Export, Rule, RuleFile

OUT = Path("results")


@dataclass(frozen=True, slots=True)
class ExportedPredicate:
    """A predicate, its number of facts, and the file they were written to (None without an `@export`)."""

    predicate: str
    facts: int
    file: str | None


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a program. `explicit` and `derived` are numbers of facts; `work` counts the operations.

    `knowledge_base` is open for further queries and changes. The caller closes it.
    """

    written: list[ExportedPredicate]
    explicit: int
    derived: int
    seconds: float
    work: Work
    warnings: list[str]
    answers: Answers | None
    knowledge_base: KnowledgeBase


def run(
    path: Path,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    query: str | None = None,
    progress: Callable[[str], None] = no_progress,
) -> RunResult:
    """Run the program in a file, and answer a query over all its facts.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.rls").write_text("p(1) . q(?x) :- p(?x) . @export q :- csv{} .")
    >>> result = run(folder / "a.rls", out=folder)
    >>> result.derived, (folder / "q.csv").read_text()
    (1, '1\\n')
    """
    program = read_program(path)
    targets = _targets(program.exports, OUT if out is None else out, overwrite)
    kb = KnowledgeBase(allow_cartesian=True)
    progress(f"reasoning over {path.name}")
    change = kb.load(path)
    answers = kb.query(query) if query else None  # before exports are written: the query may be wrong
    written = list(_write_exports(kb, program.exports, targets, progress)) or _counts(kb, program.rules)
    explicit = len(kb.all_facts("explicit"))
    return RunResult(
        written=written,
        explicit=explicit,
        derived=len(kb.all_facts()) - explicit,
        seconds=change.seconds,
        work=change.work,
        warnings=list(_warnings(program)),
        answers=answers,
        knowledge_base=kb,
    )


def _targets(exports: Sequence[Export], folder: Path, overwrite: bool) -> list[Path]:
    """The files to write. Checked to be distinct and free before any work is done."""
    targets = [formats.export_path(export, folder) for export in exports]
    for i, target in enumerate(targets):
        if target in targets[:i]:
            raise InputError(f"two exports write to {target}; give them different resources", exports[i].location)
        if target.exists() and not overwrite:
            raise InputError(f"{target} is already there; choose another --out, or replace it with --overwrite")
    return targets


def _write_exports(
    kb: KnowledgeBase, exports: Sequence[Export], targets: Sequence[Path], progress: Callable[[str], None]
) -> Iterator[ExportedPredicate]:
    for export, target in zip(exports, targets, strict=True):
        progress(f"writing {target}")
        target.parent.mkdir(parents=True, exist_ok=True)
        blocks = kb.facts(export.predicate).term_blocks()
        rows = formats.write(target, export.predicate, blocks, export.format, export.parameters)
        yield ExportedPredicate(export.predicate, rows, str(target))


def _counts(kb: KnowledgeBase, rules: Sequence[Rule]) -> list[ExportedPredicate]:
    """The number of derived facts by predicate, for a program without exports."""
    predicates = dict.fromkeys(head.predicate for rule in rules for head in rule.heads)
    return [ExportedPredicate(predicate, len(kb.facts(predicate)), None) for predicate in predicates]


def _warnings(program: RuleFile) -> Iterator[str]:
    if not program.exports:
        yield "the program has no @export, so nothing was written"
    for rule in program.rules:
        try:
            check_rules([rule])
        except RuleError as error:  # the program ran, so the only remaining objection is the cartesian product
            yield str(error)
