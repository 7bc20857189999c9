"""clingo's grounder as a Datalog engine. Its facts are written beforehand in its own language, which is not timed."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter

import clingo

from bench.case import Case, Measure
from bench.dialects import clingo_fact, clingo_rules
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.syntax import RuleFile


def run(case: Case) -> Measure:
    program = parse_program(case.program_path.read_text())
    with NamedTemporaryFile("w", suffix=".lp") as file:
        file.writelines(_triples(case.data_path) if case.data else _imports(program, Path(case.folder)))
        file.write(clingo_rules(program.rules))
        file.flush()
        return _ground(Path(file.name), case)


def _ground(program: Path, case: Case) -> Measure:
    control = clingo.Control(["--warn=none"])
    start = perf_counter()
    control.load(str(program))
    control.ground([("base", [])])
    seconds = perf_counter() - start
    atoms = control.symbolic_atoms
    counts = {name: sum(1 for _ in atoms.by_signature(name, arity)) for name, arity, _ in atoms.signatures}
    return Measure({"run": seconds}, {name: counts.get(name, 0) for name in case.counted})


def _triples(path: Path) -> Iterator[str]:
    with path.open() as lines:
        for line in lines:
            yield clingo_fact("triple", line.rstrip(" .\n").split(" ", 2))


def _imports(program: RuleFile, folder: Path) -> Iterator[str]:
    for source in program.imports:
        with (folder / f"{source.predicate}.csv").open(newline="") as file:
            yield from (clingo_fact(source.predicate, row) for row in csv.reader(file))
