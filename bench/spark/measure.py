"""The pipeline at several sizes, each way in a process of its own; the page, with a model fitted to the results."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any

import tidelog
from bench import machine
from bench.measure import Limits, MeasurementError, in_process
from bench.report import fill, machine_line, table
from bench.spark.model import predictions
from bench.spark.worker import REMOVED
from bench.workloads import NAMED, Workload, prepare, university
from tidelog.changes.spark_backend import SESSION
from tidelog.tuning import MEMORY_PER_INPUT

NAME = "spark"
SIZES = {f"{NAME}-{size}": size for size in (10, 100, 500)}
QUICK = (f"{NAME}-10",)
FULL = (f"{NAME}-10", f"{NAME}-100")  # the largest is measured when it is asked for by name
PEER, WITHOUT_PEER = "frames", (500,)
MASTER = "local[2]"
PAGE = "spark"
WHERE = ("commit", "cpu")  # kept with what may stay on the page longer than the rest
UNKNOWN = "—"
EACH = 50  # rounds that one line of progress reports
STAGES = {
    SESSION: "start of Spark, with a first job",
    "parse": "parse",
    "encode": "encode (compress)",
    "route": "route",
    "sort": "sort (index)",
    "materialise": "materialise",
    "commit": "commit (copy)",
}

Result = dict[str, Any]


def chosen(names: Sequence[str], quick: bool) -> list[str]:
    """Sizes by their own names, or those of a quick or full run when the whole group is meant."""
    if not names or NAME in names:
        return [*(QUICK if quick else FULL), *(n for n in SIZES if n in names and n not in FULL)]
    return [name for name in SIZES if name in names]


def is_published(names: Sequence[str]) -> bool:
    """A full run is, and so is the largest size, which is measured on its own and added to the others."""
    return not set(names) - {NAME, *(n for n in SIZES if n not in FULL)}


def added(found: Result, earlier: Path) -> Result:
    """What was found, with what an earlier run has besides: other sizes, and the peer if it was left out now."""
    if not earlier.exists():
        return found
    before = json.loads(earlier.read_text())
    sizes: Result = {}
    for name, size in before["sizes"].items():
        where = {key: size.get(key, before["machine"][key]) for key in WHERE}
        sizes[name] = {**size, **where}
        if name in found["sizes"] and PEER in size:
            sizes[name] = {PEER: {**where, **size[PEER]}}
    for name, size in found["sizes"].items():
        sizes[name] = {**sizes.get(name, {}), **size}
    return {**found, "sizes": {name: sizes[name] for name in SIZES if name in sizes}}


def run(sizes: Sequence[str], data: Path, limits: Limits, peer: bool = True) -> Result:
    """Everything that was measured, ready for JSON."""
    versions = {"tidelog": tidelog.__version__, "pyspark": version("pyspark")}
    about = machine.describe()
    result: Result = {"machine": about, "versions": versions, "master": MASTER, "sizes": {}}
    for name in sizes:
        where = {key: about[key] for key in WHERE}
        result["sizes"][name] = {**where, **_measured(SIZES[name], data, limits, peer)}
    return result


def _measured(size: int, data: Path, limits: Limits, peer: bool) -> Result:
    workload = NAMED.get(f"lubm-{size}") or Workload(
        "lubm", str(size), size, f"{size} universities", (), university(size)
    )
    case = prepare(workload, data)
    found: Result = {"universities": size, "bytes": case.data_path.stat().st_size}
    ways = ["pipeline", "local", "changes"]
    ways += ["rounds"] if size == min(SIZES.values()) else []
    ways += [PEER] if peer and size not in WITHOUT_PEER else []
    with TemporaryDirectory(dir=data) as folder:
        for way in ways:
            print(f"{NAME}-{size}: {way}", file=sys.stderr, flush=True)
            arguments = (way, case.to_json(), folder, MASTER)
            try:
                found[way] = in_process("bench.spark.worker", *arguments, limits=limits, seconds=None, output=DEVNULL)
            except MeasurementError as failure:
                found[way] = {"failed": str(failure)}
    if "failed" in found["pipeline"]:
        raise SystemExit(f"{NAME}-{size}: {found['pipeline']['failed']}")
    if len({found[way]["digest"] for way in ("pipeline", "local") if "digest" in found[way]}) > 1:
        raise SystemExit(f"{NAME}-{size}: Spark and the local engine disagree")
    return found


def markdown(result: Result) -> str:
    sizes = [s for s in result["sizes"].values() if "failed" not in s["pipeline"]]
    parts = [
        " ".join([machine_line(result), *_earlier(result)]),
        f"### Files to a committed, materialised knowledge base on `{result['master']}`",
        table(PIPELINE, _pipeline(sizes)),
        "### Seconds per stage",
        table(("universities", *STAGES.values(), "other", "open and query, local"), _stages(sizes)),
        "### The closure",
        table(CLOSURE, _closures(sizes)),
        *_changes(sizes),
        *_rounds(sizes),
        "### Peak memory, in GB (without mapped files)",
        table(("universities", "driver", "JVM", "all Python workers", "local engine"), _memory(sizes)),
        *_threshold(sizes),
        *predictions(sizes),
    ]
    return "\n\n".join(parts) + "\n"


def _earlier(result: Result) -> Iterator[str]:
    """What was measured at another commit."""
    now = result["machine"]["commit"]
    for size in result["sizes"].values():
        if size.get("commit", now) != now:
            yield f"The numbers for {size['universities']} universities were measured at {_where(size)}."
        elif size.get(PEER, {}).get("commit", now) != now:
            yield f"The DataFrame loop with {size['universities']} universities ran at {_where(size[PEER])}."


def _where(measured: Result) -> str:
    return f"commit {measured['commit']} on {measured['cpu']}"


PIPELINE = (
    *("universities", "triples", "facts", "rounds", "Spark", "triples/s", "triples/s once Spark runs"),
    *("local", "Spark / local"),
)
CLOSURE = ("universities", "derivations", "local", "Spark", "Spark / local", "DataFrame loop", "loop / Spark")


def _pipeline(sizes: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    for size in sizes:
        spark, local = size["pipeline"], size["local"]
        triples, total, start = spark["explicit"], spark["total"], spark["stages"].get(SESSION)
        running = UNKNOWN if start is None else f"{triples / (total - start):,.0f}"
        yield (
            f"{size['universities']}", f"{triples:,}", f"{spark['facts']:,}", f"{spark['rounds']}",
            f"{total:.1f} s", f"{triples / total:,.0f}", running, *_against(total, local),
        )  # fmt: skip


def _against(seconds: float, local: Result) -> tuple[str, str]:
    if "failed" in local:
        return local["failed"], ""
    return f"{local['total']:.1f} s", f"{seconds / local['total']:.1f}"


def _stages(sizes: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    for size in sizes:
        spark = size["pipeline"]
        cells = (f"{spark['stages'][stage]:.1f}" if stage in spark["stages"] else UNKNOWN for stage in STAGES)
        rest = spark["total"] - sum(spark["stages"].values())
        yield (f"{size['universities']}", *cells, f"{rest:.1f}", f"{spark['opened']:.1f}")


def _closures(sizes: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    for size in sizes:
        spark, local = size["pipeline"], size["local"]
        seconds = spark["stages"]["materialise"]
        own = [f"{local['closure']:.1f} s", f"{seconds:.1f} s", f"{seconds / local['closure']:.1f}"]
        if "failed" in local:
            own = [local["failed"], f"{seconds:.1f} s", ""]
        yield (f"{size['universities']}", f"{spark['derivations']:,}", *own, *_peer(size.get(PEER), seconds, spark))


CHANGES = (
    *("universities", "triples removed", "facts lost", "removed by", "rounds", "Spark", "Spark, everything again"),
    *("added, Spark", "local", "local, everything again", "added, local"),
)


def _changes(sizes: Sequence[Result]) -> Iterator[str]:
    rows = [_changed(size["universities"], size["changes"]) for size in sizes if "spark" in size.get("changes", {})]
    if rows:
        yield f"### Changes: {REMOVED:.0%} of the triples removed, and added again, in seconds"
        yield table(CHANGES, iter(rows))


def _changed(universities: int, found: Result) -> tuple[str, ...]:
    less = found["spark"]["less"]
    times = (found[e][k]["seconds"] for e in ("spark", "local") for k in ("less", "again", "more"))
    return (
        f"{universities}", f"{found['removed']:,}", f"{less['facts']:,}", less["algorithm"], f"{less['rounds']}",
        *(f"{seconds:.1f}" for seconds in times),
    )  # fmt: skip


def _rounds(sizes: Sequence[Result]) -> Iterator[str]:
    """How long rounds take that have next to nothing to do, from the first to the last."""
    for found in (size["rounds"] for size in sizes if "seconds" in size.get("rounds", {})):
        seconds = found["seconds"]
        parts = [seconds[at : at + EACH] for at in range(0, len(seconds) - EACH // 2, EACH)]
        told = ", ".join(f"{median(part):.2f} s" for part in parts)
        yield (
            f"**Many rounds.** A chain of {len(seconds)} rounds, each with one new fact, with all sets in shards: "
            "a round "
            f"takes {told} (medians of {EACH} consecutive rounds)."
        )
        return


def _peer(peer: Result | None, seconds: float, spark: Result) -> tuple[str, str]:
    """The loop's time, or how far it came."""
    if peer is None:
        return "not run", ""
    if "failed" in peer:
        return peer["failed"], ""
    if peer["done"]:
        last = peer["rounds"][-1]
        assert last["facts"] == spark["facts"], "the DataFrame loop found other facts"
        return f"{last['seconds']:.0f} s", f"{last['seconds'] / seconds:.0f}"
    return f"stopped after {peer['limit']} s, in round {len(peer['rounds']) + 1}", f"over {peer['limit'] / seconds:.0f}"


