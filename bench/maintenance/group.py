"""The sizes at which maintenance is measured. Each is a process of its own, with all algorithms side by side in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import machine
from bench.engines import ENGINES
from bench.maintenance import cliques, table2
from bench.maintenance.contest import Result, Say
from bench.maintenance.subject import Subject
from bench.measure import Limits, MeasurementError, in_process
from bench.workloads import NAMED, Workload, clique, prepare
from tidelog.model.terms import TRIPLE

NAME = "maintenance"
STANDARD_ERROR = 2


@dataclass(frozen=True)
class Size:
    """One or more data sets, measured in one process."""

    name: str
    title: str
    measure: Callable[[Path, Limits, Say], Result]
    quick: bool = False  # part of a quick run, or only of one that is not
    full: bool = True


def _universities(count: int) -> Callable[[Path, Limits, Say], Result]:
    def measure(data: Path, limits: Limits, say: Say) -> Result:
        subject = Subject.of(prepare(NAMED[f"lubm-{count}"], data))
        return table2.measure(subject, TRIPLE, limits, say)

    return measure


def _cliques(sizes: Sequence[int]) -> Callable[[Path, Limits, Say], Result]:
    def measure(data: Path, limits: Limits, say: Say) -> Result:
        def opened(constants: int) -> Subject:
            workload = Workload("clique", str(constants), constants, f"{constants} constants", (), clique(constants))
            return Subject.of(prepare(workload, data))

        return cliques.measure(sizes, opened, limits, say)

    return measure


SIZES = (
    Size("table2-1", "1 university", _universities(1), quick=True, full=False),
    Size("table2-10", "10 universities", _universities(10)),
    Size("table2-100", "100 universities", _universities(100)),
    Size("cliques-quick", "cliques of 30 to 100 constants", _cliques((30, 100)), quick=True, full=False),
    Size("cliques", "cliques of 100 to 600 constants", _cliques((100, 200, 400, 600))),
)
NAMES = {size.name: size for size in SIZES}


def run(sizes: Iterable[Size], data: Path, limits: Limits) -> Result:
    """Everything that was measured, ready for JSON."""
    versions = {"tidelog": ENGINES["tidelog"].version}
    results: Result = {"machine": machine.describe(), "versions": versions, "limits": asdict(limits), "sizes": {}}
    for size in sizes:
        print(f"{size.name}: {size.title}", file=sys.stderr, flush=True)
        results["sizes"][size.name] = {"title": size.title, **_measured(size, data, limits)}
    return results


def _measured(size: Size, data: Path, limits: Limits) -> Result:
    """Without a limit on the whole: each change has its own."""
    arguments = (size.name, str(data), json.dumps(asdict(limits)))
    try:
        return in_process("bench.maintenance.worker", *arguments, limits=limits, seconds=None, output=STANDARD_ERROR)
    except MeasurementError as failure:
        return {"failed": str(failure)}
