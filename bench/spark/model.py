"""What the measurements say about sizes that were not measured.

    core-seconds  =  triples * (parse + encode + route + sort + commit)  +  derivations * materialise
    seconds       =  core-seconds / cores  +  rounds * what a round costs when it does nothing
    network       =  shuffled bytes per fact * facts / executors / what a network card carries
    memory        =  facts of a shard * bytes per fact, for as many shards as run on an executor at a time

The prices per triple and per derivation are those of the largest size that was measured; the others show how far the
model is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.report import table

Result = dict[str, Any]

BILLION = 10**9
CLUSTERS = ((1, 4), (10, 16), (100, 100))  # billions of triples, executors
CORES = 16  # of an executor
CARD = 1.25e9  # bytes a second: 10 Gbit/s
ROUND = 0.5  # seconds of a job that has nothing to do
BYTES_PER_FACT = 24  # packed in two orders at its home, and in one at another
BYTES_PER_TERM = 80  # of the driver's dictionary
MOST_TERMS = 2**31
MEASURED_CORES = 2


def predictions(sizes: Sequence[Result]) -> Iterator[str]:
    """The fitted prices, what the model says about the sizes that were measured, and about larger ones."""
    if not sizes:
        return
    largest = max(sizes, key=lambda s: int(s["universities"]))
    prices = _prices(largest)
    yield "### A model of the costs"
    yield (
        f"Fitted to {largest['universities']} universities: reading, encoding, sharding and writing take "
        f"{prices['triple'] * 1e6:.2f} core-microseconds a triple, a derivation {prices['derivation'] * 1e6:.2f}; "
        f"{prices['moved']:.1f} bytes are shuffled for each fact of the result. A round that does nothing costs about "
        f"{ROUND} s. What the model says about what was measured:"
    )
    yield table(("universities", "measured", "model"), _checked(sizes, prices))
    yield "And about clusters that were not, with the rules and the shape of the data as measured:"
    yield table(PREDICTED, _predicted(largest, prices))
    yield (
        f"Term ids have 31 bits, so at most {MOST_TERMS:,} terms; where a row says *too many terms*, ids have "
        "to become wider first, and the dictionary has to leave the driver's memory."
    )


def _prices(size: Result) -> dict[str, float]:
    run = size["pipeline"]
    stages = run["stages"]
    reading = sum(stages[name] for name in ("parse", "encode", "route", "sort", "commit"))
    reasoning = max(stages["materialise"] - ROUND * run["rounds"], 0)
    return {
        "triple": MEASURED_CORES * reading / run["explicit"],
        "derivation": MEASURED_CORES * reasoning / run["derivations"],
        "moved": run["moved"] / run["facts"],
    }


def _seconds(triples: float, derivations: float, rounds: int, cores: int, prices: dict[str, float]) -> float:
    return (triples * prices["triple"] + derivations * prices["derivation"]) / cores + ROUND * rounds


def _checked(sizes: Sequence[Result], prices: dict[str, float]) -> Iterator[tuple[str, ...]]:
    for size in sizes:
        run = size["pipeline"]
        measured = sum(run["stages"].values())
        model = _seconds(run["explicit"], run["derivations"], run["rounds"], MEASURED_CORES, prices)
        yield f"{size['universities']}", f"{measured:.1f} s", f"{model:.1f} s"


PREDICTED = (
    *(
        "triples",
        "facts",
        "executors",
        "reading, reasoning, writing",
        "of it network at least",
        "memory of an executor",
    ),
    "driver's dictionary",
)


def _predicted(size: Result, prices: dict[str, float]) -> Iterator[tuple[str, ...]]:
    run = size["pipeline"]
    swelling, deriving = run["facts"] / run["explicit"], run["derivations"] / run["explicit"]
    for billions, executors in CLUSTERS:
        triples = billions * BILLION
        facts, terms = triples * swelling, triples * run["terms"] / run["explicit"]
        seconds = _seconds(triples, triples * deriving, run["rounds"], executors * CORES, prices)
        network = facts * prices["moved"] / executors / CARD
        dictionary = f"{terms * BYTES_PER_TERM / 1e9:,.0f} GB" if terms <= MOST_TERMS else "too many terms"
        yield (
            f"{triples:,}", f"{facts:,.0f}", f"{executors} of {CORES} cores", _duration(seconds), _duration(network),
            f"{facts * BYTES_PER_FACT / executors / 1e9:,.0f} GB", dictionary,
        )  # fmt: skip


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
