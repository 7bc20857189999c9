"""What the measurements say about sizes that were not measured.

    reading    =  start  +  triples * price / cores          parse, encode, route, sort, commit
    reasoning  =  rounds * latency  +  derivations * price / cores
    driver     =  start of a session  +  triples * price          it adds new terms to its dictionary, alone
    network    =  shuffled bytes per fact * facts / executors / what a network card carries
    memory     =  facts of a shard * bytes per fact, for as many shards as run on an executor at a time

All three lines are fitted to all sizes that were measured. Latency is what jobs cost however little they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.report import table

Result = dict[str, Any]

BILLION = 10**9
CLUSTERS = ((1, 4), (10, 16), (100, 100))  # billions of triples, executors
CORES = 16  # of an executor
CARD = 1.25e9  # bytes a second: 10 Gbit/s
BYTES_PER_FACT = 24  # packed in two orders at its home, and in one at another
BYTES_PER_TERM = 80  # of the driver's dictionary
MOST_TERMS = 2**31
MEASURED_CORES = 2
READING = ("parse", "encode", "route", "sort", "commit")


@dataclass(frozen=True)
class Line:
    """Seconds that are there anyway, and core-seconds for each piece of work."""

    start: float
    price: float

    @classmethod
    def fitted(cls, work: Sequence[float], seconds: Sequence[float]) -> Line:
        """Relative errors count: a small size is as good as a large one."""
        weights = 1 / np.array(seconds)
        terms = np.stack([np.ones(len(work)), np.array(work) / MEASURED_CORES], axis=1)
        start, price = np.linalg.lstsq(terms * weights[:, None], np.array(seconds) * weights, rcond=None)[0]
        return cls(float(max(start, 0)), float(price))

    def seconds(self, work: float, cores: int) -> float:
        return self.start + work * self.price / cores


def predictions(sizes: Sequence[Result]) -> Iterator[str]:
    """The fitted lines, what they say about the sizes that were measured, and about larger ones."""
    runs = [size["pipeline"] for size in sizes]
    if len(runs) < 2:
        return
    reading = Line.fitted([r["explicit"] for r in runs], [_reading(r) for r in runs])
    reasoning = Line.fitted([r["derivations"] for r in runs], [r["stages"]["materialise"] for r in runs])
    alone = Line.fitted([r["explicit"] for r in runs], [_rest(r) for r in runs])
    largest = max(sizes, key=lambda s: int(s["universities"]))["pipeline"]
    yield "### A model of the costs"
    yield (
        f"Fitted to all sizes above: reading, encoding, sharding and writing take {reading.start:.1f} s and "
        f"{reading.price * 1e6:.2f} core-microseconds per triple; reasoning takes "
        f"{reasoning.start / largest['rounds']:.2f} s "
        f"per round and {reasoning.price * 1e6:.2f} core-microseconds per derivation; "
        f"the driver takes {alone.start:.1f} s and {alone.price / MEASURED_CORES * 1e6:.2f} microseconds per triple. "
        f"{largest['moved'] / largest['facts']:.1f} bytes are shuffled per fact of the result. "
        "The model compared with the measurements:"
    )
    yield table(("universities", "measured", "model"), _checked(sizes, reading, reasoning, alone))
    yield "Predictions for clusters that were not measured, for the same rules and the same kind of data:"
    yield table(PREDICTED, _predicted(largest, reading, reasoning, alone))
    yield (
        f"Term ids have 31 bits, so there are at most {MOST_TERMS:,} terms. Rows with *too many terms* would "
        "need wider "
        "ids, and a dictionary outside the driver's memory. The model ignores stragglers, skew, and storage that is "
        "slower than the tasks."
    )


def _reading(run: Result) -> float:
    return float(sum(run["stages"][name] for name in READING))


def _rest(run: Result) -> float:
    """What no other line knows of: the start of Spark, and what the driver does alone."""
    return float(run["total"] - _reading(run) - run["stages"]["materialise"])


def _checked(sizes: Sequence[Result], *lines: Line) -> Iterator[tuple[str, ...]]:
    reading, reasoning, alone = lines
    for size in sizes:
        run = size["pipeline"]
        triples, derivations = run["explicit"], run["derivations"]
        model = sum(line.seconds(triples, MEASURED_CORES) for line in (reading, alone))
        model += reasoning.seconds(derivations, MEASURED_CORES)
        yield f"{size['universities']}", f"{run['total']:.1f} s", f"{model:.1f} s"


PREDICTED = (
    *("triples", "facts", "executors", "reading, reasoning, writing", "network, at least", "driver"),
    *("memory of an executor", "driver's dictionary"),
)


def _predicted(run: Result, reading: Line, reasoning: Line, alone: Line) -> Iterator[tuple[str, ...]]:
    swelling, deriving = run["facts"] / run["explicit"], run["derivations"] / run["explicit"]
    for billions, executors in CLUSTERS:
        triples, cores = billions * BILLION, executors * CORES
        facts, terms = triples * swelling, triples * run["terms"] / run["explicit"]
        seconds = reading.seconds(triples, cores) + reasoning.seconds(triples * deriving, cores)
        network = facts * run["moved"] / run["facts"] / executors / CARD
        dictionary = f"{terms * BYTES_PER_TERM / 1e9:,.0f} GB" if terms <= MOST_TERMS else "too many terms"
        yield (
            f"{triples:,}", f"{facts:,.0f}", f"{executors} of {CORES} cores", _duration(seconds), _duration(network),
            _duration(alone.seconds(triples, MEASURED_CORES)),
            f"{facts * BYTES_PER_FACT / executors / 1e9:,.0f} GB", dictionary,
        )  # fmt: skip


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
