"""Makes the closures, runs both engines on them, each in a process of its own, and writes the page."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import tidelog
from bench import machine
from bench.measure import Limits, in_process
from bench.report import fill, machine_line, table
from bench.sparql.worker import ENGINES
from bench.workloads import NAMED, prepare
from tidelog.model.terms import TRIPLE

NAME = "sparql"
SIZES = {f"{NAME}-{size}": f"lubm-{size}" for size in (10, 100)}
QUICK = (f"{NAME}-10",)
PAGE = "sparql-benchmark"

Result = dict[str, Any]


def chosen(names: Sequence[str], quick: bool) -> list[str]:
    """Sizes by their own names, or those of a quick or full run when the whole group is meant."""
    if not names or NAME in names:
        return list(QUICK if quick else SIZES)
    return [name for name in SIZES if name in names]


def run(sizes: Sequence[str], data: Path, limits: Limits) -> Result:
    """Everything that was measured, ready for JSON."""
    versions = {"tidelog": tidelog.__version__, "pyoxigraph": version("pyoxigraph")}
    result: Result = {"machine": machine.describe(), "versions": versions, "sizes": {}}
    for name in sizes:
        closure = _closure(SIZES[name], data)
        found = {engine: _engine(engine, closure, limits) for engine in ENGINES}
        _check(name, found)
        result["sizes"][name] = found
    return result


def _closure(workload: str, data: Path) -> Path:
    """All that follows from the data, as N-Triples; made once."""
    case = prepare(NAMED[workload], data)
    path = Path(case.folder, "closure.nt")
    if not path.exists():
        _say(f"{workload}: closure")
        with tidelog.open() as kb:
            kb.load(case.data_path, case.program_path)
            kb.export(path, relations=[TRIPLE])
    return path


def _engine(engine: str, closure: Path, limits: Limits) -> Result:
    _say(f"{closure.parent.name}: {engine}")
    arguments = (engine, str(closure), str(limits.repeat_seconds))
    return in_process("bench.sparql.worker", *arguments, limits=limits, seconds=None, output=DEVNULL)


def _check(name: str, found: Result) -> None:
    """Both must have the same number of rows for each query."""
    rows = [{query: run["rows"] for query, run in each["queries"].items()} for each in found.values()]
    if any(each != rows[0] for each in rows):
        raise SystemExit(f"{name}: the engines disagree: {rows}")


def markdown(result: Result) -> str:
    parts = [machine_line(result)]
    for name, engines in result["sizes"].items():
        parts.append(f"### {name}")
        loaded = (f"{e} {run['load']:.1f} s and {run['peak_bytes'] / 1e9:.1f} GB" for e, run in engines.items())
        parts.append(f"The closure loaded, and the most memory: {', '.join(loaded)}. Milliseconds:")
        parts.append(table(COLUMNS, _rows(engines)))
        slower = [row[0] for row in _rows(engines) if float(row[-1]) < 1]
        parts.append(f"Slower than pyoxigraph with all values in Python: {', '.join(slower) or 'none'}.")
    return "\n\n".join(parts) + "\n"


COLUMNS = (
    *("query", "rows", "tidelog first", "pyoxigraph first", "tidelog warm", "pyoxigraph warm", "ratio"),
    *("tidelog values", "pyoxigraph values", "ratio of values"),
)


def _rows(engines: Result) -> Iterator[tuple[str, ...]]:
    own, peer = engines["tidelog"]["queries"], engines["pyoxigraph"]["queries"]
    for query, mine in own.items():
        theirs = peer[query]
        cells = [f"{run[part] * 1000:,.2f}" for part in ("first", "warm", "values") for run in (mine, theirs)]
        ratios = [f"{theirs[part] / mine[part]:.1f}" for part in ("warm", "values")]
        yield (query, f"{mine['rows']:,}", *cells[:4], ratios[0], *cells[4:], ratios[1])


def write(result: Result, folder: Path, name: str) -> None:
    """`name.json` and `name.md` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(markdown(result))


def publish(source: Path, docs: Path) -> None:
    """Rewrite the generated part of the page; put the data beside it."""
    fill(docs / f"{PAGE}.md", markdown(json.loads(source.read_text())))
    shutil.copyfile(source, docs / f"{PAGE}.json")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
