"""The report of a maintenance run, from its JSON; the only way numbers get into `docs/maintenance.md`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.maintenance import findings, tables
from bench.maintenance.contest import Result
from bench.maintenance.plot import plot
from bench.report import fill, machine_line

PAGE = "maintenance"


def write(result: Result, folder: Path, name: str) -> None:
    """`name.json`, `name.md` and `name.png` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(markdown(result))
    plot(result, folder / f"{name}.png")


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of `maintenance.md`; put the data and the plot beside it."""
    result = json.loads(source.read_text())
    fill(docs / f"{PAGE}.md", f"{markdown(result)}\n![seconds by algorithm]({PAGE}.png)\n")
    shutil.copyfile(source, docs / f"{PAGE}.json")
    plot(result, docs / f"{PAGE}.png")


def markdown(result: Result) -> str:
    parts = [f"{machine_line(result)} Time limit of one change: {result['limits']['seconds']:.0f} s."]
    for name, size in result["sizes"].items():
        parts.append(f"### {name}: {size['title']}")
        parts += _parts(size)
    return "\n\n".join(part for part in parts if part) + "\n"


def _parts(size: Result) -> Iterator[str]:
    if "failed" in size:
        yield f"No result: {size['failed']}"
    elif "cliques" in size:
        yield from _of_cliques(size)
    else:
        yield from _of_removals(size)


def _of_removals(size: Result) -> Iterator[str]:
    yield findings.setting(size)
    yield "\n".join(findings.of_removals(size))
    yield "The columns of the paper's Table 2:"
    yield tables.as_in_the_paper(size["removals"])
    yield "Counters per removed fact: ours, the paper's on LUBM-1k-L, and ours divided by the paper's:"
    yield tables.beside_the_paper(size)
    yield "Removing: seconds, and their ratio to rematerialising:"
    yield tables.seconds(size["removals"], tables.REMOVED)
    yield "Removing: derivations:"
    yield tables.derivations(size["removals"], tables.REMOVED)
    yield "Adding the same facts again: seconds, and their ratio to removing them with the same algorithm:"
    yield tables.seconds_back(size["removals"], tables.REMOVED)
    yield "One fact removed, and added again, by `apply`: milliseconds:"
    yield tables.single(size["single"])
    if size["rules"]:
        yield "Removing a rule that derives under 1% of the facts: seconds, and their ratio to rematerialising:"
        yield tables.seconds(size["rules"], tables.RULES)


def _of_cliques(size: Result) -> Iterator[str]:
    yield "\n".join(findings.without_result(size["cliques"], tables.CLIQUES))
    yield "One edge removed: seconds, and their ratio to rematerialising:"
    yield tables.seconds(size["cliques"], tables.CLIQUES)
    yield "One edge removed: derivations:"
    yield tables.derivations(size["cliques"], tables.CLIQUES)
    yield "The edge added again: seconds, and their ratio to removing it with the same algorithm:"
    yield tables.seconds_back(size["cliques"], tables.CLIQUES)
