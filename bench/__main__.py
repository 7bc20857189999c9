"""The command line of the benchmarks; see the package's docstring."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench import __doc__ as description
from bench import report, run
from bench.machine import physical_bytes
from bench.maintenance import group
from bench.maintenance import report as maintenance_report
from bench.measure import Limits
from bench.workloads import WORKLOADS, Workload

ROOT = Path(__file__).parent.parent
NAMES = [workload.name for workload in WORKLOADS]
PEERS_NAME = "peers"
EVERY_NAME = [PEERS_NAME, *NAMES, group.NAME, *group.NAMES]
RESULTS, DOCS = ROOT / "results", ROOT / "docs"
FULL = "full"


@dataclass(frozen=True)
class Seconds:
    """Limits of one measurement unless the command line has another, and up to when it is repeated."""

    limit: float
    repeat: float


PEERS = {True: Seconds(90, 2), False: Seconds(120, 10)}  # by whether the run is quick
CHANGES = {True: Seconds(20, 0.5), False: Seconds(120, 5)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.workloads == ["report"]:
        _publish()
        return 0
    if unknown := set(options.workloads) - set(EVERY_NAME):
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are: {', '.join(EVERY_NAME)}")
    codes = [_peers(options), _maintenance(options)]
    return max(codes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=description)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"report, {', '.join(EVERY_NAME)}")
    parser.add_argument("--quick", action="store_true", help="the smaller sizes only, in a few minutes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--seconds", type=float, help="time limit of one measurement (else as the report says)")
    return parser


def _publish() -> None:
    """Every page whose full run is there."""
    if (RESULTS / f"{FULL}.json").exists():
        report.publish(RESULTS / f"{FULL}.json", DOCS)
    if (RESULTS / f"{group.NAME}-{FULL}.json").exists():
        maintenance_report.publish(RESULTS / f"{group.NAME}-{FULL}.json", DOCS)


def _extent(options: argparse.Namespace, whole: bool) -> str:
    """What a result is called: only that of a full run is published."""
    return "quick" if options.quick else FULL if whole else "some"


def _peers(options: argparse.Namespace) -> int:
    chosen = _chosen_workloads(options)
    if not chosen:
        return 0
    name = _extent(options, whole=not set(options.workloads) - {PEERS_NAME})
    result = run.run(chosen, RESULTS / "data", _limits(options, PEERS))
    report.write(result, RESULTS, name)
    print(json.dumps(result) if options.json else report.markdown(result))
    if name == FULL:
        report.publish(RESULTS / f"{FULL}.json", DOCS)
    return _disagreements(result)


def _maintenance(options: argparse.Namespace) -> int:
    chosen = chosen_sizes(options.workloads, options.quick)
    if not chosen:
        return 0
    name = f"{group.NAME}-{_extent(options, whole=not set(options.workloads) - {group.NAME})}"
    result = group.run(chosen, RESULTS / "data", _limits(options, CHANGES))
    maintenance_report.write(result, RESULTS, name)
    print(json.dumps(result) if options.json else maintenance_report.markdown(result))
    if name == f"{group.NAME}-{FULL}":
        maintenance_report.publish(RESULTS / f"{name}.json", DOCS)
    return _failures(result)


def _chosen_workloads(options: argparse.Namespace) -> list[Workload]:
    everything = not options.workloads or PEERS_NAME in options.workloads
    named = [w for w in WORKLOADS if everything or w.name in options.workloads]
    return [replace(w, engines=w.quick) for w in named if w.quick] if options.quick else named


def chosen_sizes(names: Sequence[str], quick: bool) -> list[group.Size]:
    """Sizes by their own names, or those of a quick or full run when all of maintenance is meant."""
    if not names or group.NAME in names:
        return [size for size in group.SIZES if (size.quick if quick else size.full)]
    return [size for size in group.SIZES if size.name in names]


def _limits(options: argparse.Namespace, seconds: dict[bool, Seconds]) -> Limits:
    """Nine tenths of the machine's memory: a measurement that swaps measures nothing."""
    default = seconds[options.quick]
    return Limits(options.seconds or default.limit, physical_bytes() * 9 // 10, default.repeat)


def _disagreements(result: report.Result) -> int:
    found = {n: w["disagreement"] for n, w in result["workloads"].items() if w["disagreement"]}
    for name, difference in found.items():
        print(f"{name}: engines with the same rules found different facts: {difference}", file=sys.stderr)
    return 1 if found else 0


def _failures(result: report.Result) -> int:
    found = {n: s["failed"] for n, s in result["sizes"].items() if "failed" in s}
    for name, reason in found.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
