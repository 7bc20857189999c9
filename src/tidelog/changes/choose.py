"""Which algorithm for a change, stratum by stratum, and why, in one line.

Nothing here costs more when there are more facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidelog import tuning
from tidelog.algebra.engine import Attempt
from tidelog.algorithms.budgeted import AGAIN
from tidelog.algorithms.counting import DerivationCounts
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import RuleChange
from tidelog.engines.spark.cluster.session import is_at_hand
from tidelog.errors import UsageError
from tidelog.model.addresses import scheme_of

ENGINES = ("auto", "local", "spark")
ASKED = "asked for"

# Past these parts of the explicit facts computing everything again is cheaper: than Backward/Forward, for facts from
# everywhere (`bench/maintenance` measures where the two meet), and than DRed, for facts that belong together
# (`bench/updates`).


@dataclass(frozen=True, slots=True)
class Choice:
    algorithm: str
    reason: str


def choose(
    asked: str, program: RuleChange, explicit: int, removed: int, algorithm_state: object = None, engine: str = "local"
) -> Choice:
    """The algorithm for a change that removes `removed` of `explicit` facts.

    In this process several algorithms may try the change (`budgeted`). On Spark each attempt would be several jobs.
    `algorithm_state` is what the previous change left. If it holds counts, the user asked for counting before, and
    counting goes on.
    """
    if asked != "auto":
        if asked not in ALGORITHMS:
            raise UsageError(f"unknown algorithm {asked!r}; choose one of: auto, {', '.join(ALGORITHMS)}")
        return Choice(asked, ASKED)
    if not program.before:
        return Choice("budgeted" if engine == "local" else "rematerialise", "nothing was derived before")
    told = f"{removed} of {explicit} explicit facts are removed"
    if removed > max(tuning.FEW_REMOVED, tuning.REMATERIALISE_RELATED_SHARE * explicit):
        return Choice("rematerialise", told)
    if engine != "local" and removed > max(tuning.FEW_REMOVED, tuning.REMATERIALISE_SHARE * explicit):
        return Choice("dred+rematerialise", f"{told}; dred as long as it overdeletes little")
    if isinstance(algorithm_state, DerivationCounts):
        if program.recursive:
            return Choice("counting+bf", "counts are kept; recursive strata by bf")
        return Choice("counting", "counts are kept, and no rule is recursive")
    is_small = not program.is_changed and removed <= tuning.FEW_REMOVED
    why = "a small change" if is_small else "rules change" if program.is_changed else told
    if engine == "local":
        return Choice("budgeted", why)
    if is_small:
        return Choice("bf", why)
    return Choice("dred+bf", f"{why}; strata by dred if it overdeletes little, else bf")


def made_by(choice: Choice, attempts: Sequence[Attempt]) -> Choice:
    """The choice after the change: the algorithm that took longest of those that were finished, and what was tried."""
    if choice.algorithm != "budgeted" or choice.reason == ASKED:
        return choice
    finished = [a for a in attempts if a.is_finished]
    again = [a for a in finished if a.algorithm == AGAIN]
    algorithm = max(again or finished, key=lambda a: a.seconds).algorithm if finished else "bf"
    if len(finished) == len(attempts):
        return Choice(algorithm, choice.reason)
    spent: dict[tuple[str, str], float] = {}
    for attempt in attempts:
        key = attempt.algorithm, "took" if attempt.is_finished else "was stopped after"
        spent[key] = spent.get(key, 0.0) + attempt.seconds
    tried = (f"{name} {ended} {seconds:.3f} s" for (name, ended), seconds in spent.items())
    return Choice(algorithm, f"{choice.reason}; {', '.join(tried)}")


# Bytes of memory that a byte of input takes in this process, with its consequences: `bench/spark` measures it.


@dataclass(frozen=True, slots=True)
class EngineChoice:
    engine: str
    reason: str


def choose_engine(asked: str, size: int, memory: int, master: str | None = None, remote: str = "") -> EngineChoice:
    """Where a change is made: here, which is faster as long as it fits into memory, or on Spark.

    Spark it is where the caller names a cluster, or the address of data that only Spark can read (`remote`).
    """
    if asked not in ENGINES:
        raise UsageError(f"unknown engine {asked!r}; choose one of: {', '.join(ENGINES)}")
    if asked != "auto":
        return EngineChoice(asked, ASKED)
    if master is not None:
        return EngineChoice("spark", f"on {master}")
    if remote:
        if not is_at_hand():
            raise UsageError(
                f"{remote}: only Spark reads {scheme_of(remote)}://, and no Spark session is active; "
                'name a cluster (--master URL, master="…"), or copy the file here and give its path'
            )
        return EngineChoice("spark", "only Spark reads such addresses")
    if size * tuning.MEMORY_PER_INPUT > memory:
        return EngineChoice("spark", f"{size:,} bytes of input are too many for {memory:,} bytes of memory")
    return EngineChoice("local", "it fits into memory")