def _memory(sizes: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    for size in sizes:
        memory = size["pipeline"]["memory"]
        local = size["local"].get("memory", {"driver": 0})["driver"]
        figures = (*(memory[kind] for kind in ("driver", "jvm", "workers")), local)
        yield (f"{size['universities']}", *(f"{b / 1e9:.1f}" for b in figures))


def _threshold(sizes: Sequence[Result]) -> Iterator[str]:
    """Why `auto` chooses as it does."""
    local = [s for s in sizes if "failed" not in s["local"]]
    if not local:
        return
    largest = max(local, key=lambda s: int(s["universities"]))
    swelling = largest["local"]["memory"]["driver"] / largest["bytes"]
    yield (
        f"**When `auto` chooses Spark.** On one machine the local engine is faster at every measured size, as long as "
        f"the data fit into memory: it needs at most {swelling:.2f} bytes per byte of input with "
        f"{largest['universities']} "
        "universities. So `auto` chooses Spark if the input is larger than "
        f"{1 / MEMORY_PER_INPUT:.1f} times the memory budget "
        "(`TIDELOG_MEMORY`), if a master is given, and for addresses that only Spark can read."
    )


def write(result: Result, folder: Path, name: str) -> None:
    """`name.json` and `name.md` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of the page; put the data beside it."""
    fill(docs / f"{PAGE}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{PAGE}.json")
