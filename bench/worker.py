"""The process of one measurement: `python -m bench.worker RESULT-FILE MEMORY-LIMIT ENGINE CASE-JSON`."""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import asdict
from pathlib import Path

from bench.case import Case
from bench.engines import ENGINES
from bench.machine import peak_bytes


def main(result: str, memory_limit: str, engine: str, case: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_limit), int(memory_limit)))
    measure = ENGINES[engine].run(Case.from_json(case))
    measure.peak_bytes = peak_bytes()
    Path(result).write_text(json.dumps(asdict(measure)))


if __name__ == "__main__":
    main(*sys.argv[1:])
