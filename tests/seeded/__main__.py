"""`python -m tests.seeded [NAME …]` plants the faults (all, or those named) one by one and lists which are caught."""

from __future__ import annotations

import sys
from time import perf_counter

from tests.seeded.plant import EVERY_FAULT, caught_by, run_suite


def main(names: list[str]) -> int:
    chosen = [fault for fault in EVERY_FAULT if not names or fault.name in names]
    if not chosen:
        print("no such fault; there are:", *(fault.name for fault in EVERY_FAULT), sep="\n    ")
        return 2
    sound = run_suite(None)
    if sound.returncode:
        print(sound.stdout, "the suite fails without any fault; nothing can be said", sep="\n")
        return 1
    missed = 0
    for fault in chosen:
        start = perf_counter()
        test = caught_by(fault)
        missed += test is None
        verdict = f"caught by {test}" if test else "MISSED"
        print(f"{fault.name:32} {perf_counter() - start:5.1f} s  {verdict}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
