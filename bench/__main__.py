"""The command line of the benchmarks; see the package's docstring."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench import __doc__ as description
from bench import report
from bench.machine import physical_bytes
from bench.measure import Limits
from bench.run import run
from bench.workloads import WORKLOADS, Workload

ROOT = Path(__file__).parent.parent
NAMES = [workload.name for workload in WORKLOADS]
RESULTS, DOCS = ROOT / "results", ROOT / "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.workloads == ["report"]:
        report.publish(RESULTS / "full.json", DOCS)
        return 0
    if unknown := set(options.workloads) - set(NAMES):
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    name = "quick" if options.quick else "some" if options.workloads else "full"
    result = run(_chosen(options), RESULTS / "data", _limits(options))
    report.write(result, RESULTS, name)
    print(json.dumps(result) if options.json else report.markdown(result))
    if name == "full":
        report.publish(RESULTS / "full.json", DOCS)
    return _disagreements(result)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=description)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"report, {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="the smaller workloads only, in about two minutes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--seconds", type=float, help="time limit of one measurement (90 when quick, else 600)")
    return parser


def _chosen(options: argparse.Namespace) -> list[Workload]:
    named = [w for w in WORKLOADS if w.name in options.workloads] or list(WORKLOADS)
    return [replace(w, engines=w.quick) for w in named if w.quick] if options.quick else named


def _limits(options: argparse.Namespace) -> Limits:
    """Nine tenths of the machine's memory: a measurement that swaps measures nothing."""
    memory = physical_bytes() * 9 // 10
    return Limits(options.seconds or 90, memory, 2) if options.quick else Limits(options.seconds or 600, memory, 10)


def _disagreements(result: report.Result) -> int:
    found = {n: w["disagreement"] for n, w in result["workloads"].items() if w["disagreement"]}
    for name, difference in found.items():
        print(f"{name}: engines with the same rules found different facts: {difference}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
