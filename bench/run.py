"""Runs workloads: one after the other, engine by engine. Then checks that all engines agree."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from bench import machine
from bench.engines import ENGINES
from bench.measure import Limits, MeasurementError, measure
from bench.workloads import Workload, prepare

Result = dict[str, Any]


def run(workloads: Iterable[Workload], data: Path, limits: Limits) -> Result:
    """Run the workloads, and return the result for JSON."""
    workloads = list(workloads)
    used = {name for workload in workloads for name in workload.engines}
    versions = {name: engine.version for name, engine in ENGINES.items() if name in used}
    results: Result = {"machine": machine.describe(), "versions": versions, "workloads": {}}
    forecast = Forecast(limits.seconds)
    for workload in workloads:
        _say(f"{workload.name}: {workload.title}")
        results["workloads"][workload.name] = _run_workload(workload, data, limits, forecast)
    return results


def _run_workload(workload: Workload, data: Path, limits: Limits, forecast: Forecast) -> Result:
    case = prepare(workload, data)
    engines: dict[str, Result] = {}
    for name in workload.engines:
        try:
            forecast.check(name, workload)
            engines[name] = _summary([asdict(run) for run in measure(name, case, limits)])
            forecast.note(name, workload, engines[name]["total"])
            _say(f"    {name:<12} {engines[name]['total']:9.3f} s")
        except MeasurementError as failure:
            engines[name] = {"skipped": str(failure)}
            forecast.note(name, workload, inf)
            _say(f"    {name:<12} {failure}")
    return {"title": workload.title, "engines": engines, "disagreement": disagreement(engines)}


class Forecast:
    """Skips measurements that would exceed the time limit, judging by the smaller size of the same family."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.seen: dict[tuple[str, str], tuple[float, float]] = {}

    def note(self, engine: str, workload: Workload, seconds: float) -> None:
        self.seen[engine, workload.family] = (workload.size, seconds)

    def check(self, engine: str, workload: Workload) -> None:
        if ENGINES[engine].version is None:
            raise MeasurementError("not installed")
        size, seconds = self.seen.get((engine, workload.family), (workload.size, 0.0))
        if seconds == inf:
            raise MeasurementError("no result at the size before")
        if (expected := seconds * workload.size / size) > self.seconds:
            raise MeasurementError(f"would take {expected:.0f} s or more, by the size before")


def _summary(runs: list[Result]) -> Result:
    """The median time of each phase, all total times, the facts, and the highest memory of some runs."""
    seconds = {phase: median(run["seconds"][phase] for run in runs) for phase in runs[0]["seconds"]}
    totals = [sum(run["seconds"].values()) for run in runs]
    peak = max(run["peak_bytes"] for run in runs)
    return {**runs[0], "seconds": seconds, "total": median(totals), "totals": totals, "peak_bytes": peak}


def disagreement(engines: dict[str, Result]) -> str | None:
    """The numbers of facts of engines with the same rules, as text, if they differ; else None."""
    facts = {n: r["facts"] for n, r in engines.items() if "facts" in r and ENGINES[n].same_rules}
    if len({tuple(sorted(counts.items())) for counts in facts.values()}) <= 1:
        return None
    return "; ".join(f"{name}: {counts}" for name, counts in facts.items())


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
