"""The command line of the benchmarks; see the package's docstring."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from bench import __doc__ as description
from bench import equality, explain, owl, report, run, tuning
from bench.durable import measure as durable
from bench.durable import report as durable_report
from bench.machine import physical_bytes
from bench.maintenance import group
from bench.maintenance import report as maintenance_report
from bench.measure import Limits
from bench.spark import measure as spark
from bench.sparql import measure as sparql
from bench.updates import measure as updates
from bench.updates import report as updates_report
from bench.workloads import WORKLOADS, Workload

ROOT = Path(__file__).parent.parent
PEERS_NAME = "peers"
EVERY_NAME = [
    *(PEERS_NAME, *(workload.name for workload in WORKLOADS)),
    *(owl.NAME, *(workload.name for workload in owl.WORKLOADS)),
    *(group.NAME, *group.NAMES),
    *(updates.NAME, *updates.NAMES),
    *(durable.NAME, *durable.NAMES),
    *(sparql.NAME, *sparql.SIZES),
    *(spark.NAME, *spark.SIZES),
    equality.NAME,
    explain.NAME,
    tuning.NAME,
]
TUNED = {constant.name for constant in tuning.constants()}
RESULTS, DOCS = ROOT / "results", ROOT / "docs"
FULL = "full"


@dataclass(frozen=True)
class Seconds:
    """`limit`: the default time limit of one measurement. `repeat`: it is repeated until its runs took this long."""

    limit: float
    repeat: float


PEERS = {True: Seconds(90, 2), False: Seconds(120, 10)}  # the key says whether the run is quick
OWL = {True: Seconds(90, 2), False: Seconds(300, 10)}
CHANGES = {True: Seconds(20, 0.5), False: Seconds(30, 2)}
UPDATES = {True: Seconds(20, 0.5), False: Seconds(60, 12)}
QUERIES = {True: Seconds(60, 0.5), False: Seconds(600, 5)}


class Report(Protocol):
    """A module that writes the page of a result."""

    def write(self, result: report.Result, folder: Path, name: str) -> None: ...
    def publish(self, source: Path, docs: Path) -> None: ...
    def markdown(self, result: report.Result) -> str: ...


# The module of each page, by the name of the full result that the page shows.
PAGES: dict[str, Report] = {
    FULL: report,
    f"{owl.NAME}-{FULL}": owl,
    f"{group.NAME}-{FULL}": maintenance_report,
    f"{updates.NAME}-{FULL}": updates_report,
    f"{durable.NAME}-{FULL}": durable_report,
    f"{equality.NAME}-{FULL}": equality,
    f"{explain.NAME}-{FULL}": explain,
    f"{sparql.NAME}-{FULL}": sparql,
    f"{spark.NAME}-{FULL}": spark,
    f"{tuning.NAME}-{FULL}": tuning,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.workloads == ["report"]:
        _publish()
        return 0
    if unknown := set(options.workloads) - set(EVERY_NAME) - TUNED:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are: {', '.join(EVERY_NAME)}")
    groups = (_peers, _owl, _maintenance, _updates, _durable, _equality, _explain, _sparql, _spark, _tuning)
    return max([measured(options) for measured in groups])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=description)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"report, {', '.join(EVERY_NAME)}")
    parser.add_argument("--quick", action="store_true", help="the smaller sizes only, in a few minutes")
    parser.add_argument(
        "--without-peer", action="store_true", help="Spark: the DataFrame loop as it was measured before"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--seconds", type=float, help="time limit of one measurement (else as the report says)")
    return parser


def _publish() -> None:
    """Write every page that has the result of a full run."""
    for name, page in PAGES.items():
        if (RESULTS / f"{name}.json").exists():
            page.publish(RESULTS / f"{name}.json", DOCS)


def _extent(options: argparse.Namespace, whole: bool) -> str:
    """The last part of the name of a result. Only a result with the name `full` is published."""
    return "quick" if options.quick else FULL if whole else "some"


def _peers(options: argparse.Namespace) -> int:
    chosen = chosen_workloads(options.workloads, options.quick, PEERS_NAME, WORKLOADS)
    name = _extent(options, whole=not set(options.workloads) - {PEERS_NAME})
    return _engines(options, chosen, name, PEERS, report)


def _owl(options: argparse.Namespace) -> int:
    chosen = chosen_workloads(options.workloads, options.quick, owl.NAME, owl.WORKLOADS)
    name = f"{owl.NAME}-{_extent(options, whole=not set(options.workloads) - {owl.NAME})}"
    return _engines(options, chosen, name, OWL, owl)


def _engines(
    options: argparse.Namespace, chosen: Sequence[Workload], name: str, seconds: dict[bool, Seconds], page: Report
) -> int:
    """Run workloads on several engines, and return 1 if the engines disagree."""
    if not chosen:
        return 0
    result = run.run(chosen, RESULTS / "data", _limits(options, seconds))
    _finish(options, result, name, page)
    return _disagreements(result)


def _maintenance(options: argparse.Namespace) -> int:
    chosen = chosen_sizes(options.workloads, options.quick)
    name = f"{group.NAME}-{_extent(options, whole=not set(options.workloads) - {group.NAME})}"
    return _changes(options, chosen, name, CHANGES, maintenance_report)


def _updates(options: argparse.Namespace) -> int:
    chosen = chosen_sizes(options.workloads, options.quick, updates.NAME, updates.SIZES)
    name = f"{updates.NAME}-{_extent(options, whole=not set(options.workloads) - {updates.NAME})}"
    return _changes(options, chosen, name, UPDATES, updates_report)


def _durable(options: argparse.Namespace) -> int:
    chosen = chosen_sizes(options.workloads, options.quick, durable.NAME, durable.SIZES)
    name = f"{durable.NAME}-{_extent(options, whole=not set(options.workloads) - {durable.NAME})}"
    return _changes(options, chosen, name, UPDATES, durable_report)


def _equality(options: argparse.Namespace) -> int:
    if not options.workloads or equality.NAME in options.workloads:
        _finish(options, equality.run(options.quick), f"{equality.NAME}-{_extent(options, whole=True)}", equality)
    return 0


def _explain(options: argparse.Namespace) -> int:
    if not options.workloads or explain.NAME in options.workloads:
        result = explain.run(options.quick, RESULTS / "data")
        _finish(options, result, f"{explain.NAME}-{_extent(options, whole=True)}", explain)
    return 0


def _sparql(options: argparse.Namespace) -> int:
    chosen = sparql.chosen(options.workloads, options.quick)
    if chosen:
        name = f"{sparql.NAME}-{_extent(options, whole=not set(options.workloads) - {sparql.NAME})}"
        _finish(options, sparql.run(chosen, RESULTS / "data", _limits(options, QUERIES)), name, sparql)
    return 0


def _spark(options: argparse.Namespace) -> int:
    chosen = spark.chosen(options.workloads, options.quick)
    if chosen:
        name = f"{spark.NAME}-{_extent(options, whole=spark.is_published(options.workloads))}"
        found = spark.run(chosen, RESULTS / "data", _limits(options, QUERIES), not options.without_peer)
        if name in PAGES:
            found = spark.added(found, DOCS / f"{spark.PAGE}.json")
        _finish(options, found, name, spark)
    return 0


def _tuning(options: argparse.Namespace) -> int:
    chosen = TUNED.intersection(options.workloads)
    every = tuning.NAME in options.workloads or not options.workloads
    if chosen or every:
        found = tuning.run(() if every else chosen)
        _finish(options, found, f"{tuning.NAME}-{FULL if every else 'some'}", tuning)
    return 0


def _changes(
    options: argparse.Namespace, chosen: Sequence[group.Size], name: str, seconds: dict[bool, Seconds], page: Report
) -> int:
    """Run changes with several algorithms, and return 1 if a size failed."""
    if not chosen:
        return 0
    result = group.run(chosen, RESULTS / "data", _limits(options, seconds))
    _finish(options, result, name, page)
    return _failures(result)


def _finish(options: argparse.Namespace, result: report.Result, name: str, page: Report) -> None:
    page.write(result, RESULTS, name)
    print(json.dumps(result) if options.json else page.markdown(result))
    if name in PAGES:
        page.publish(RESULTS / f"{name}.json", DOCS)


def chosen_workloads(names: Sequence[str], quick: bool, every: str, workloads: Sequence[Workload]) -> list[Workload]:
    """The workloads in `names`; all if `names` is empty or contains the group's name `every`."""
    named = [w for w in workloads if not names or every in names or w.name in names]
    return [replace(w, engines=w.quick) for w in named if w.quick] if quick else named


def chosen_sizes(
    names: Sequence[str], quick: bool, every: str = group.NAME, sizes: Sequence[group.Size] = group.SIZES
) -> list[group.Size]:
    """The sizes in `names`; those of a quick or full run if `names` is empty or contains the group's name `every`."""
    if not names or every in names:
        return [size for size in sizes if (size.quick if quick else size.full)]
    return [size for size in sizes if size.name in names]


def _limits(options: argparse.Namespace, seconds: dict[bool, Seconds]) -> Limits:
    """The limits of a measurement: nine tenths of the machine's memory, because swapping would distort the result."""
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
