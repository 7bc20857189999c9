"""Commands on program files and data sets, without a knowledge base: `run`, `check` and `generate`."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.cli.output import print_json, print_rows, print_table, progress, visible, warn
from tidelog.model.addresses import output_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidelog.adapters.nemo_runner import RunResult
    from tidelog.rules.analysis.lint import LintFinding
    from tidelog.rules.analysis.strata import Stratum
    from tidelog.rules.syntax import RuleFile


def configure_run(parser: ArgumentParser) -> None:
    parser.add_argument("program", type=Path, metavar="FILE.rls", help="a program; - is standard input")
    out = "where exports go (default: results)"
    parser.add_argument("--out", "--export-dir", "-D", type=Path, metavar="DIR", default=Path("results"), help=out)
    imports = "where imported files are (default: the folder of the program)"
    parser.add_argument("--import-dir", "-I", type=Path, metavar="DIR", help=imports)
    add_parameters(parser)
    bad = "what to do with a line of an imported file that is not valid"
    parser.add_argument("--bad-lines", choices=("fail", "skip"), default="fail", help=bad)
    parser.add_argument("--overwrite", action="store_true", help="replace exports that are already there")
    parser.add_argument("--query", metavar="Q", help="then print the answers of a query such as 'ancestor(ann, ?x)'")


def add_parameters(parser: ArgumentParser) -> None:
    wanted = "the value of a parameter ($NAME) of the program, a constant such as 42 or '\"text\"'"
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=wanted)


def parameters(options: Namespace) -> dict[str, str]:
    """The values of `--param`, by name."""
    from tidelog.errors import UsageError

    found = {}
    for text in options.param:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"--param {text}: expected NAME=VALUE, such as --param limit=10")
        found[name.removeprefix("$")] = value
    return found


def run_run(options: Namespace) -> int:
    """Run a program as Nemo does."""
    from tidelog.adapters import nemo_runner

    with progress() as line:
        how = nemo_runner.RunOptions(
            options.out, options.import_dir, options.overwrite, options.query, parameters(options), options.bad_lines
        )
        result = nemo_runner.run(options.program, how, progress=line)
    with result.knowledge_base:
        for message in result.warnings:
            warn(message)
        (_run_print_json if options.json else _run_print)(result)
    return 0


def _run_print(result: RunResult) -> None:
    if result.answers is None:
        print_table(("predicate", "facts", "file"), [(w.predicate, w.facts, w.file or "") for w in result.written])
    else:
        print_rows(result.answers, "table")


def _run_print_json(result: RunResult) -> None:
    from tidelog.queries.sparql.solutions import text_of

    report: dict[str, object] = {
        "exports": [asdict(written) for written in result.written],
        "explicit": result.explicit,
        "derived": result.derived,
        "seconds": result.seconds,
        "derivations": result.work.derivations,
        "rounds": result.work.rounds,
    }
    if result.answers is not None:
        report["answers"] = json.loads(text_of(result.answers, "json"))
    print_json(report)


def configure_check(parser: ArgumentParser) -> None:
    what = "programs, which are checked together, or a knowledge base; - is standard input"
    parser.add_argument("program", type=Path, nargs="+", metavar="FILE.rls", help=what)
    add_parameters(parser)


def run_check(options: Namespace) -> int:
    """Check programs, print their rules by stratum, and list probable mistakes. Reads no data.

    The exit code is 1 if there is a mistake or a probable mistake.
    """
    from tidelog.rules.analysis.lint import lint
    from tidelog.rules.analysis.safety import check_arity, check_program, check_rules
    from tidelog.rules.analysis.strata import stratify

    program, known = _read_together(options)
    check_program(program)
    check_arity(program.facts, check_rules(program.rules))
    strata = stratify(program.rules)
    findings = [*lint(program, known), *_missing_files(program)]
    (_check_print_json if options.json else _check_print)(program, strata, findings)
    return 1 if findings else 0


def _read_together(options: Namespace) -> tuple[RuleFile, set[str]]:
    """All programs as one, with the relations of the knowledge bases among them that have facts."""
    import tidelog
    from tidelog.adapters.nemo_runner import read_source
    from tidelog.rules.syntax import RuleFile

    together, known = RuleFile(), set()
    for path in options.program:
        if path.is_dir():
            with tidelog.open(path, read_only=True) as kb:
                together.rules += kb.rules
                together.prefixes |= kb.prefixes
                known |= {name for name, counts in kb.status().relations.items() if counts.facts}
        else:
            together.add(read_source(path, parameters(options)))
    return together, known


def _missing_files(program: RuleFile) -> Iterator[LintFinding]:
    """A finding for each import whose file is not there."""
    from dataclasses import replace

    from tidelog import formats
    from tidelog.rules.analysis.lint import LintFinding

    for each in program.imports:
        place = each.location
        folder = Path(place.file).parent if place else Path()
        path = formats.read_import(each, folder).path
        if not path.exists():
            message = f"@import {each.predicate}: there is no file {path}"
            yield LintFinding("missing file", message, replace(place, text="") if place else None)


def _check_print(program: RuleFile, strata: list[Stratum], findings: list[LintFinding]) -> None:
    from tidelog.rules.printer import format_rule

    for number, stratum in enumerate(strata, 1):
        print(f"stratum {number}{', recursive' if stratum.recursive else ''}")
        print("\n".join(f"  {format_rule(rule, program.prefixes)}" for rule in stratum.rules))
    for finding in findings:
        print(f"{finding.kind}: {finding}")
    counts = f"{len(program.rules)} rules in {len(strata)} strata, {len(program.facts)} facts"
    print(f"{counts}: {f'{len(findings)} probable mistakes' if findings else 'no problem found'}")


def _check_print_json(program: RuleFile, strata: list[Stratum], findings: list[LintFinding]) -> None:
    described = [{"recursive": s.recursive, "rules": [str(rule) for rule in s.rules]} for s in strata]
    found = [
        {
            "kind": f.kind,
            "message": f.message,
            "file": f.location.file if f.location else None,
            "line": f.location.line if f.location else None,
            "rule": str(f.rule) if f.rule else None,
        }
        for f in findings
    ]
    print_json({"facts": len(program.facts), "rules": len(program.rules), "strata": described, "findings": found})


DATA_SETS = {
    "lubm": "universities, about 130,000 triples each (LUBM)",
    "el": "an ontology of SIZE classes for EL classification",
    "cliques": "a symmetric and transitive relation over SIZE constants",
}


def configure_generate(parser: ArgumentParser) -> None:
    described = "; ".join(f"{name}: {what}" for name, what in DATA_SETS.items())
    parser.add_argument("dataset", choices=tuple(DATA_SETS), help=described)
    parser.add_argument("size", type=int, metavar="SIZE", help="how many universities, classes or constants")
    parser.add_argument("out", type=Path, metavar="OUT", help="a file to write, or a directory for data and rules")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other data (default: 0)")
    parser.add_argument("--format", choices=("nt", "ttl"), help="lubm only; by default from the name of OUT, else nt")


def run_generate(options: Namespace) -> int:
    """Write benchmark data of any size. The same seed gives the same data."""
    from tidelog.generate import cliques, el, lubm

    out = output_path(options.out)
    if options.dataset == "lubm":
        facts = lubm.write(options.size, out, seed=options.seed, format=options.format)
    else:
        facts = {"el": el, "cliques": cliques}[options.dataset].write(options.size, out, seed=options.seed)
    if options.json:
        print_json({"dataset": options.dataset, "size": options.size, "facts": facts, "out": str(options.out)})
    else:
        print(f"{facts:,} facts in {options.out}")
    return 0


def configure_ontology(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="OWL in RDF, such as .ttl and .owl, or patterns")
    parser.add_argument("--equality", choices=("auto", "axioms", "none"), default="auto", help="rules of owl:sameAs")


def run_ontology(options: Namespace) -> int:
    """Print the rules that an ontology is compiled to, and as comments what has no rules."""
    import tidelog

    found = tidelog.ontology(*options.files, equality=options.equality)
    if options.json:
        print_json(
            {
                "prefixes": dict(found.prefixes),
                "rules": [str(rule) for rule in found],
                "facts": len(found.facts),
                "outside": [asdict(each) for each in found.outside],
                "missing_imports": list(found.missing_imports),
            }
        )
        return 0
    print(found, end="")
    facts, outside = len(found.facts), len(found.outside)
    print(f"% {len(found)} rules; {facts} facts about individuals; {outside} axioms without rules")
    for each in found.outside:
        print(f"% {visible(str(each))}")
    return 0
