"""The report of a run of the updates, from its JSON; the only way numbers get into `docs/updates.md`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.maintenance import findings, tables
from bench.maintenance.contest import Result
from bench.maintenance.paper import OF_BF, OF_DRED
from bench.report import fill, machine_line, table
from bench.updates import paper
from bench.updates.measure import NAME

COUNTERS = {"bf": OF_BF, "dred": OF_DRED}
LABELS = ("update", "what", "triples", "facts changed")


def write(result: Result, folder: Path, name: str) -> None:
    """`name.json` and `name.md` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of `updates.md`; put the data beside it."""
    fill(docs / f"{NAME}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{NAME}.json")


def markdown(result: Result) -> str:
    parts = [
        f"{machine_line(result)} Time limit of one change: {result['limits']['seconds']:.0f} s.",
        f"The paper's times are on LUBM-{paper.UNIVERSITIES:,} ({paper.TRIPLES / 1e6:.0f} million triples, "
        f"materialised in {paper.MATERIALISATION}), with {paper.MACHINE}.",
    ]
    for name, size in result["sizes"].items():
        parts += [f"### {name}: {size['title']}", *_parts(size)]
    return "\n\n".join(parts) + "\n"


def _parts(size: Result) -> Iterator[str]:
    if "failed" in size:
        yield f"No result: {size['failed']}"
        return
    rows = [row for row in size["updates"] if "algorithms" in row]
    names = [n for n in rows[0]["algorithms"] if any("remove" in row["algorithms"][n] for row in rows)]
    yield findings.setting(size)
    yield "\n".join(_notes(size)) or "Every algorithm gave every result."
    yield "Removing: seconds"
    yield _seconds(rows, names, "remove", ("paper's DRed", "paper's counting"))
    yield "Adding: seconds"
    yield _seconds(rows, names, "add", ("paper",))
    yield "Removing: the counters"
    yield _counters(rows, names)


def _notes(size: Result) -> Iterator[str]:
    for name, seconds in size["counting"].items():
        yield f"- {name} first computed its counts, in {tables.clock(seconds)} s; its times below do not include this."
    for row in size["updates"]:
        if "failed" in row:
            yield f"- Update {row['update']} ({row['title']}): {row['failed']}."
    yield from dict.fromkeys(_refusals(size))


def _refusals(size: Result) -> Iterator[str]:
    """Why an algorithm gave no result: once, if it is the same for every update."""
    rows = [row for row in size["updates"] if "algorithms" in row]
    for name in rows[0]["algorithms"]:
        reasons = {row["algorithms"][name].get("skipped") for row in rows}
        for row in rows:
            reason = row["algorithms"][name].get("skipped")
            where = "" if len(reasons) == 1 else f" for update {row['update']} ({row['title']})"
            if reason:
                yield f"- {name} gave no result{where}: {reason}."


def _labels(row: Result) -> tuple[str, ...]:
    return row["update"], row["title"], tables.count(row["triples"]), tables.count(row["changed"])


def _seconds(rows: Sequence[Result], names: Sequence[str], direction: str, published: tuple[str, ...]) -> str:
    def cells(row: Result) -> Iterator[str]:
        yield from _labels(row)
        for name in names:
            run = row["algorithms"][name].get(direction)
            yield tables.clock(run["seconds"]) if run else tables.NO_RESULT
        yield from _published(row, direction)

    return table((*LABELS, *names, *published), (tuple(cells(row)) for row in rows))


def _published(row: Result, direction: str) -> tuple[str, ...]:
    """Of the two forms of update 4 the paper removed the first and added the second."""
    times = paper.TIMES[row["update"]]
    others = row["update"] == "4" and (row["triples"] == 1) == (direction == "add")
    numbers = (times.addition,) if direction == "add" else (times.dred, times.counting)
    return tuple(tables.NO_RESULT if others else f"{number:g}" for number in numbers)


def _counters(rows: Sequence[Result], names: Sequence[str]) -> str:
    def cells(row: Result) -> Iterator[str]:
        yield from _labels(row)[:2]
        for name in names:
            yield from _numbers(row["algorithms"][name].get("remove"), COUNTERS.get(name, ()))

    heads = (head for name in names for head in (f"{name}: derivations", *tables.heads(COUNTERS.get(name, ()))))
    return table((*LABELS[:2], *heads), (tuple(cells(row)) for row in rows))


def _numbers(run: Result | None, counters: Sequence[str]) -> Iterator[str]:
    if run is None:
        yield from [tables.NO_RESULT] * (1 + len(counters))
        return
    yield tables.short(run["derivations"])
    yield from (tables.short(run["counters"].get(name, 0)) for name in counters)
