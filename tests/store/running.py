"""Starts a sweep in a process of its own and reads its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import tidelog
from tests.store.bench import Report

ROOT = Path(__file__).parents[2]
SOURCE = Path(tidelog.__file__).parents[1]  # of the package under test, which may be a copy
PATIENCE = 1800.0  # seconds, for the longest of the long tier


def run(module: str, folder: Path, *arguments: object, shim: Path | None = None, within: Sequence[str] = ()) -> Report:
    """`python -m tests.store.MODULE FOLDER ARGUMENTS …`, started by another command where one is given."""
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    if shim:
        environment["LD_PRELOAD"] = str(shim)
    command = [*within, sys.executable, "-m", f"tests.store.{module}", str(folder), *map(str, arguments)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return Report(**json.loads(done.stdout))


def shown(problems: list[str]) -> str:
    """The first few of them, for a failing test."""
    return "\n\n".join([f"{len(problems)} problems", *problems[:3]])
