"""The process of one engine: `python -m bench.sparql.worker RESULT-FILE MEMORY-LIMIT ENGINE CLOSURE-FILE SECONDS`.

It loads the closure and asks each query, first once, then again until its time is up. An answer counts when it is there
(the number of rows is known), and when all its values are in Python.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench.machine import peak_bytes
from bench.sparql.queries import queries

REPEATS = 10

Count = Callable[[str], int]


def tidelog(closure: str) -> tuple[Count, Count]:
    import tidelog

    kb = tidelog.open()
    kb.load(closure)
    return lambda query: len(kb.sparql(query)), lambda query: len(list(kb.sparql(query)))  # type: ignore[arg-type]


def pyoxigraph(closure: str) -> tuple[Count, Count]:
    import pyoxigraph as ox

    store = ox.Store()
    store.bulk_load(path=closure, format=ox.RdfFormat.N_TRIPLES)

    def solutions(query: str) -> Iterator[ox.QuerySolution]:
        found = store.query(query)
        assert isinstance(found, ox.QuerySolutions)
        return found

    return lambda query: sum(1 for _ in solutions(query)), lambda query: len([tuple(s) for s in solutions(query)])


ENGINES = {"tidelog": tidelog, "pyoxigraph": pyoxigraph}


def measure(engine: str, closure: str, seconds: float) -> dict[str, Any]:
    start = time.perf_counter()
    counted, values = ENGINES[engine](closure)
    loading = time.perf_counter() - start
    found = {name: _query(text, counted, values, seconds) for name, text in queries().items()}
    return {"load": loading, "queries": found}


def _query(text: str, counted: Count, values: Count, seconds: float) -> dict[str, Any]:
    first, rows = _timed(counted, text)
    return {
        "rows": rows,
        "first": first,
        "warm": median(_repeated(counted, text, rows, seconds)),
        "values": median(_repeated(values, text, rows, seconds)),
    }


def _repeated(ask: Count, text: str, rows: int, seconds: float) -> list[float]:
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < seconds:
        took, again = _timed(ask, text)
        assert again == rows, f"{rows} rows at first, now {again}"
        times.append(took)
    return times


def _timed(ask: Count, text: str) -> tuple[float, int]:
    start = time.perf_counter()
    rows = ask(text)
    return time.perf_counter() - start, rows


def main(result: str, memory_limit: str, engine: str, closure: str, seconds: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_limit), int(memory_limit)))
    found = measure(engine, closure, float(seconds))
    Path(result).write_text(json.dumps({**found, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
