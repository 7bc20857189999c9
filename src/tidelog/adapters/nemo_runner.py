"""Run a program as Nemo does: import, reason, write the exports.

Import paths are relative to the program's folder, export paths to the output folder. As in Nemo, bodies that are
cartesian products are run (with a warning), existing files are replaced only with `overwrite`, and the rules say how
many columns an imported relation has.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidelog import formats
from tidelog.algebra.engine import Work
from tidelog.changes.inputs import Input, read_program
from tidelog.changes.progress import no_progress
from tidelog.errors import InputError, RuleError, UsageError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.addresses import output_path
from tidelog.model.terms import AGGREGATE_RULE
from tidelog.queries.answers import Answers
from tidelog.rules.analysis.safety import check_rules
from tidelog.rules.parsing.parser import parse_constant, parse_program
from tidelog.rules.syntax import Export, Import, Rule, RuleFile, all_atoms

OUT = Path("results")
STANDARD_INPUT = Path("-")


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


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run a program.

    `out` is the folder of the exports, `imports` the folder of the imports (default: that of the program).
    `parameters` are values of `@parameter` declarations, as texts of constants. `bad_lines` is "fail" or "skip".
    """

    out: Path = OUT
    imports: Path | None = None
    overwrite: bool = False
    query: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    bad_lines: str = "fail"


def run(path: Path, options: RunOptions | None = None, *, progress: Callable[[str], None] = no_progress) -> RunResult:
    """Run the program in a file (`-` is standard input), and answer the query over all its facts.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.rls").write_text("@parameter $n = 1 . p($n) . q(?x) :- p(?x) . @export q :- csv{} .")
    >>> result = run(folder / "a.rls", RunOptions(out=folder, parameters={"n": "7"}))
    >>> result.derived, (folder / "q.csv").read_text()
    (1, '7\\n')
    """
    options = options or RunOptions()
    program = read_source(path, options.parameters)
    targets = _targets(program.exports, output_path(options.out), options.overwrite)
    kb = KnowledgeBase(allow_cartesian=True)
    progress(f"reasoning over {path.name}")
    source = Input()
    folder = options.imports or (Path() if path == STANDARD_INPUT else path.parent)
    source.add_program(replace(program, imports=list(_with_columns(program))), folder)
    change = kb.load(source, bad_lines=options.bad_lines)
    answers = kb.query(options.query) if options.query else None  # before exports: the query may be wrong
    written = list(_write_exports(kb, program.exports, targets, progress)) or _counts(kb, program.rules)
    explicit = len(kb.all_facts("explicit"))
    return RunResult(
        written=written,
        explicit=explicit,
        derived=len(kb.all_facts()) - explicit,
        seconds=change.seconds,
        work=change.work,
        warnings=[*change.notes, *_warnings(program, change.bad_lines)],
        answers=answers,
        knowledge_base=kb,
    )


def read_source(path: Path, parameters: Mapping[str, str] | None = None) -> RuleFile:
    """The program in a file or on standard input (`-`). `parameters` are texts of constants, by name."""
    given = parameters or {}
    values = {name: parse_constant(text, f"--param {name}") for name, text in given.items()}
    if path == STANDARD_INPUT:
        program = parse_program(_standard_input(), "<stdin>", values)
    else:
        program = read_program(path, values)
    for name in given:
        if name not in program.parameters:
            known = ", ".join(program.parameters) or "none"
            raise UsageError(f"{path} has no `@parameter ${name}`; it declares: {known}")
    return program


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"<stdin>: cannot be read as UTF-8 text: {error}") from None


def _with_columns(program: RuleFile) -> Iterator[Import]:
    """The imports. Those of delimited text without a `format` get as many columns as the rules use."""
    atoms = [a for r in program.rules for a in all_atoms(r)]
    arities = {atom.predicate: len(atom.args) for atom in atoms}
    for each in program.imports:
        columns = arities.get(each.predicate)
        is_guessed = each.format in ("csv", "tsv", "dsv") and "format" not in each.parameters
        if columns and is_guessed:
            yield replace(each, parameters={**each.parameters, "format": ("any",) * columns})
        else:
            yield each


def _targets(exports: Sequence[Export], folder: Path, overwrite: bool) -> list[Path]:
    """The files to write. Checked to be distinct and free before any work is done."""
    targets = [_target(export, folder) for export in exports]
    for i, target in enumerate(targets):
        if target in targets[:i]:
            raise InputError(f"two exports write to {target}; give them different resources", exports[i].location)
        if target.exists() and not overwrite:
            raise InputError(f"{target} is already there; choose another --out, or replace it with --overwrite")
    return targets


def _target(export: Export, folder: Path) -> Path:
    """The file of an export. In the name of a predicate, characters with a meaning in file systems become `_`."""
    path = formats.export_path(export, folder)
    return path if "resource" in export.parameters else path.with_name(re.sub("%[0-9A-F]{2}", "_", path.name))


def _write_exports(
    kb: KnowledgeBase, exports: Sequence[Export], targets: Sequence[Path], progress: Callable[[str], None]
) -> Iterator[ExportedPredicate]:
    for export, target in zip(exports, targets, strict=True):
        progress(f"writing {target}")
        target.parent.mkdir(parents=True, exist_ok=True)
        blocks = kb.facts(export.predicate).term_blocks()
        rows = formats.write(target, export.predicate, blocks, export.format, export.parameters, kb.prefixes)
        yield ExportedPredicate(export.predicate, rows, str(target))


def _counts(kb: KnowledgeBase, rules: Sequence[Rule]) -> list[ExportedPredicate]:
    """The number of derived facts by predicate, for a program without exports."""
    heads = (head.predicate for rule in rules for head in rule.heads)
    predicates = dict.fromkeys(p for p in heads if not p.startswith(AGGREGATE_RULE))
    return [ExportedPredicate(predicate, len(kb.facts(predicate)), None) for predicate in predicates]


def _warnings(program: RuleFile, bad_lines: int) -> Iterator[str]:
    if bad_lines:
        yield f"{bad_lines:,} lines of the imported files could not be read and were skipped"
    if not program.exports:
        yield "the program has no @export, so nothing was written"
    for rule in program.rules:
        try:
            check_rules([rule])
        except RuleError as error:  # the program ran, so the only remaining objection is the cartesian product
            yield str(error)
