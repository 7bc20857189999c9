"""Runs an engine on a case in a process of its own, within limits, and says why when there is no result."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.case import Case, Measure

REPEATS = 3
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Limits:
    """Of one measurement; it is repeated while its runs took less than `repeat_seconds` together."""

    seconds: float
    bytes: int
    repeat_seconds: float


class MeasurementError(Exception):
    """The engine gave no result; the message is the reason shown in the table."""


def measure(engine: str, case: Case, limits: Limits) -> list[Measure]:
    """Up to `REPEATS` runs, the same policy for every engine."""
    runs: list[Measure] = []
    while len(runs) < REPEATS and sum(run.total for run in runs) < limits.repeat_seconds:
        runs.append(_once(engine, case, limits))
    return runs


def _once(engine: str, case: Case, limits: Limits) -> Measure:
    with TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        command = [sys.executable, "-m", "bench.worker", engine, case.to_json(), str(result), str(limits.bytes)]
        try:
            done = subprocess.run(command, timeout=limits.seconds, capture_output=True, text=True, cwd=ROOT)
        except subprocess.TimeoutExpired:
            raise MeasurementError(f"more than {limits.seconds:.0f} s") from None
        if done.returncode:
            raise MeasurementError(_reason(done))
        return Measure(**json.loads(result.read_text()))


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit code {done.returncode}"
