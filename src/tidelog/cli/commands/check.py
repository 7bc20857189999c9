"""`tidelog check`: read a program and say whether it would run, and in which order; no data are read."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.output import print_json

if TYPE_CHECKING:
    from tidelog.rules.analysis.strata import Stratum
    from tidelog.rules.syntax import Program


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("program", type=Path, metavar="FILE.rls")


def run(options: Namespace) -> int:
    from tidelog.changes.inputs import read_program
    from tidelog.rules.analysis.safety import check_arity, check_rules
    from tidelog.rules.analysis.strata import stratify

    program = read_program(options.program)
    check_arity(program.facts, check_rules(program.rules))
    strata = stratify(program.rules)
    (_print_json if options.json else _print)(program, strata)
    return 0


def _print(program: Program, strata: list[Stratum]) -> None:
    from tidelog.rules.printer import format_rule

    for number, stratum in enumerate(strata, 1):
        print(f"stratum {number}{', recursive' if stratum.recursive else ''}")
        print("\n".join(f"  {format_rule(rule, program.prefixes)}" for rule in stratum.rules))
    counts = f"{len(program.rules)} rules in {len(strata)} strata, {len(program.facts)} facts"
    print(f"{counts}: no problem found")


def _print_json(program: Program, strata: list[Stratum]) -> None:
    described = [{"recursive": s.recursive, "rules": [str(rule) for rule in s.rules]} for s in strata]
    print_json({"facts": len(program.facts), "rules": len(program.rules), "strata": described})
