"""`tidelog run`: run a program as Nemo would."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.output import json_value, print_json, print_rows, print_table, progress, warn

if TYPE_CHECKING:
    from tidelog.adapters.nemo_runner import RunResult


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("program", type=Path, metavar="FILE.rls", help="imports are relative to its folder")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where exports go (default: results)")
    parser.add_argument("--overwrite", action="store_true", help="replace exports that are already there")
    parser.add_argument("--query", metavar="Q", help="then print the answers of a query such as 'ancestor(ann, ?x)'")


def run(options: Namespace) -> int:
    from tidelog.adapters import nemo_runner

    with progress() as line:
        result = nemo_runner.run(
            options.program, out=options.out, overwrite=options.overwrite, query=options.query, progress=line
        )
    with result.knowledge_base:
        for message in result.warnings:
            warn(message)
        (_print_json if options.json else _print)(result)
    return 0


def _print(result: RunResult) -> None:
    if result.answers is None:
        print_table(("predicate", "facts", "file"), [(w.predicate, w.facts, w.file or "") for w in result.written])
    else:
        print_rows(result.answers, "table")


def _print_json(result: RunResult) -> None:
    report: dict[str, object] = {
        "exports": [asdict(written) for written in result.written],
        "explicit": result.explicit,
        "derived": result.derived,
        "seconds": result.seconds,
        "derivations": result.work.derivations,
        "rounds": result.work.rounds,
    }
    if result.answers is not None:
        rows = [list(map(json_value, row)) for row in result.answers]
        report["answers"] = {"variables": result.answers.names, "rows": rows}
    print_json(report)
