"""One measurement, a process: `python -m bench.spark.worker RESULT-FILE MEMORY-LIMIT WAY CASE FOLDER MASTER`.

pipeline   files to a committed knowledge base on Spark, then opened and asked by the local engine
local      the same in one process
changes    a part of the triples removed from what `pipeline` made, and added again, on Spark
rounds     a chain that takes two hundred rounds, with everything in shards
frames     the closure over DataFrames, round by round, until the time is up
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import tidelog
from bench.case import Case
from bench.durable.measure import QUERY
from bench.spark import frames
from tidelog.algebra.engine import Work
from tidelog.algebra.fixpoint import fixpoint
from tidelog.changes.spark_backend import SESSION
from tidelog.dictionary import Dictionary
from tidelog.engines.spark.cluster.cluster import SparkCluster
from tidelog.engines.spark.cluster.session import session
from tidelog.engines.spark.sharded.engine import SparkEngine
from tidelog.engines.spark.sharded.facts import SparkFacts
from tidelog.model.terms import Fact, iri
from tidelog.rules.parsing.parser import parse_rules

Result = dict[str, Any]

FRAMES_SECONDS = 600
REMOVED = 0.01  # of the triples
REMATERIALISE = "rematerialise"
SEED = 1
ROUNDS = 200
CHAIN = "reached(?y) :- reached(?x), next(?x, ?y) ."
_SAMPLE = 0.2


def pipeline(case: Case, folder: Path, master: str) -> Result:
    path = folder / "spark.kb"
    start = time.perf_counter()
    with Memory() as memory, session(master=master) as spark, tidelog.open(path) as kb:
        # A first job: half of what Spark has to load before it can work is loaded then.
        spark.range(2).mapInArrow(lambda batches: batches, "id long").repartition(2).collect()
        started = time.perf_counter() - start
        change = kb.load(case.data_path, case.program_path, engine="spark")
        total = time.perf_counter() - start
        assert kb._spark_backend is not None
        stages = {**kb._spark_backend.seconds, SESSION: started}
        moved = _shuffled_bytes()
    begin = time.perf_counter()
    with tidelog.open(path) as kb:
        kb.query(QUERY)
        opened = time.perf_counter() - begin
        facts, explicit, digest = len(kb.all_facts()), len(kb.all_facts("explicit")), kb.digest()
        terms = len(kb._engine.dictionary)
    return {
        "total": total,
        "stages": stages,
        "terms": terms,
        "opened": opened,
        "facts": facts,
        "explicit": explicit,
        "digest": digest,
        "rounds": change.work.rounds,
        "derivations": change.work.derivations,
        "moved": moved,
        "memory": memory.peaks,
    }


def changes(case: Case, folder: Path, master: str) -> Result:
    """By the algorithm that is chosen, and by computing everything again; the local engine does the same."""
    gone = folder / "gone.nt"
    random = Random(SEED)
    with case.data_path.open("rb") as lines, gone.open("wb") as sample:
        sample.writelines(line for line in lines if random.random() < REMOVED)
    found: Result = {"removed": sum(1 for _ in gone.open("rb"))}
    with tidelog.open(folder / "spark.kb") as kb:
        for engine in ("local", "spark"):
            ways: dict[str, Any] = {"engine": engine, "master": master if engine == "spark" else None}
            again = kb.preview(remove=gone, algorithm=REMATERIALISE, **ways)
            less = kb.apply(remove=gone, **ways)
            digest = kb.digest()
            more = kb.apply(add=gone, **ways)
            told = {name: _told(change) for name, change in (("again", again), ("less", less), ("more", more))}
            found[engine] = {**told, "digest": digest}
    if found["local"]["digest"] != found["spark"]["digest"]:
        raise SystemExit("Spark and the local engine disagree about a change")
    return found


def _told(change: tidelog.Change) -> Result:
    return {
        "seconds": change.seconds, "algorithm": change.algorithm, "reason": change.reason,
        "rounds": change.work.rounds, "facts": len(change.added) + len(change.removed),
    }  # fmt: skip


class Clocked(SparkEngine):
    """Knows when each round began."""

    def __init__(self, cluster: SparkCluster, scratch: Path) -> None:
        super().__init__(cluster, Dictionary(), scratch, small=0)
        self.starts: list[float] = []

    def derive_pivoted(self, *arguments: Any) -> SparkFacts:
        self.starts.append(time.perf_counter())
        return super().derive_pivoted(*arguments)


def rounds(case: Case, folder: Path, master: str) -> Result:
    """The seconds that each round took. Nothing is small enough for the driver here."""
    names = [iri(f"n{i}") for i in range(ROUNDS + 1)]
    facts = [Fact("reached", (names[0],)), *(Fact("next", pair) for pair in pairwise(names))]
    with (
        session(master=master) as spark,
        TemporaryDirectory(dir=folder) as scratch,
        closing(Clocked(SparkCluster(spark), Path(scratch))) as engine,
    ):
        fixpoint(engine, parse_rules(CHAIN), engine.fact_set(()), engine.fact_set(facts), Work())
        return {"seconds": [b - a for a, b in pairwise(engine.starts)], "jobs": engine.driver.jobs}


def _shuffled_bytes() -> int:
    """What Spark's own books say was sent between stages."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    context: Any = spark.sparkContext
    jvm, quantiles = context._jvm, context._gateway.new_array(context._jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(None, False, False, quantiles, jvm.java.util.ArrayList())
    return sum(int(stages.apply(i).shuffleWriteBytes()) for i in range(stages.size()))


def local(case: Case, folder: Path, master: str) -> Result:
    path = folder / "local.kb"
    start = time.perf_counter()
    with Memory() as memory, tidelog.open(path) as kb:
        change = kb.load(case.data_path, case.program_path, engine="local")
        total = time.perf_counter() - start
        facts, explicit, digest = len(kb.all_facts()), len(kb.all_facts("explicit")), kb.digest()
    with tidelog.open() as kb:
        kb.load(case.data_path)
        frames.write_triples(kb, case.program_path, folder)
        begin = time.perf_counter()
        kb.apply(add_rules=case.program_path)
        closure = time.perf_counter() - begin
    work = change.work
    return {
        "total": total, "closure": closure, "facts": facts, "explicit": explicit, "digest": digest,
        "rounds": work.rounds, "derivations": work.derivations, "memory": memory.peaks,
    }  # fmt: skip


def frames_loop(case: Case, folder: Path, master: str) -> Result:
    """Ten minutes at most; what is known when it is stopped is how many facts it had by then."""
    command = [sys.executable, "-m", "bench.spark.frames", str(folder), master]
    rounds: list[Result] = []
    done = False
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        timer = Thread(target=_stop_later, args=(process,), daemon=True)
        timer.start()
        for line in process.stdout:
            rounds.append(json.loads(line))
            done = not rounds[-1]["added"]
    return {"rounds": rounds, "done": done, "limit": FRAMES_SECONDS}


def _stop_later(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(FRAMES_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()


class Memory:
    """The most memory of this process, of the JVM and of all Python workers together, looked at now and then."""

    def __init__(self) -> None:
        self.peaks = {"driver": 0, "jvm": 0, "workers": 0}
        self._done = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_SAMPLE):
            found = {"driver": 0, "jvm": 0, "workers": 0}
            for pid, kind in _family(os.getpid()):
                found[kind] += _own_bytes(pid)
            self.peaks = {kind: max(found[kind], self.peaks[kind]) for kind in found}


def _family(root: int) -> list[tuple[int, str]]:
    """This process, the JVMs below it and the Python processes below those."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # gone meanwhile
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [(root, "driver")], [root]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            found.append((child, "jvm" if _is_java(child) else "workers"))
            waiting.append(child)
    return found


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "java"
    except OSError:
        return False


def _own_bytes(pid: int) -> int:
    """Resident memory without mapped files, which the system can take back."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon", "RssShmem")))


WAYS: dict[str, Callable[[Case, Path, str], Result]] = {
    "pipeline": pipeline,
    "local": local,
    "changes": changes,
    "rounds": rounds,
    "frames": frames_loop,
}


def main(result: str, _: str, way: str, case: str, folder: str, master: str) -> None:
    found = WAYS[way](Case.from_json(case), Path(folder), master)
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
