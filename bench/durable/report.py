"""The report of a run on disk, from its JSON; the only way numbers get into `docs/store.md`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.durable.measure import NAME
from bench.maintenance.contest import Result
from bench.report import fill, machine_line, table

PERCENTILES = ("p50", "p99", "p999", "max")


def write(result: Result, folder: Path, name: str) -> None:
    """`name.json` and `name.md` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of `store.md`; put the data beside it."""
    fill(docs / f"{NAME}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{NAME}.json")


def markdown(result: Result) -> str:
    parts = [machine_line(result)]
    for name, size in result["sizes"].items():
        parts += [f"### {name}: {size['title']}", *_parts(size)]
    return "\n\n".join(parts) + "\n"


def _parts(size: Result) -> Iterator[str]:
    if "failed" in size:
        yield f"No result: {size['failed']}"
        return
    yield "\n".join(_sentences(size))
    yield "Milliseconds of a commit (half remove a random explicit fact, half put it back) and of concurrent reads:"
    yield table(("what", "number", "p50", "p99", "p99.9", "max"), _rows(size))


def _sentences(size: Result) -> Iterator[str]:
    load, opening = size["load"], size["opening"]
    size_on_disk = {name: f"{count / 1e6:.0f} MB" for name, count in load["bytes"].items()}
    yield (
        f"- From the file to a committed knowledge base of {load['facts']:,} facts ({load['explicit']:,} explicit): "
        f"{load['seconds']:.1f} s; on disk: {', '.join(f'{name} {text}' for name, text in size_on_disk.items())}."
    )
    warm, cold = opening["warm"], opening["without_cache"]
    yield (
        f"- A new process that opens it and answers a point query: {warm['process']:.2f} s in total, with "
        f"{1000 * warm['open']:.0f} ms for opening and {1000 * warm['query']:.0f} ms for the query; the first "
        "time without the cache: "
        f"{cold['process']:.1f} s."
    )
    yield f"- `tidelog update` of one fact, the whole process: {size['update']:.2f} s."
    yield f"- Compaction afterwards: {size['compaction']:.1f} s, while the reader continues."


def _rows(size: Result) -> Iterator[tuple[str, ...]]:
    commits, reads = size["commits"], size["reads"]
    count = commits["count"]
    for label, key, number in (
        ("all commits", "all", count),
        ("removing a fact", "remove", count // 2),
        ("adding a fact", "add", count // 2),
        ("the first tenth", "first", count // 10),
        ("the last tenth", "last", count // 10),
    ):
        yield (label, f"{number:,}", *_milliseconds(commits[key]))
    yield (f"reads, of {reads['versions']:,} versions", f"{reads['count']:,}", *_milliseconds(reads))


def _milliseconds(times: Result) -> Iterator[str]:
    yield from (f"{1000 * times[name]:.1f}" for name in PERCENTILES)
