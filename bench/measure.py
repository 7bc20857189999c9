"""Runs an engine on a case in its own process, within limits. If there is no result, the error says why."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from tempfile import TemporaryDirectory
from typing import Any

from bench.case import Case, Measure

REPEATS = 3
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Limits:
    """The limits of one measurement. It is repeated until its runs took `repeat_seconds` in total."""

    seconds: float
    bytes: int
    repeat_seconds: float


class MeasurementError(Exception):
    """The engine returned no result. The table shows the message."""


def measure(engine: str, case: Case, limits: Limits) -> list[Measure]:
    """Run an engine up to `REPEATS` times. The policy is the same for every engine."""
    runs: list[Measure] = []
    while len(runs) < REPEATS and sum(run.total for run in runs) < limits.repeat_seconds:
        runs.append(_once(engine, case, limits))
    return runs


def _once(engine: str, case: Case, limits: Limits) -> Measure:
    return Measure(
        **in_process("bench.worker", engine, case.to_json(), limits=limits, seconds=limits.seconds, output=DEVNULL)
    )


def in_process(module: str, *arguments: str, limits: Limits, seconds: float | None, output: int) -> dict[str, Any]:
    """Run a worker module, and return the JSON that it writes to its result file. `output`: its standard output."""
    with TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        command = [sys.executable, "-m", module, str(result), str(limits.bytes), *arguments]
        try:
            done = subprocess.run(command, timeout=seconds, stdout=output, stderr=PIPE, text=True, cwd=ROOT)
        except subprocess.TimeoutExpired:
            raise MeasurementError(f"more than {seconds:.0f} s") from None
        if done.returncode:
            raise MeasurementError(_reason(done))
        content: dict[str, Any] = json.loads(result.read_text())
        return content


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit code {done.returncode}"
