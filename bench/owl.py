"""OWL 2 RL on tidelog and on other reasoners: the same data and ontology, from files to the closure.

owlrl runs the smallest size only. The closures differ, because reasoners add different triples besides those that the
rules require. The page lists every kind of triple whose number differs.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from bench.maintenance.tables import NO_RESULT, count
from bench.report import COLUMNS, Result, engine_rows, fill, machine_line, table, write_result
from bench.workloads import Workload, university

NAME = "owl"
OWN = ("tidelog-owl2rl", "tidelog-compiled")
PEERS = ("reasonable", "owlrl")
LIMIT = re.compile(r"more than (\d+) s")
WORKLOADS = (
    Workload(NAME, "1", 1, "1 university", (*OWN, *PEERS), university(1), (*OWN, PEERS[0])),
    Workload(NAME, "10", 10, "10 universities", (*OWN, PEERS[0]), university(10)),
)


def write(result: Result, folder: Path, name: str) -> None:
    write_result(result, folder, name, markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of `owl.md`, and copy the data next to it."""
    fill(docs / f"{NAME}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{NAME}.json")


def markdown(result: Result) -> str:
    parts = [machine_line(result), table(COLUMNS, engine_rows(result, OWN[0])), "\n".join(_ratios(result))]
    for name, workload in result["workloads"].items():
        ran = {engine: run["facts"] for engine, run in workload["engines"].items() if "facts" in run}
        parts += [
            f"### {name}: {workload['title']}",
            "Triples of the closure, by kind; kinds with the same number everywhere are left out:",
        ]
        parts.append(table(("kind", *ran), _kinds(ran)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _ratios(result: Result) -> Iterator[str]:
    for name, workload in result["workloads"].items():
        runs = workload["engines"]
        for own, peer in product(OWN, PEERS):
            if "total" in runs.get(own, {}) and peer in runs:
                yield f"- {name}: {own} is {_times(runs[peer], runs[own]['total'])} times as fast as {peer}."


def _times(peer: Result, own: float) -> str:
    """How many times longer the peer took. A peer that was stopped took at least the time limit."""
    if "total" in peer:
        return f"{peer['total'] / own:.1f}"
    limit = LIMIT.fullmatch(peer["skipped"])
    return f"more than {float(limit[1]) / own:.0f}" if limit else f"? ({peer['skipped']})"


def _kinds(ran: dict[str, dict[str, int]]) -> Iterator[tuple[str, ...]]:
    yield ("all", *(count(sum(facts.values())) for facts in ran.values()))
    for kind in sorted({kind for facts in ran.values() for kind in facts}):
        counts = [facts.get(kind, 0) for facts in ran.values()]
        if len(set(counts)) > 1:
            yield (kind, *(count(number) if number else NO_RESULT for number in counts))
