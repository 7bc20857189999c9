"""`python -m tests.queries.sparql FIRST LAST` runs random queries on graphs FIRST to LAST - 1 and shows differences.

The long tier of the random queries, for those who want to split it among machines or watch it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from time import perf_counter

from tests.queries.sparql.against import QUERIES, differences

TOLD = 100  # graphs


def main(first: int, last: int) -> int:
    start, wrong = perf_counter(), 0
    for seed in range(first, last):
        for difference in differences(seed, seed + 1):
            wrong += bool(difference)
            print(end=f"{difference}\n\n" if difference else "")
        if (done := seed + 1 - first) % TOLD == 0 or seed + 1 == last:
            told = f"{done * QUERIES:,} queries on {done} graphs from {first} on: {wrong} differences"
            print(f"{told}, {perf_counter() - start:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.queries.sparql", description="random queries against pyoxigraph")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    options = parser.parse_args()
    sys.exit(main(options.first, options.last))
