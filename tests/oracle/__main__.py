"""`python -m tests.oracle FIRST LAST` replays the random histories from FIRST up to LAST and says how far it is.

The long tier of the suite, for those who want to split it among machines or watch it. It ends at the first difference.
`--local` replays all of them on the local engine, which takes six times as long; `--only` by some algorithms.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection
from time import perf_counter

from tests.oracle.replay import replay_locally, replay_seed
from tidelog.algorithms.registry import ALGORITHMS

TOLD = 500


def main(first: int, last: int, local: bool, names: Collection[str]) -> None:
    start = perf_counter()
    for done, seed in enumerate(range(first, last), start=1):
        (replay_locally if local else replay_seed)(seed, names)
        if done % TOLD == 0 or seed + 1 == last:
            print(f"{done} histories from {first} on: no difference, {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.oracle", description="replay random histories")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--local", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="ALGORITHM", choices=tuple(ALGORITHMS), default=tuple(ALGORITHMS))
    options = parser.parse_args()
    main(options.first, options.last, options.local, options.only)
