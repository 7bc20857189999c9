"""The process of one size: `python -m bench.maintenance.worker RESULT-FILE MEMORY-LIMIT SIZE DATA-FOLDER LIMITS-JSON`.

Says on its standard output what it does.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from bench.durable import measure as durable
from bench.machine import peak_bytes
from bench.maintenance.group import NAMES
from bench.measure import Limits
from bench.updates import measure as updates


def main(result: str, memory_limit: str, size: str, data: str, limits: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_limit), int(memory_limit)))
    measured = {**NAMES, **updates.NAMES, **durable.NAMES}[size].measure(Path(data), Limits(**json.loads(limits)), _say)
    Path(result).write_text(json.dumps({**measured, "peak_bytes": peak_bytes()}))


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
