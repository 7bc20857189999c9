"""A reader: `python -m bench.durable.reader once KB QUERY` or `… watch KB QUERY STOP-FILE`. Prints JSON.

`once` opens, asks and ends; `watch` refreshes and asks until the stop file is there, and gives each time it took.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import tidelog

MOST = 10**6


def once(path: str, query: str) -> object:
    start = time.perf_counter()
    with tidelog.open(path, read_only=True) as kb:
        opened = time.perf_counter()
        rows = len(kb.query(query).to_rows())
        return {"open": opened - start, "query": time.perf_counter() - opened, "rows": rows}


def watch(path: str, query: str, stop: str) -> object:
    times, versions = [], set()
    with tidelog.open(path, read_only=True) as kb:
        for _ in range(MOST):
            if Path(stop).exists():
                break
            start = time.perf_counter()
            versions.add(kb.refresh())
            kb.query(query).to_rows()
            times.append(time.perf_counter() - start)
            time.sleep(0.005)
    return {"times": times, "versions": len(versions)}


if __name__ == "__main__":
    how, *arguments = sys.argv[1:]
    print(json.dumps(once(*arguments) if how == "once" else watch(*arguments)))
