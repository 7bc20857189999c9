"""A knowledge base of universities on disk, and what its owner does to it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import tidelog
from bench.case import Case
from bench.maintenance.contest import Result, Say
from bench.maintenance.group import Size
from bench.measure import Limits
from bench.workloads import NAMED, prepare
from tidelog.model.terms import Fact, Value, to_term
from tidelog.rules.printer import format_fact

NAME = "store"
COMMITS = 10_000
REPEATS = 3
UB = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
PROFESSOR = "http://www.Department0.University0.edu/FullProfessor0"
QUERY = f"[<{PROFESSOR}>, <{UB}worksFor>, ?where]"
FACT = f"[<{PROFESSOR}>, <{UB}researchInterest>, <http://example.org/tides>] ."


def measure(case: Case, folder: Path, commits: int, say: Say) -> Result:
    path = folder / "store.kb"
    shutil.rmtree(path, ignore_errors=True)
    try:
        return {
            "load": _load(case, path, say),
            "opening": _opening(path, say),
            "update": _command_line(path, say),
            **_commits(path, commits, say),
        }
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _load(case: Case, path: Path, say: Say) -> Result:
    say("  load")
    start = time.perf_counter()
    with tidelog.open(path) as kb:
        change = kb.load(case.data_path, case.program_path)
        seconds = time.perf_counter() - start
        explicit = len(kb.all_facts("explicit"))
        sizes = {name: _bytes(path / name) for name in ("runs", "dictionary", "cache", "catalog.sqlite")}
        return {
            "seconds": seconds,
            "reasoning": change.seconds,
            "explicit": explicit,
            "facts": len(kb.all_facts()),
            "bytes": sizes,
        }


def _bytes(path: Path) -> int:
    return sum(p.stat().st_size for p in path.iterdir()) if path.is_dir() else path.stat().st_size


def _opening(path: Path, say: Say) -> Result:
    """With the cache, and once without it; whole processes, so with Python's start and the imports."""
    say("  open")
    warm = min((_reader("once", path, QUERY) for _ in range(REPEATS)), key=lambda r: float(r["process"]))
    shutil.rmtree(path / "cache")
    return {"warm": warm, "without_cache": _reader("once", path, QUERY)}


def _reader(how: str, path: Path, *arguments: str) -> Result:
    start = time.perf_counter()
    command = [sys.executable, "-m", "bench.durable.reader", how, str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: Result = json.loads(done.stdout)
    return {**result, "process": time.perf_counter() - start}


def _command_line(path: Path, say: Say) -> float:
    """`tidelog update` of one fact, from start to end of its process."""
    say("  tidelog update")
    times = []
    for option in ("--add", "--remove") * REPEATS:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "tidelog.cli", "update", str(path), option, FACT], capture_output=True, check=True
        )
        times.append(time.perf_counter() - start)
    return min(times)


def _commits(path: Path, count: int, say: Say) -> Result:
    """One-fact commits while a reader reads; then compaction while it goes on."""
    say(f"  {count:,} commits")
    stop = path.with_suffix(".stop")
    stop.unlink(missing_ok=True)
    watcher = subprocess.Popen(
        [sys.executable, "-m", "bench.durable.reader", "watch", str(path), QUERY, str(stop)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        with tidelog.open(path) as kb:
            times = _timed(kb, count)
            folded = time.perf_counter()
            kb.compact(keep=0)
            compaction = time.perf_counter() - folded
    finally:
        stop.touch()
        output, _ = watcher.communicate(timeout=60)
        stop.unlink(missing_ok=True)
    read = json.loads(output)
    tenth = max(1, count // 10)
    together = times["all"]
    return {
        "commits": {
            "count": count,
            **{name: _percentiles(each) for name, each in times.items()},
            "first": _percentiles(together[:tenth]),
            "last": _percentiles(together[-tenth:]),
        },
        "reads": {"count": len(read["times"]), "versions": read["versions"], **_percentiles(read["times"])},
        "compaction": compaction,
    }


def _timed(kb: tidelog.KnowledgeBase, count: int) -> dict[str, list[float]]:
    """Every other commit removes a random explicit fact, and the next puts it back."""
    times: dict[str, list[float]] = {"add": [], "remove": [], "all": []}
    for option, fact in _changes(kb, count):
        start = time.perf_counter()
        kb.apply(add=fact if option == "add" else None, remove=fact if option == "remove" else None)
        seconds = time.perf_counter() - start
        times[option].append(seconds)
        times["all"].append(seconds)
    return times


def _changes(kb: tidelog.KnowledgeBase, count: int) -> Iterator[tuple[str, str]]:
    facts = kb.all_facts("explicit")
    chosen = set(Random("store").sample(range(len(facts)), -(-count // 2)))
    texts = [_text(row) for number, row in enumerate(facts) if number in chosen]
    for fact in texts:
        yield from (("remove", fact), ("add", fact))


def _text(row: tuple[Value, ...]) -> str:
    return format_fact(Fact(str(row[0]), tuple(map(to_term, row[1:]))))


def _percentiles(times: list[float]) -> Result:
    ordered = sorted(times)
    at = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    return {**{name: ordered[int(share * (len(ordered) - 1))] for name, share in at.items()}, "max": ordered[-1]}


def _universities(universities: int, commits: int) -> Callable[[Path, Limits, Say], Result]:
    def run(data: Path, limits: Limits, say: Say) -> Result:
        return measure(prepare(NAMED[f"lubm-{universities}"], data), data, commits, say)

    return run


SIZES = (
    Size(f"{NAME}-1", "1 university", _universities(1, 1_000), quick=True, full=False),
    Size(f"{NAME}-10", "10 universities", _universities(10, COMMITS)),
    Size(f"{NAME}-100", "100 universities", _universities(100, COMMITS)),
)
NAMES = {size.name: size for size in SIZES}
