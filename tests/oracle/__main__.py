"""`python -m tests.oracle FIRST LAST` replays the random histories from FIRST up to LAST and says how far it is.

The long tier of the suite, for those who want to split it among machines or watch it. It ends at the first difference.
"""

from __future__ import annotations

import sys
from time import perf_counter

from tests.oracle.replay import replay_seed

TOLD = 500


def main(first: int, last: int) -> None:
    start = perf_counter()
    for seed in range(first, last):
        replay_seed(seed)
        done = seed + 1 - first
        if done % TOLD == 0 or seed + 1 == last:
            print(f"{done} histories from {first} on: no difference, {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
