"""Proofs of random derived facts of LUBM: milliseconds for each. Each proof is checked. Then tables of all instances.

Facts are explained one by one with `kb.explain`. The check (`tests.reference.checking`) does not use the code of the
search. It tests that each step is an instance of a rule, each leaf is an explicit fact, and no fact proves itself.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import tidelog
from bench import machine
from bench.report import fill, machine_line, table, write_result
from bench.workloads import NAMED, prepare
from tests.reference.checking import check
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact

NAME = "explain"
PAGE = "explanations-benchmark"
Result = dict[str, Any]

# Universities and facts to prove, in a quick and in a full run.
SIZES = {True: (1, 1_000), False: (10, 10_000)}
PARTS = (50, 95, 99, 100)
PATTERNS = {"all persons": "[?x, rdf:type, ub:Person]", "all facts": "[?x, ?p, ?y]"}


def run(quick: bool, data: Path) -> Result:
    """Measure proofs and tables, and return the result for JSON."""
    universities, proofs = SIZES[quick]
    case = prepare(NAMED[f"lubm-{universities}"], data)
    with tidelog.open() as kb:
        kb.load(case.data_path, case.program_path)
        facts = sorted(kb._state.I - kb._state.E)
        _say(f"{len(facts):,} derived facts, {proofs:,} to be proved")
        return {
            "machine": machine.describe(),
            "versions": {"tidelog": tidelog.__version__},
            "universities": universities,
            "explicit": len(kb._state.E),
            "derived": len(facts),
            "proofs": _proofs(kb, Random(0).sample(facts, proofs)),
            "tables": {name: _table(kb, pattern) for name, pattern in PATTERNS.items()},
        }


def _proofs(kb: KnowledgeBase, facts: list[Fact]) -> Result:
    """Prove each fact. The first proof is not counted, because it also pays for sorting that the others reuse."""
    kb.explain(facts[0])
    elapsed, used, found = [], [], []
    for fact in facts:
        start, cpu = time.perf_counter(), time.process_time()
        found.append(kb.explain(fact))
        elapsed.append(time.perf_counter() - start)
        used.append(time.process_time() - cpu)
    _check(kb, facts, found)
    return {
        "count": len(facts),
        "milliseconds": _parts(elapsed),
        "cpu_milliseconds": _parts(used),
        "heights": dict(sorted(Counter(str(e.depth) for e in found).items())),
        "checked": len(found),
    }


def _parts(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {str(p): 1000 * ordered[min(len(ordered) - 1, len(ordered) * p // 100)] for p in PARTS}


def _check(kb: KnowledgeBase, facts: list[Fact], found: list[tidelog.Explanation]) -> None:
    """Raise an error if a proof is wrong. The rules have no negation, so the check needs only the leaves."""
    leaves = {leaf for explanation in found for leaf in explanation.proof.leaves()}
    explicit = set(kb._engine.fact_set(leaves) & kb._state.E)
    for fact, explanation in zip(facts, found, strict=True):
        problems = check(explanation.proof, kb.rules, explicit, ())
        if problems or explanation.proof.fact != fact:
            raise SystemExit(f"wrong proof of {fact}: {problems}")


def _table(kb: KnowledgeBase, pattern: str) -> Result:
    start = time.perf_counter()
    instances = kb.explain_all(pattern)
    found = time.perf_counter() - start
    rows = instances.to_arrow().num_rows
    return {"rows": rows, "joins": found, "seconds": time.perf_counter() - start}


def markdown(result: Result) -> str:
    proofs = result["proofs"]
    intro = (
        f"LUBM-{result['universities']}: {result['explicit']:,} explicit facts, {result['derived']:,} derived. "
        f"{proofs['count']:,} random derived facts, a proof of least height of each; "
        f"{proofs['checked']:,} proofs checked, none was wrong."
    )
    heights = ", ".join(f"{count:,} of height {height}" for height, count in proofs["heights"].items())
    parts = [
        machine_line(result),
        intro,
        table(("", "milliseconds", "of processor time"), _times(proofs)),
        f"Heights: {heights}.",
    ]
    parts.append("`explain_all`, one step down, as an Arrow table:")
    parts.append(table(("facts", "rows", "seconds to find", "seconds with texts"), _tables(result)))
    return "\n\n".join(parts) + "\n"


def _times(proofs: Result) -> Iterator[tuple[str, ...]]:
    for part, milliseconds in proofs["milliseconds"].items():
        cpu = proofs["cpu_milliseconds"][part]
        yield "slowest" if part == "100" else f"p{part}", f"{milliseconds:.2f}", f"{cpu:.2f}"


def _tables(result: Result) -> Iterator[tuple[str, ...]]:
    for name, found in result["tables"].items():
        yield name, f"{found['rows']:,}", f"{found['joins']:.2f}", f"{found['seconds']:.2f}"


def write(result: Result, folder: Path, name: str) -> None:
    write_result(result, folder, name, markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of the page, and copy the data next to it."""
    fill(docs / f"{PAGE}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{PAGE}.json")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
